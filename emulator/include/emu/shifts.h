// Shifts as a GPU does them (PTX ISA, "shl", "shr"): the amount is a 32-bit unsigned number, and
// amounts over the width are as good as the width, where C++ leaves it open what happens.
//
// The translator makes `a << ::emu::shift << n` of `a << n` in device code, `a <<= ::emu::shift =
// n` of `a <<= n`, and the same with >>: the operators below have the precedence of those replaced.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "emu/kernel_frame.h"

namespace emu {

template <class T>
struct ShiftOperand {
    T value;
};
template <class T>
struct ShiftObject {
    T&& object;
};
template <class N>
struct ShiftAmount {
    N value;
    constexpr operator N() const noexcept { return value; }  // NOLINT: for classes' own operators
};
struct Shift {
    template <class N>
    EMU_NOT_RECORDED constexpr ShiftAmount<N> operator=(N n) const noexcept {  // NOLINT
        return {n};
    }
};
inline constexpr Shift shift{};

// (<type_traits> need not know integers of 16 bytes.)
template <class T>
struct MadeUnsigned : std::make_unsigned<T> {};
template <>
struct MadeUnsigned<__int128> {
    using type = unsigned __int128;
};
template <>
struct MadeUnsigned<unsigned __int128> {
    using type = unsigned __int128;
};

// T is a type that integers are promoted to.
template <class T>
EMU_NOT_RECORDED constexpr T shiftedLeft(T value, std::uint32_t amount) noexcept {
    constexpr std::uint32_t bits = 8 * sizeof(T);
    using Unsigned = typename MadeUnsigned<T>::type;
    return amount < bits ? static_cast<T>(static_cast<Unsigned>(value) << amount) : T{0};
}
template <class T>
EMU_NOT_RECORDED constexpr T shiftedRight(T value, std::uint32_t amount) noexcept {
    constexpr std::uint32_t bits = 8 * sizeof(T);
    if (static_cast<T>(-1) < T{0}) return value >> (amount < bits ? amount : bits - 1);
    return amount < bits ? value >> amount : T{0};
}

template <class N>
EMU_NOT_RECORDED constexpr std::uint32_t shiftAmount(N n) noexcept {
    static_assert(!std::is_floating_point<N>::value, "the amount of a shift is an integer");
    return static_cast<std::uint32_t>(n);
}

template <class T>
using IfObject = std::enable_if_t<std::is_class<std::remove_reference_t<T>>::value, int>;
template <class T>
using IfNoObject = std::enable_if_t<!std::is_class<std::remove_reference_t<T>>::value, int>;

// What an assignment gives. (A reference to volatile that nobody reads is a warning.)
template <class T>
using Assigned = std::conditional_t<std::is_volatile<T>::value, void, T&>;

// Operators of an object's own class come first; then it stands for an integer. (The others are
// noexcept: where a call may throw, a basic block ends.)
#define EMU_SHIFT(OPERATOR, FUNCTION, OWN)                                                   \
    template <class T, class N>                                                              \
    auto OWN(int, T&& a,                                                                     \
             N&& n) -> decltype(operator OPERATOR(std::forward<T>(a), std::forward<N>(n))) { \
        return operator OPERATOR(std::forward<T>(a), std::forward<N>(n));                    \
    }                                                                                        \
    template <class T, class N>                                                              \
    auto OWN(int, T&& a,                                                                     \
             N&& n) -> decltype(std::forward<T>(a).operator OPERATOR(std::forward<N>(n))) {  \
        return std::forward<T>(a).operator OPERATOR(std::forward<N>(n));                     \
    }                                                                                        \
    template <class T, class N>                                                              \
    constexpr auto OWN(long, T&& a, N&& n) -> decltype(+std::forward<T>(a)) {                \
        return FUNCTION(+std::forward<T>(a), shiftAmount(n));                                \
    }                                                                                        \
    template <class T, IfNoObject<T> = 0>                                                    \
    EMU_NOT_RECORDED constexpr auto operator OPERATOR(                                       \
        T a, Shift) noexcept -> ShiftOperand<decltype(+a)> {                                 \
        return {+a};                                                                         \
    }                                                                                        \
    template <class T, class N>                                                              \
    EMU_NOT_RECORDED constexpr T operator OPERATOR(ShiftOperand<T> a, N n) noexcept {        \
        return FUNCTION(a.value, shiftAmount(n));                                            \
    }                                                                                        \
    template <class T, IfObject<T> = 0>                                                      \
    EMU_NOT_RECORDED constexpr ShiftObject<T> operator OPERATOR(T && a, Shift) noexcept {    \
        return {std::forward<T>(a)};                                                         \
    }                                                                                        \
    template <class T, class N>                                                              \
    constexpr decltype(auto) operator OPERATOR(ShiftObject<T> a, N&& n) {                    \
        return OWN(0, std::forward<T>(a.object), std::forward<N>(n));                        \
    }                                                                                        \
    template <class T, class N, IfNoObject<T> = 0>                                           \
    constexpr auto operator OPERATOR(T a, ShiftAmount<N> n) noexcept -> decltype(+a) {       \
        return FUNCTION(+a, shiftAmount(n.value));                                           \
    }                                                                                        \
    template <class T, class N, IfNoObject<T> = 0>                                           \
    constexpr Assigned<T> operator OPERATOR##=(T & a, ShiftAmount<N> n) noexcept {           \
        a = static_cast<T>(FUNCTION(+a, shiftAmount(n.value)));                              \
        return Assigned<T>(a);                                                               \
    }
EMU_SHIFT(<<, shiftedLeft, ownShiftLeft)
EMU_SHIFT(>>, shiftedRight, ownShiftRight)
#undef EMU_SHIFT

}  // namespace emu
