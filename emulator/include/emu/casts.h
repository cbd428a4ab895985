// Casts of floating-point numbers to integers as a GPU does them. The translator makes
// `::emu::cast<int>(x)` of `(int)x`, `int(x)` and `static_cast<int>(x)` in device code.
#pragma once

#include <limits>
#include <type_traits>

#include "emu/kernel_frame.h"

namespace emu {

// Towards zero; what is out of range becomes the nearest value of Int; a NaN becomes 0 where both
// types have 32 bits, else the value with only the top bit set (PTX ISA, "cvt").
template <class Int, class Real>
EMU_NOT_RECORDED constexpr Int truncated(Real x) noexcept {
    using Limits = std::numeric_limits<Int>;
    constexpr Real end = 2 * static_cast<Real>(Int{1} << (Limits::digits - 1));  // max + 1, exactly
    if (x >= end) return Limits::max();
    if (x > static_cast<Real>(Limits::min()) - 1) return static_cast<Int>(x);
    if (x == x) return Limits::min();
    constexpr bool narrow = sizeof(Int) == 4 && sizeof(Real) == 4;
    return narrow ? Int{0} : static_cast<Int>(1ull << (8 * sizeof(Int) - 1));
}

// Narrow integers are cut off from one of 32 bits, as nvcc does it. Other casts are C++'s.
template <class To, class From>
EMU_NOT_RECORDED constexpr To cast(From x) noexcept {
    if constexpr (!std::is_floating_point<From>::value || !std::is_integral<To>::value ||
                  std::is_same<std::remove_cv_t<To>, bool>::value) {
        return (To)x;
    } else if constexpr (sizeof(To) < 4) {
        using Wide = std::conditional_t<std::is_signed<To>::value, int, unsigned>;
        return static_cast<To>(truncated<Wide>(x));
    } else {
        return truncated<To>(x);
    }
}

}  // namespace emu
