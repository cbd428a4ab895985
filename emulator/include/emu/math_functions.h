// Mathematical functions that CUDA adds to those of the standard library. Functions of float
// compute in float.
#pragma once

#include <cmath>
#include <cstdlib>

// These two make the overloads of <cmath> and <cstdlib> visible without std::, as nvcc does:
// sqrt(float) is then a float, abs(double) is not cut to an int.
#include <math.h>
#include <stdlib.h>

// Newer versions of glibc declare some of CUDA's functions themselves.
#if defined(__GLIBC__)
#define EMU_GLIBC_BEFORE(MAJOR, MINOR) (!__GLIBC_PREREQ(MAJOR, MINOR))
#else
#define EMU_GLIBC_BEFORE(MAJOR, MINOR) 1
#endif

namespace emu {

template <class Real>
constexpr Real kPi = static_cast<Real>(3.14159265358979323846264338327950288L);

// sin(pi x). The reduction to [-1/2, 1/2] is exact, thus so are the zeros and the extrema. A zero
// has the sign of x.
template <class Real>
Real sinPi(Real x) {
    Real r = std::remainder(x, Real(2));
    if (std::fabs(r) > Real(0.5)) r = std::copysign(1 - std::fabs(r), r);
    return r == 0 ? std::copysign(r, x) : std::sin(kPi<Real> * r);
}

// cos(pi x), by the sine where the cosine is near its zeros.
template <class Real>
Real cosPi(Real x) {
    const Real r = std::fabs(std::remainder(x, Real(2)));
    if (r <= Real(0.25)) return std::cos(kPi<Real> * r);
    if (r < Real(0.75)) return std::sin(kPi<Real> * (Real(0.5) - r));
    return -std::cos(kPi<Real> * (1 - r));
}

// Euclidean norm, without overflow or underflow of the squares.
template <class Real>
Real norm(int dim, const Real* p) {
    Real result = 0;
    for (int i = 0; i < dim; ++i) result = std::hypot(result, p[i]);
    return result;
}

// Distribution function of the standard normal distribution.
template <class Real>
Real normCdf(Real x) {
    return std::erfc(-x * static_cast<Real>(0.70710678118654752440084436210484904L)) / 2;
}

}  // namespace emu

#if EMU_GLIBC_BEFORE(2, 42)
inline double rsqrt(double x) {
    return 1 / std::sqrt(x);
}
inline float rsqrtf(float x) {
    return 1 / std::sqrt(x);
}
#endif
inline float rsqrt(float x) {
    return rsqrtf(x);
}

inline double rcbrt(double x) {
    return 1 / std::cbrt(x);
}
inline float rcbrtf(float x) {
    return 1 / std::cbrt(x);
}
inline float rcbrt(float x) {
    return rcbrtf(x);
}

#if EMU_GLIBC_BEFORE(2, 41)
inline double sinpi(double x) {
    return emu::sinPi(x);
}
inline float sinpif(float x) {
    return emu::sinPi(x);
}
inline double cospi(double x) {
    return emu::cosPi(x);
}
inline float cospif(float x) {
    return emu::cosPi(x);
}
#endif
inline float sinpi(float x) {
    return sinpif(x);
}
inline float cospi(float x) {
    return cospif(x);
}

#undef EMU_GLIBC_BEFORE

inline void sincospi(double x, double* sine, double* cosine) {
    *sine = sinpi(x);
    *cosine = cospi(x);
}
inline void sincospif(float x, float* sine, float* cosine) {
    *sine = sinpif(x);
    *cosine = cospif(x);
}
inline void sincospi(float x, float* sine, float* cosine) {
    sincospif(x, sine, cosine);
}

// The C library has these for double, and for float under names that end in f.
inline void sincos(float x, float* sine, float* cosine) {
    sincosf(x, sine, cosine);
}
inline float exp10(float x) {
    return exp10f(x);
}

inline double norm(int dim, const double* p) {
    return emu::norm(dim, p);
}
inline float normf(int dim, const float* p) {
    return emu::norm(dim, p);
}
inline double norm3d(double a, double b, double c) {
    return std::hypot(a, b, c);
}
inline float norm3df(float a, float b, float c) {
    return std::hypot(a, b, c);
}
inline double norm4d(double a, double b, double c, double d) {
    return std::hypot(std::hypot(a, b), std::hypot(c, d));
}
inline float norm4df(float a, float b, float c, float d) {
    return std::hypot(std::hypot(a, b), std::hypot(c, d));
}

inline double rhypot(double x, double y) {
    return 1 / std::hypot(x, y);
}
inline float rhypotf(float x, float y) {
    return 1 / std::hypot(x, y);
}
inline double rnorm(int dim, const double* p) {
    return 1 / norm(dim, p);
}
inline float rnormf(int dim, const float* p) {
    return 1 / normf(dim, p);
}
inline double rnorm3d(double a, double b, double c) {
    return 1 / norm3d(a, b, c);
}
inline float rnorm3df(float a, float b, float c) {
    return 1 / norm3df(a, b, c);
}
inline double rnorm4d(double a, double b, double c, double d) {
    return 1 / norm4d(a, b, c, d);
}
inline float rnorm4df(float a, float b, float c, float d) {
    return 1 / norm4df(a, b, c, d);
}

inline double normcdf(double x) {
    return emu::normCdf(x);
}
inline float normcdff(float x) {
    return emu::normCdf(x);
}
inline float normcdf(float x) {
    return normcdff(x);
}

inline double fdivide(double x, double y) {
    return x / y;
}
inline float fdividef(float x, float y) {
    return x / y;
}
