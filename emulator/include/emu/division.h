// Signed divisions, in programs that are compiled for the profiler. A GPU has no instruction for
// them: nvcc's debug code divides the absolute values and branches on the sign.
//
// The translator makes `a / ::emu::sign / b` of `a / b`, `a /= ::emu::sign = b` of `a /= b`, and
// the same with %: the operators below tell the profiler, and divide.
#pragma once

#include <type_traits>

namespace emu {

// The running thread comes to the branch of a division.
void divisionBranch(bool negative) noexcept;

// Ends the kernel that divides an integer by 0.
[[noreturn]] void failDivisionByZero() noexcept;

template <class T>
struct Dividend {
    T value;
};
template <class T>
struct Divisor {
    T value;
};
struct Sign {
    template <class T>
    constexpr Divisor<T> operator=(T divisor) const noexcept {  // NOLINT: no assignment
        return {divisor};
    }
};
inline constexpr Sign sign{};

// Of 32 bits, after the usual conversions. (nvcc calls a function for 64.)
template <class T, class U>
constexpr bool isSignedDivision() {
    if constexpr (std::is_integral_v<T> && std::is_integral_v<U>) {
        return std::is_same_v<decltype(T() / (U() | U(1))), int>;
    } else {
        return false;
    }
}

// The remainder has the dividend's sign. (All noexcept: where a call may throw, a basic block
// ends.)
template <class T, class U>
constexpr void tellOfDivision(T a, U b, bool remainder) noexcept {
#ifdef __aarch64__  // whose instruction gives 0, and no fault
    if constexpr (std::is_integral_v<T> && std::is_integral_v<U>) {
        if (b == 0 && !__builtin_is_constant_evaluated()) failDivisionByZero();
    }
#endif
    if constexpr (isSignedDivision<T, U>()) {
        if (!__builtin_is_constant_evaluated()) {
            divisionBranch((a < 0) != (!remainder && b < 0));
        }
    }
}

#define EMU_DIVISION(OPERATOR, REMAINDER)                                              \
    template <class T>                                                                 \
    constexpr Dividend<T> operator OPERATOR(T a, Sign) noexcept {                      \
        return {a};                                                                    \
    }                                                                                  \
    template <class T, class U>                                                        \
    constexpr decltype(auto) operator OPERATOR(Dividend<T> a, U b) noexcept {          \
        tellOfDivision(a.value, b, REMAINDER);                                         \
        return a.value OPERATOR b;                                                     \
    }                                                                                  \
    template <class T, class U>                                                        \
    constexpr decltype(auto) operator OPERATOR(T a, Divisor<U> b) noexcept {           \
        return a OPERATOR b.value;                                                     \
    }                                                                                  \
    template <class T, class U>                                                        \
    constexpr decltype(auto) operator OPERATOR##=(T& a, Divisor<U> b) noexcept {       \
        tellOfDivision(static_cast<std::remove_volatile_t<T>>(a), b.value, REMAINDER); \
        return a OPERATOR## = b.value;                                                 \
    }
EMU_DIVISION(/, false)
EMU_DIVISION(%, true)
#undef EMU_DIVISION

}  // namespace emu
