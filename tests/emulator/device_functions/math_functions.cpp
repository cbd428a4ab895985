// Mathematical functions beyond the standard library, and the fast intrinsics.
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <limits>

#include "emu/fast_math.h"
#include "emu/math_functions.h"

namespace {

constexpr float kInfF = std::numeric_limits<float>::infinity();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Relative difference in units of the type's precision.
template <class Real>
double ulps(Real actual, long double expected) {
    const long double scale = std::fabs(expected) * std::numeric_limits<Real>::epsilon();
    return static_cast<double>(std::fabs(actual - expected) / scale);
}

TEST(MathFunctions, ReciprocalRoots) {
    EXPECT_EQ(rsqrt(4.0), 0.5);
    EXPECT_EQ(rsqrt(4.0f), 0.5f);
    EXPECT_EQ(rsqrtf(0.0f), kInfF);
    EXPECT_EQ(rsqrtf(kInfF), 0.0f);
    EXPECT_TRUE(std::isnan(rsqrtf(-1.0f)));
    EXPECT_DOUBLE_EQ(rcbrt(27.0), 1.0 / 3);
    EXPECT_FLOAT_EQ(rcbrtf(-8.0f), -0.5f);
    for (float x = 1e-30f; x < 1e30f; x *= 7.3f) {
        EXPECT_LE(ulps(rsqrtf(x), 1 / std::sqrt(static_cast<long double>(x))), 2.0) << x;
        EXPECT_LE(ulps(rcbrt(static_cast<double>(x)), 1 / std::cbrt(static_cast<long double>(x))),
                  2.0)
            << x;
    }
}

template <class Real>
void checkSinCosPi() {
    // Exact at all multiples of 1/2, however large.
    const Real sines[] = {0, 1, 0, -1}, cosines[] = {1, 0, -1, 0};
    for (int halves = -9; halves <= 9; ++halves) {
        const Real x = halves / Real(2);
        EXPECT_EQ(sinpi(x), sines[halves & 3]) << x;
        EXPECT_EQ(cospi(x), cosines[halves & 3]) << x;
    }
    EXPECT_FALSE(std::signbit(sinpi(Real(3))));
    EXPECT_TRUE(std::signbit(sinpi(Real(-2))));
    const Real huge = std::numeric_limits<Real>::max();
    EXPECT_EQ(sinpi(huge), 0);
    EXPECT_EQ(cospi(huge), 1);
    EXPECT_TRUE(std::isnan(sinpi(std::numeric_limits<Real>::infinity())));

    const long double pi = 3.14159265358979323846264338327950288L;
    for (int i = -63; i < 64; ++i) {
        if (i % 16 == 0) continue;  // checked above; the reference is inexact there
        const Real x = i / Real(32);
        Real sine = 0, cosine = 0;
        sincospi(x, &sine, &cosine);
        EXPECT_EQ(sine, sinpi(x));
        EXPECT_EQ(cosine, cospi(x));
        EXPECT_LE(ulps(sine, std::sin(pi * x)), 3.0) << x;
        EXPECT_LE(ulps(cosine, std::cos(pi * x)), 3.0) << x;
    }
}

TEST(MathFunctions, SinPiCosPiFloat) {
    checkSinCosPi<float>();
}
TEST(MathFunctions, SinPiCosPiDouble) {
    checkSinCosPi<double>();
}

TEST(MathFunctions, FloatVariantsAreTheSameFunctions) {
    float s = 0, c = 0;
    sincospif(0.25f, &s, &c);
    EXPECT_EQ(s, sinpif(0.25f));
    EXPECT_EQ(c, cospif(0.25f));
    EXPECT_FLOAT_EQ(exp10(3.0f), 1000.0f);
    EXPECT_FLOAT_EQ(exp10f(-2.0f), 0.01f);
    EXPECT_DOUBLE_EQ(exp10(3.0), 1000.0);
    sincos(1.0f, &s, &c);
    EXPECT_EQ(s, sinf(1.0f));
    EXPECT_EQ(c, cosf(1.0f));
}

TEST(MathFunctions, Norms) {
    const double p[] = {2, 3, 6};
    const float pf[] = {2, 3, 6};
    EXPECT_DOUBLE_EQ(norm(3, p), 7.0);
    EXPECT_FLOAT_EQ(normf(3, pf), 7.0f);
    EXPECT_DOUBLE_EQ(norm(0, p), 0.0);
    EXPECT_DOUBLE_EQ(rnorm(2, p), 1 / std::sqrt(13.0));
    EXPECT_FLOAT_EQ(rnormf(3, pf), 1.0f / 7);
    EXPECT_DOUBLE_EQ(norm3d(2, 3, 6), 7.0);
    EXPECT_FLOAT_EQ(norm3df(2, 3, 6), 7.0f);
    EXPECT_DOUBLE_EQ(norm4d(1, 3, 5, 1), 6.0);
    EXPECT_FLOAT_EQ(norm4df(1, 3, 5, 1), 6.0f);
    EXPECT_DOUBLE_EQ(rnorm3d(2, 3, 6), 1.0 / 7);
    EXPECT_FLOAT_EQ(rnorm3df(2, 3, 6), 1.0f / 7);
    EXPECT_DOUBLE_EQ(rnorm4d(1, 3, 5, 1), 1.0 / 6);
    EXPECT_FLOAT_EQ(rnorm4df(1, 3, 5, 1), 1.0f / 6);
    EXPECT_DOUBLE_EQ(rhypot(3, 4), 0.2);
    EXPECT_FLOAT_EQ(rhypotf(3, 4), 0.2f);
    // The squares would overflow.
    EXPECT_FLOAT_EQ(norm3df(2e30f, 3e30f, 6e30f), 7e30f);
    EXPECT_DOUBLE_EQ(norm4d(1e300, 3e300, 5e300, 1e300), 6e300);
}

TEST(MathFunctions, NormalDistribution) {
    EXPECT_EQ(normcdf(0.0), 0.5);
    EXPECT_NEAR(normcdf(1.0), 0.8413447460685429, 1e-15);
    EXPECT_NEAR(normcdf(-1.0), 0.15865525393145705, 1e-15);
    EXPECT_NEAR(normcdff(1.959964f), 0.975f, 1e-6f);
    EXPECT_NEAR(normcdf(-10.0) / 7.619853024160527e-24, 1.0, 1e-12);  // not 1 - 1
    EXPECT_EQ(normcdf(kInf), 1.0);
    EXPECT_EQ(normcdf(-kInf), 0.0);
}

TEST(FastMath, AgreesWithTheAccurateFunctions) {
    for (float x = 0.1f; x < 3.0f; x += 0.1f) {
        EXPECT_FLOAT_EQ(__sinf(x), sinf(x));
        EXPECT_FLOAT_EQ(__cosf(x), cosf(x));
        EXPECT_FLOAT_EQ(__tanf(x), tanf(x));
        EXPECT_FLOAT_EQ(__tanhf(x), tanhf(x));
        EXPECT_FLOAT_EQ(__expf(x), expf(x));
        EXPECT_FLOAT_EQ(__exp10f(x), exp10f(x));
        EXPECT_FLOAT_EQ(__logf(x), logf(x));
        EXPECT_FLOAT_EQ(__log2f(x), log2f(x));
        EXPECT_FLOAT_EQ(__log10f(x), log10f(x));
        EXPECT_FLOAT_EQ(__powf(x, 2.5f), powf(x, 2.5f));
        EXPECT_FLOAT_EQ(__fdividef(1.0f, x), 1.0f / x);
        float sine = 0, cosine = 0;
        __sincosf(x, &sine, &cosine);
        EXPECT_EQ(sine, __sinf(x));
        EXPECT_EQ(cosine, __cosf(x));
    }
    EXPECT_EQ(fdividef(1.0f, 4.0f), 0.25f);
    EXPECT_EQ(fdivide(1.0, 4.0), 0.25);
}

TEST(FastMath, PowOfANegativeBaseIsNotANumber) {
    EXPECT_TRUE(std::isnan(__powf(-2.0f, 2.0f)));
    EXPECT_EQ(__powf(2.0f, -3.0f), 0.125f);
}

TEST(FastMath, Saturate) {
    EXPECT_EQ(__saturatef(-0.5f), 0.0f);
    EXPECT_FALSE(std::signbit(__saturatef(-0.0f)));
    EXPECT_EQ(__saturatef(FLT_MIN), FLT_MIN);
    EXPECT_EQ(__saturatef(0.75f), 0.75f);
    EXPECT_EQ(__saturatef(1.5f), 1.0f);
    EXPECT_EQ(__saturatef(kInfF), 1.0f);
    EXPECT_EQ(__saturatef(std::nanf("")), 0.0f);
}

}  // namespace
