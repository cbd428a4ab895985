// Arithmetic with an explicit rounding mode.
#include "emu/rounded_arithmetic.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

namespace {

constexpr float kInfF = std::numeric_limits<float>::infinity();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Rounded to the nearest, towards zero, up and down.
#define EXPECT_MODES(FUNCTION, ARGUMENTS, RN, RZ, RU, RD) \
    EXPECT_EQ(FUNCTION##_rn ARGUMENTS, RN);               \
    EXPECT_EQ(FUNCTION##_rz ARGUMENTS, RZ);               \
    EXPECT_EQ(FUNCTION##_ru ARGUMENTS, RU);               \
    EXPECT_EQ(FUNCTION##_rd ARGUMENTS, RD)

TEST(RoundedArithmetic, AddAtHalfAUnitInTheLastPlace) {
    const float half = 0x1p-24f, next = 1 + 0x1p-23f;
    EXPECT_MODES(__fadd, (1, half), 1.0f, 1.0f, next, 1.0f);  // a tie, to even
    EXPECT_EQ(__fadd_rn(next, half), 1 + 0x1p-22f);
    EXPECT_MODES(__fadd, (-1, -half), -1.0f, -1.0f, -1.0f, -next);
    EXPECT_MODES(__fsub, (1, 0x1p-40f), 1.0f, 1 - 0x1p-24f, 1.0f, 1 - 0x1p-24f);
}

TEST(RoundedArithmetic, OverflowStopsAtTheLargestNumberWhereTheModePointsInwards) {
    EXPECT_MODES(__fmul, (FLT_MAX, 2), kInfF, FLT_MAX, kInfF, FLT_MAX);
    EXPECT_MODES(__fmul, (-FLT_MAX, 2), -kInfF, -FLT_MAX, -FLT_MAX, -kInfF);
    EXPECT_MODES(__dmul, (DBL_MAX, 2), kInf, DBL_MAX, kInf, DBL_MAX);
}

TEST(RoundedArithmetic, SignOfAnExactZeroSum) {
    EXPECT_TRUE(std::signbit(__fadd_rd(1, -1)));
    EXPECT_FALSE(std::signbit(__fadd_rn(1, -1)));
    EXPECT_FALSE(std::signbit(__fadd_ru(1, -1)));
}

TEST(RoundedArithmetic, Thirds) {
    const float below = 0x1.555554p-2f, above = 0x1.555556p-2f;
    const double low = 0x1.5555555555555p-2, high = 0x1.5555555555556p-2;
    EXPECT_MODES(__fdiv, (1, 3), above, below, above, below);
    EXPECT_MODES(__fdiv, (-1, 3), -above, -below, -below, -above);
    EXPECT_MODES(__frcp, (3), above, below, above, below);
    EXPECT_MODES(__ddiv, (1, 3), low, low, high, low);
    EXPECT_MODES(__drcp, (3), low, low, high, low);
}

TEST(RoundedArithmetic, SquareRoots) {
    const float below = 0x1.6a09e6p+0f, above = 0x1.6a09e8p+0f;
    const double low = 0x1.6a09e667f3bccp+0, high = 0x1.6a09e667f3bcdp+0;
    EXPECT_MODES(__fsqrt, (9), 3.0f, 3.0f, 3.0f, 3.0f);  // exact in every mode
    EXPECT_MODES(__fsqrt, (2), below, below, above, below);
    EXPECT_MODES(__dsqrt, (2), high, low, high, low);
    EXPECT_TRUE(std::isnan(__fsqrt_rz(-1)));
}

TEST(RoundedArithmetic, FusedMultiplyAddRoundsOnce) {
    const float a = 1 + 0x1p-12f;  // a * a = 1 + 2^-11 + 2^-24
    EXPECT_EQ(__fmaf_rn(a, a, -(1 + 0x1p-11f)), 0x1p-24f);
    EXPECT_EQ(__fmaf_rz(a, a, 0), 1 + 0x1p-11f);
    EXPECT_EQ(__fmaf_rd(a, a, 0), 1 + 0x1p-11f);
    EXPECT_EQ(__fmaf_ru(a, a, 0), 1 + 0x1p-11f + 0x1p-23f);
    EXPECT_EQ(__fmaf_rd(-a, a, 0), -(1 + 0x1p-11f + 0x1p-23f));
    const double b = 1 + 0x1p-27;
    EXPECT_EQ(__fma_rn(b, b, -(1 + 0x1p-26)), 0x1p-54);
    EXPECT_EQ(__fma_ru(b, b, 0), 1 + 0x1p-26 + 0x1p-52);
    EXPECT_EQ(__fma_rd(b, b, 0), 1 + 0x1p-26);
    EXPECT_EQ(__fma_rz(b, b, 0), 1 + 0x1p-26);
}

TEST(RoundedArithmetic, ProductAndSumAreNeverFused) {
    volatile float a = 1 + 0x1p-12f, c = -(1 + 0x1p-11f);
    EXPECT_EQ(__fadd_rn(__fmul_rn(a, a), c), 0.0f);
    EXPECT_EQ(__fmul_rn(a, a) + c, 0.0f);
    EXPECT_EQ(__fadd_rn(a * a, c), 0.0f);
    volatile double b = 1 + 0x1p-27, d = -(1 + 0x1p-26);
    EXPECT_EQ(__dadd_rn(__dmul_rn(b, b), d), 0.0);
    EXPECT_EQ(__dsub_rn(b * b, -d), 0.0);
}

TEST(RoundedArithmetic, DoubleAdd) {
    EXPECT_MODES(__dadd, (1, 0x1p-53), 1.0, 1.0, 1 + 0x1p-52, 1.0);
    EXPECT_MODES(__dadd, (1, -0x1p-60), 1.0, 1 - 0x1p-53, 1.0, 1 - 0x1p-53);
    EXPECT_MODES(__dsub, (-1, 0x1p-60), -1.0, -1.0, -1.0, -(1 + 0x1p-52));
}

// The product of two floats is exact in double, so its neighbours among the floats can be checked.
TEST(RoundedArithmetic, ProductsLieOnTheRightSideOfTheExactValue) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> distribution(-100, 100);
    for (int i = 0; i < 10000; ++i) {
        const float a = distribution(random), b = distribution(random);
        const double exact = static_cast<double>(a) * b;
        const float down = __fmul_rd(a, b), up = __fmul_ru(a, b);
        ASSERT_LE(down, exact);
        ASSERT_GE(up, exact);
        ASSERT_LE(up, std::nextafter(down, kInfF));
        ASSERT_EQ(__fmul_rz(a, b), exact > 0 ? down : up);
        ASSERT_EQ(__fmul_rn(a, b), static_cast<float>(exact));
    }
}

TEST(RoundedArithmetic, TheModeOfTheProgramIsRestored) {
    __fadd_ru(1, 2);
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    std::fesetround(FE_DOWNWARD);
    __fadd_ru(1, 2);
    EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
    std::fesetround(FE_TONEAREST);
}

// The exact 1/sqrt(x) lies between the midpoints m around a correctly rounded result: m * m is
// exact in double, and the sign of the fused m * m * x - 1 is right.
TEST(RoundedArithmetic, ReciprocalSquareRootIsCorrectlyRounded) {
    for (std::uint32_t bits = 0x3f800000; bits < 0x40800000; bits += 509) {  // [1, 4)
        float x;
        std::memcpy(&x, &bits, sizeof x);
        const float y = __frsqrt_rn(x);
        const double low = (static_cast<double>(std::nextafter(y, 0.0f)) + y) / 2;
        const double high = (static_cast<double>(std::nextafter(y, 2.0f)) + y) / 2;
        ASSERT_LE(std::fma(low * low, x, -1), 0) << x;
        ASSERT_GE(std::fma(high * high, x, -1), 0) << x;
    }
    EXPECT_EQ(__frsqrt_rn(0.0f), kInfF);
    EXPECT_EQ(__frsqrt_rn(-0.0f), -kInfF);
    EXPECT_EQ(__frsqrt_rn(0x1p-148f), 0x1p74f);  // subnormal
    EXPECT_TRUE(std::isnan(__frsqrt_rn(-1.0f)));
}

}  // namespace
