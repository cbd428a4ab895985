// Conversions with a rounding mode, and reinterpretations.
#include "emu/conversions.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <climits>
#include <cmath>
#include <cstring>
#include <limits>

namespace {

constexpr float kInfF = std::numeric_limits<float>::infinity();
constexpr double kInf = std::numeric_limits<double>::infinity();
const float kNanF = std::numeric_limits<float>::quiet_NaN();
const double kNan = std::numeric_limits<double>::quiet_NaN();

// Rounded to the nearest, towards zero, up and down.
#define EXPECT_MODES(FUNCTION, ARGUMENT, RN, RZ, RU, RD) \
    EXPECT_EQ(FUNCTION##_rn(ARGUMENT), RN);              \
    EXPECT_EQ(FUNCTION##_rz(ARGUMENT), RZ);              \
    EXPECT_EQ(FUNCTION##_ru(ARGUMENT), RU);              \
    EXPECT_EQ(FUNCTION##_rd(ARGUMENT), RD)
#define EXPECT_IN_ALL_MODES(FUNCTION, ROW, OF) \
    EXPECT_MODES(FUNCTION, ROW.x, OF(ROW.rn), OF(ROW.rz), OF(ROW.ru), OF(ROW.rd))

// One row per argument, one column per mode, for the eight conversions that share these values.
TEST(Conversions, RealToIntegerInEveryMode) {
    const struct {
        float x;
        int rn, rz, ru, rd;
    } rows[] = {
        {0.5f, 0, 0, 1, 0},   {1.5f, 2, 1, 2, 1},       {2.5f, 2, 2, 3, 2},
        {-0.5f, 0, 0, 0, -1}, {-1.5f, -2, -1, -1, -2},  {-2.5f, -2, -2, -2, -3},
        {2.75f, 3, 2, 3, 2},  {-2.25f, -2, -2, -2, -3}, {7.0f, 7, 7, 7, 7},
        {-0.0f, 0, 0, 0, 0},  {FLT_MIN, 0, 0, 1, 0},
    };
    const auto positive = [](int value) { return static_cast<unsigned>(value < 0 ? 0 : value); };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.x);
        EXPECT_IN_ALL_MODES(__float2int, row, );
        EXPECT_IN_ALL_MODES(__float2ll, row, );
        EXPECT_IN_ALL_MODES(__double2int, row, );
        EXPECT_IN_ALL_MODES(__double2ll, row, );
        EXPECT_IN_ALL_MODES(__float2uint, row, positive);
        EXPECT_IN_ALL_MODES(__double2uint, row, positive);
        EXPECT_IN_ALL_MODES(__float2ull, row, positive);
        EXPECT_IN_ALL_MODES(__double2ull, row, positive);
    }
}

TEST(Conversions, OutOfRangeSaturates) {
    EXPECT_EQ(__float2int_rz(0x1p31f), INT_MAX);
    EXPECT_EQ(__float2int_rz(0x1.fffffep30f), 2147483520);  // the largest float below 2^31
    EXPECT_EQ(__float2int_rz(-0x1p31f), INT_MIN);
    EXPECT_EQ(__float2int_rz(-3e9f), INT_MIN);
    EXPECT_EQ(__float2int_rn(kInfF), INT_MAX);
    EXPECT_EQ(__float2int_rn(-kInfF), INT_MIN);
    EXPECT_EQ(__float2uint_rz(0x1p32f), UINT_MAX);
    EXPECT_EQ(__float2uint_rz(0x1.fffffep31f), 4294967040u);
    EXPECT_EQ(__float2uint_rd(-0.25f), 0u);
    EXPECT_EQ(__float2ll_rz(0x1p63f), LLONG_MAX);
    EXPECT_EQ(__float2ll_rz(-1e30f), LLONG_MIN);
    EXPECT_EQ(__float2ull_rz(0x1p63f), 0x8000000000000000ull);
    EXPECT_EQ(__float2ull_rz(0x1p64f), ULLONG_MAX);
    EXPECT_EQ(__float2ull_ru(-1e30f), 0u);
    EXPECT_EQ(__double2int_rz(2147483647.9), INT_MAX);
    EXPECT_EQ(__double2int_rz(2147483646.9), 2147483646);
    EXPECT_EQ(__double2int_rn(2147483647.5), INT_MAX);
    EXPECT_EQ(__double2int_rd(-2147483648.5), INT_MIN);
    EXPECT_EQ(__double2uint_rz(4294967295.5), UINT_MAX);
    EXPECT_EQ(__double2uint_rn(4294967295.5), UINT_MAX);
    EXPECT_EQ(__double2ll_rn(kInf), LLONG_MAX);
    EXPECT_EQ(__double2ll_rn(-kInf), LLONG_MIN);
    EXPECT_EQ(__double2ull_rn(kInf), ULLONG_MAX);
}

TEST(Conversions, NanIsZeroOnlyWhereBothTypesHave32Bits) {
    EXPECT_EQ(__float2int_rn(kNanF), 0);
    EXPECT_EQ(__float2uint_rz(kNanF), 0u);
    EXPECT_EQ(__float2ll_rz(kNanF), LLONG_MIN);
    EXPECT_EQ(__float2ull_rd(kNanF), 0x8000000000000000ull);
    EXPECT_EQ(__double2int_ru(kNan), INT_MIN);
    EXPECT_EQ(__double2uint_rz(kNan), 0x80000000u);
    EXPECT_EQ(__double2ll_rz(kNan), LLONG_MIN);
    EXPECT_EQ(__double2ull_rz(kNan), 0x8000000000000000ull);
}

TEST(Conversions, IntegerToFloat) {
    const float even = 16777216, next = 16777218;  // 2^24, of which 2^24 + 1 is a tie
    EXPECT_MODES(__int2float, 16777217, even, even, next, even);
    EXPECT_MODES(__int2float, -16777217, -even, -even, -even, -next);
    EXPECT_MODES(__int2float, INT_MAX, 0x1p31f, 0x1.fffffep30f, 0x1p31f, 0x1.fffffep30f);
    EXPECT_EQ(__int2float_rn(INT_MIN), -0x1p31f);
    EXPECT_MODES(__uint2float, UINT_MAX, 0x1p32f, 0x1.fffffep31f, 0x1p32f, 0x1.fffffep31f);
    EXPECT_MODES(__ll2float, LLONG_MAX, 0x1p63f, 0x1.fffffep62f, 0x1p63f, 0x1.fffffep62f);
    EXPECT_MODES(__ll2float, -(1ll << 40) - 1, -0x1p40f, -0x1p40f, -0x1p40f, -0x1.000002p40f);
    EXPECT_MODES(__ull2float, ULLONG_MAX, 0x1p64f, 0x1.fffffep63f, 0x1p64f, 0x1.fffffep63f);
    EXPECT_MODES(__ull2float, (1ull << 63) + 1, 0x1p63f, 0x1p63f, 0x1.000002p63f, 0x1p63f);
}

TEST(Conversions, IntegerToDouble) {
    const long long odd = (1ll << 53) + 1;
    EXPECT_EQ(__int2double_rn(INT_MIN), -2147483648.0);
    EXPECT_EQ(__uint2double_rn(UINT_MAX), 4294967295.0);
    EXPECT_MODES(__ll2double, odd, 0x1p53, 0x1p53, 0x1p53 + 2, 0x1p53);
    EXPECT_MODES(__ll2double, -odd, -0x1p53, -0x1p53, -0x1p53, -0x1p53 - 2);
    EXPECT_MODES(__ull2double, ULLONG_MAX, 0x1p64, 0x1.fffffffffffffp63, 0x1p64,
                 0x1.fffffffffffffp63);
    EXPECT_MODES(__ull2double, (1ull << 63) + 1, 0x1p63, 0x1p63, 0x1.0000000000001p63, 0x1p63);
}

TEST(Conversions, DoubleToFloat) {
    const float next = 1 + 0x1p-23f;
    EXPECT_MODES(__double2float, 1 + 0x1p-30, 1.0f, 1.0f, next, 1.0f);
    EXPECT_MODES(__double2float, -(1 + 0x1p-30), -1.0f, -1.0f, -1.0f, -next);
    EXPECT_MODES(__double2float, 1e300, kInfF, FLT_MAX, kInfF, FLT_MAX);
    EXPECT_MODES(__double2float, -1e300, -kInfF, -FLT_MAX, -FLT_MAX, -kInfF);
    EXPECT_MODES(__double2float, 1e-300, 0.0f, 0.0f, 0x1p-149f, 0.0f);
}

TEST(Conversions, Reinterpretation) {
    EXPECT_EQ(__float_as_int(1.0f), 0x3f800000);
    EXPECT_EQ(__float_as_int(-0.0f), INT_MIN);
    EXPECT_EQ(__float_as_uint(-2.0f), 0xc0000000u);
    EXPECT_EQ(__int_as_float(0x40490fdb), 3.14159274f);
    EXPECT_EQ(__uint_as_float(0xff800000u), -kInfF);
    EXPECT_EQ(__double_as_longlong(-0.0), LLONG_MIN);
    EXPECT_EQ(__longlong_as_double(0x3ff0000000000000ll), 1.0);
    // Every bit of a NaN survives.
    EXPECT_EQ(__float_as_uint(__uint_as_float(0x7fc12345u)), 0x7fc12345u);
}

TEST(Conversions, HalvesOfADouble) {
    const double x = __longlong_as_double(static_cast<long long>(0xfedcba9876543210ull));
    EXPECT_EQ(__double2hiint(x), static_cast<int>(0xfedcba98u));
    EXPECT_EQ(__double2loint(x), 0x76543210);
    EXPECT_EQ(__hiloint2double(0x3ff00000, 0), 1.0);
    // The sign of the lower half must not spill into the upper one.
    EXPECT_EQ(__double_as_longlong(__hiloint2double(1, -1)), 0x1ffffffffll);
    EXPECT_EQ(__double_as_longlong(__hiloint2double(-2, 3)),
              static_cast<long long>(0xfffffffe00000003ull));
}

}  // namespace
