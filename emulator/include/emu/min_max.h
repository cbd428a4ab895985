// min() and max() in the global namespace: exactly CUDA's overloads, so that a call which nvcc
// finds ambiguous is ambiguous here as well. A mix of signed and unsigned is compared as unsigned.
#pragma once

#include <cmath>

namespace emu {

// As the GPU's instructions: a NaN yields to a number, and -0 is less than +0.
template <class Real>
Real minReal(Real a, Real b) {
    if (a == b) return std::signbit(a) ? a : b;
    return a < b || std::isnan(b) ? a : b;
}
template <class Real>
Real maxReal(Real a, Real b) {
    if (a == b) return std::signbit(a) ? b : a;
    return a > b || std::isnan(b) ? a : b;
}

}  // namespace emu

#define EMU_MIN_MAX_INTEGER(RESULT, A, B)                                                \
    inline RESULT min(A a, B b) {                                                        \
        return static_cast<RESULT>(a) < static_cast<RESULT>(b) ? static_cast<RESULT>(a)  \
                                                               : static_cast<RESULT>(b); \
    }                                                                                    \
    inline RESULT max(A a, B b) {                                                        \
        return static_cast<RESULT>(a) > static_cast<RESULT>(b) ? static_cast<RESULT>(a)  \
                                                               : static_cast<RESULT>(b); \
    }
#define EMU_MIN_MAX_REAL(RESULT, A, B)     \
    inline RESULT min(A a, B b) {          \
        return emu::minReal<RESULT>(a, b); \
    }                                      \
    inline RESULT max(A a, B b) {          \
        return emu::maxReal<RESULT>(a, b); \
    }

EMU_MIN_MAX_INTEGER(int, int, int)
EMU_MIN_MAX_INTEGER(unsigned, unsigned, unsigned)
EMU_MIN_MAX_INTEGER(unsigned, int, unsigned)
EMU_MIN_MAX_INTEGER(unsigned, unsigned, int)
EMU_MIN_MAX_INTEGER(long, long, long)
EMU_MIN_MAX_INTEGER(unsigned long, unsigned long, unsigned long)
EMU_MIN_MAX_INTEGER(unsigned long, long, unsigned long)
EMU_MIN_MAX_INTEGER(unsigned long, unsigned long, long)
EMU_MIN_MAX_INTEGER(long long, long long, long long)
EMU_MIN_MAX_INTEGER(unsigned long long, unsigned long long, unsigned long long)
EMU_MIN_MAX_INTEGER(unsigned long long, long long, unsigned long long)
EMU_MIN_MAX_INTEGER(unsigned long long, unsigned long long, long long)
EMU_MIN_MAX_REAL(float, float, float)
EMU_MIN_MAX_REAL(double, double, double)
EMU_MIN_MAX_REAL(double, float, double)
EMU_MIN_MAX_REAL(double, double, float)

#undef EMU_MIN_MAX_INTEGER
#undef EMU_MIN_MAX_REAL

inline unsigned umin(unsigned a, unsigned b) {
    return min(a, b);
}
inline unsigned umax(unsigned a, unsigned b) {
    return max(a, b);
}
inline long long llmin(long long a, long long b) {
    return min(a, b);
}
inline long long llmax(long long a, long long b) {
    return max(a, b);
}
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) {
    return min(a, b);
}
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) {
    return max(a, b);
}
