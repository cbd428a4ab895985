// Arithmetic with an explicit rounding mode: _rn nearest even, _rz towards zero, _ru up, _rd down.
// The compiler never fuses these into a multiply-add, which is what they are mostly used for.
#pragma once

#include <cmath>

#include "emu/rounding.h"

#define EMU_ROUNDED_1(NAME, T, EXPRESSION)                                            \
    inline T NAME##_rn(T a) {                                                         \
        return emu::opaque(EXPRESSION);                                               \
    }                                                                                 \
    inline T NAME##_rz(T x) {                                                         \
        return emu::roundedBy(FE_TOWARDZERO, [](T a) -> T { return EXPRESSION; }, x); \
    }                                                                                 \
    inline T NAME##_ru(T x) {                                                         \
        return emu::roundedBy(FE_UPWARD, [](T a) -> T { return EXPRESSION; }, x);     \
    }                                                                                 \
    inline T NAME##_rd(T x) {                                                         \
        return emu::roundedBy(FE_DOWNWARD, [](T a) -> T { return EXPRESSION; }, x);   \
    }

#define EMU_ROUNDED_2(NAME, T, EXPRESSION)                                                    \
    inline T NAME##_rn(T x, T y) {                                                            \
        const T a = emu::opaque(x), b = emu::opaque(y);                                       \
        return emu::opaque(EXPRESSION);                                                       \
    }                                                                                         \
    inline T NAME##_rz(T x, T y) {                                                            \
        return emu::roundedBy(FE_TOWARDZERO, [](T a, T b) -> T { return EXPRESSION; }, x, y); \
    }                                                                                         \
    inline T NAME##_ru(T x, T y) {                                                            \
        return emu::roundedBy(FE_UPWARD, [](T a, T b) -> T { return EXPRESSION; }, x, y);     \
    }                                                                                         \
    inline T NAME##_rd(T x, T y) {                                                            \
        return emu::roundedBy(FE_DOWNWARD, [](T a, T b) -> T { return EXPRESSION; }, x, y);   \
    }

#define EMU_ROUNDED_FMA(NAME, T)                                                           \
    inline T NAME##_rn(T x, T y, T z) {                                                    \
        return std::fma(x, y, z);                                                          \
    }                                                                                      \
    inline T NAME##_rz(T x, T y, T z) {                                                    \
        return emu::roundedBy(                                                             \
            FE_TOWARDZERO, [](T a, T b, T c) -> T { return std::fma(a, b, c); }, x, y, z); \
    }                                                                                      \
    inline T NAME##_ru(T x, T y, T z) {                                                    \
        return emu::roundedBy(                                                             \
            FE_UPWARD, [](T a, T b, T c) -> T { return std::fma(a, b, c); }, x, y, z);     \
    }                                                                                      \
    inline T NAME##_rd(T x, T y, T z) {                                                    \
        return emu::roundedBy(                                                             \
            FE_DOWNWARD, [](T a, T b, T c) -> T { return std::fma(a, b, c); }, x, y, z);   \
    }

EMU_ROUNDED_2(__fadd, float, a + b)
EMU_ROUNDED_2(__fsub, float, a - b)
EMU_ROUNDED_2(__fmul, float, a* b)
EMU_ROUNDED_2(__fdiv, float, a / b)
EMU_ROUNDED_1(__frcp, float, 1 / a)
EMU_ROUNDED_1(__fsqrt, float, std::sqrt(a))
EMU_ROUNDED_FMA(__fmaf, float)

EMU_ROUNDED_2(__dadd, double, a + b)
EMU_ROUNDED_2(__dsub, double, a - b)
EMU_ROUNDED_2(__dmul, double, a* b)
EMU_ROUNDED_2(__ddiv, double, a / b)
EMU_ROUNDED_1(__drcp, double, 1 / a)
EMU_ROUNDED_1(__dsqrt, double, std::sqrt(a))
EMU_ROUNDED_FMA(__fma, double)

#undef EMU_ROUNDED_1
#undef EMU_ROUNDED_2
#undef EMU_ROUNDED_FMA

// The detour through double rounds twice, yet to the right float for every argument.
inline float __frsqrt_rn(float x) {
    return static_cast<float>(1 / std::sqrt(static_cast<double>(x)));
}
