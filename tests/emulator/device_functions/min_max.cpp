// min() and max(): the type and the value of every overload, and the calls that nvcc rejects.
#include "emu/min_max.h"

#include <gtest/gtest.h>

#include <climits>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace {

template <class Result, class A, class B>
void expectType() {
    EXPECT_TRUE((std::is_same<decltype(min(std::declval<A>(), std::declval<B>())), Result>::value));
    EXPECT_TRUE((std::is_same<decltype(max(std::declval<A>(), std::declval<B>())), Result>::value));
}

template <class A, class B, class = void>
struct HasMin : std::false_type {};
template <class A, class B>
struct HasMin<A, B, std::void_t<decltype(min(std::declval<A>(), std::declval<B>()))>>
    : std::true_type {};

TEST(MinMax, ResultHasTheTypeThatCudaGivesIt) {
    expectType<int, int, int>();
    expectType<int, short, short>();
    expectType<int, unsigned char, int>();
    expectType<unsigned, unsigned, unsigned>();
    expectType<unsigned, int, unsigned>();
    expectType<unsigned, unsigned, int>();
    expectType<long, long, long>();
    expectType<unsigned long, unsigned long, unsigned long>();
    expectType<unsigned long, long, unsigned long>();
    expectType<unsigned long, unsigned long, long>();
    expectType<long long, long long, long long>();
    expectType<unsigned long long, unsigned long long, unsigned long long>();
    expectType<unsigned long long, long long, unsigned long long>();
    expectType<unsigned long long, unsigned long long, long long>();
    expectType<float, float, float>();
    expectType<double, double, double>();
    expectType<double, float, double>();
    expectType<double, double, float>();
}

TEST(MinMax, WhatNvccFindsAmbiguousIsAmbiguous) {
    EXPECT_FALSE((HasMin<int, float>::value));
    EXPECT_FALSE((HasMin<int, double>::value));
    EXPECT_FALSE((HasMin<unsigned long, int>::value));
    EXPECT_FALSE((HasMin<long, long long>::value));
    EXPECT_TRUE((HasMin<int, unsigned>::value));
}

TEST(MinMax, MixedSignsCompareAsUnsigned) {
    EXPECT_EQ(min(-1, 1u), 1u);
    EXPECT_EQ(max(-1, 1u), UINT_MAX);
    EXPECT_EQ(max(1u, -1), UINT_MAX);
    EXPECT_EQ(min(-1l, 1ul), 1ul);
    EXPECT_EQ(max(1ull, -1ll), ULLONG_MAX);
}

template <class Real>
void checkReal() {
    const Real nan = std::numeric_limits<Real>::quiet_NaN();
    const Real inf = std::numeric_limits<Real>::infinity();
    EXPECT_EQ(min(Real(1.5), Real(-2)), Real(-2));
    EXPECT_EQ(max(Real(1.5), Real(-2)), Real(1.5));
    EXPECT_EQ(min(-inf, Real(0)), -inf);
    EXPECT_EQ(max(Real(0), inf), inf);
    for (Real number : {Real(-1), Real(0), inf}) {
        EXPECT_EQ(min(nan, number), number);
        EXPECT_EQ(min(number, nan), number);
        EXPECT_EQ(max(nan, number), number);
        EXPECT_EQ(max(number, nan), number);
    }
    EXPECT_TRUE(std::isnan(min(nan, nan)));
    EXPECT_TRUE(std::isnan(max(nan, nan)));
    for (bool negativeFirst : {false, true}) {
        const Real a = negativeFirst ? Real(-0.0) : Real(0),
                   b = negativeFirst ? Real(0) : Real(-0.0);
        EXPECT_TRUE(std::signbit(min(a, b)));
        EXPECT_FALSE(std::signbit(max(a, b)));
    }
}

TEST(MinMax, Float) {
    checkReal<float>();
}
TEST(MinMax, Double) {
    checkReal<double>();
}

TEST(MinMax, FloatAndDoubleCompareAsDouble) {
    const double slightlyMore = 1 + 1e-12;  // rounds to 1 as a float
    EXPECT_EQ(max(1.0f, slightlyMore), slightlyMore);
    EXPECT_EQ(min(slightlyMore, 1.0f), 1.0);
}

TEST(MinMax, NamedVariants) {
    EXPECT_EQ(umin(UINT_MAX, 1u), 1u);
    EXPECT_EQ(umax(UINT_MAX, 1u), UINT_MAX);
    EXPECT_EQ(llmin(LLONG_MIN, 1), LLONG_MIN);
    EXPECT_EQ(llmax(LLONG_MIN, 1), 1);
    EXPECT_EQ(ullmin(ULLONG_MAX, 1), 1u);
    EXPECT_EQ(ullmax(ULLONG_MAX, 1), ULLONG_MAX);
}

}  // namespace
