// Conversions between integers and floating point with an explicit rounding mode (_rn nearest even,
// _rz towards zero, _ru up, _rd down), and reinterpretations of bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "emu/casts.h"
#include "emu/rounding.h"

namespace emu {

template <class To, class From>
To bitCast(From from) {
    static_assert(sizeof(To) == sizeof(From), "only types of the same size share their bits");
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

}  // namespace emu

#define EMU_REAL_TO_INTEGER(NAME, REAL, INT)           \
    inline INT NAME##_rn(REAL x) {                     \
        return emu::truncated<INT>(std::nearbyint(x)); \
    }                                                  \
    inline INT NAME##_rz(REAL x) {                     \
        return emu::truncated<INT>(std::trunc(x));     \
    }                                                  \
    inline INT NAME##_ru(REAL x) {                     \
        return emu::truncated<INT>(std::ceil(x));      \
    }                                                  \
    inline INT NAME##_rd(REAL x) {                     \
        return emu::truncated<INT>(std::floor(x));     \
    }

EMU_REAL_TO_INTEGER(__float2int, float, int)
EMU_REAL_TO_INTEGER(__float2uint, float, unsigned)
EMU_REAL_TO_INTEGER(__float2ll, float, long long)
EMU_REAL_TO_INTEGER(__float2ull, float, unsigned long long)
EMU_REAL_TO_INTEGER(__double2int, double, int)
EMU_REAL_TO_INTEGER(__double2uint, double, unsigned)
EMU_REAL_TO_INTEGER(__double2ll, double, long long)
EMU_REAL_TO_INTEGER(__double2ull, double, unsigned long long)

#undef EMU_REAL_TO_INTEGER

#define EMU_TO_REAL(NAME, FROM, TO)                                                         \
    inline TO NAME##_rn(FROM x) {                                                           \
        return static_cast<TO>(x);                                                          \
    }                                                                                       \
    inline TO NAME##_rz(FROM x) {                                                           \
        return emu::roundedBy(FE_TOWARDZERO, [](FROM a) { return static_cast<TO>(a); }, x); \
    }                                                                                       \
    inline TO NAME##_ru(FROM x) {                                                           \
        return emu::roundedBy(FE_UPWARD, [](FROM a) { return static_cast<TO>(a); }, x);     \
    }                                                                                       \
    inline TO NAME##_rd(FROM x) {                                                           \
        return emu::roundedBy(FE_DOWNWARD, [](FROM a) { return static_cast<TO>(a); }, x);   \
    }

EMU_TO_REAL(__int2float, int, float)
EMU_TO_REAL(__uint2float, unsigned, float)
EMU_TO_REAL(__ll2float, long long, float)
EMU_TO_REAL(__ull2float, unsigned long long, float)
EMU_TO_REAL(__ll2double, long long, double)
EMU_TO_REAL(__ull2double, unsigned long long, double)
EMU_TO_REAL(__double2float, double, float)

#undef EMU_TO_REAL

inline double __int2double_rn(int x) {
    return x;
}
inline double __uint2double_rn(unsigned x) {
    return x;
}

inline int __float_as_int(float x) {
    return emu::bitCast<int>(x);
}
inline unsigned __float_as_uint(float x) {
    return emu::bitCast<unsigned>(x);
}
inline float __int_as_float(int x) {
    return emu::bitCast<float>(x);
}
inline float __uint_as_float(unsigned x) {
    return emu::bitCast<float>(x);
}
inline long long __double_as_longlong(double x) {
    return emu::bitCast<long long>(x);
}
inline double __longlong_as_double(long long x) {
    return emu::bitCast<double>(x);
}

inline int __double2hiint(double x) {
    return static_cast<int>(emu::bitCast<std::uint64_t>(x) >> 32);
}
inline int __double2loint(double x) {
    return static_cast<int>(emu::bitCast<std::uint64_t>(x) & 0xffffffffu);
}
inline double __hiloint2double(int high, int low) {
    return emu::bitCast<double>(static_cast<std::uint64_t>(static_cast<unsigned>(high)) << 32 |
                                static_cast<unsigned>(low));
}
