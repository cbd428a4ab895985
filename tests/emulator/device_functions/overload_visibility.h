// A program's calls of mathematical functions without std::, for every order of `using namespace
// std` and the headers. Included by one source file per order.
#pragma once

#include <gtest/gtest.h>

#include <type_traits>

template <class Expected, class Actual>
void expectSame(Actual) {
    EXPECT_TRUE((std::is_same<Expected, Actual>::value));
}

inline void checkOverloads() {
    const float f = 0.5f;
    const double d = 0.5;
    expectSame<float>(sqrt(f));
    expectSame<float>(sqrtf(f));
    expectSame<float>(exp(f));
    expectSame<float>(log(f));
    expectSame<float>(sin(f));
    expectSame<float>(cos(f));
    expectSame<float>(tanh(f));
    expectSame<float>(floor(f));
    expectSame<float>(ceil(f));
    expectSame<float>(round(f));
    expectSame<float>(fabs(f));
    expectSame<float>(abs(f));
    expectSame<float>(pow(f, f));
    expectSame<float>(fma(f, f, f));
    expectSame<float>(fmax(f, f));
    expectSame<float>(fmod(f, f));
    expectSame<float>(atan2(f, f));
    expectSame<float>(hypot(f, f));
    expectSame<float>(cbrt(f));
    expectSame<float>(log2(f));
    expectSame<float>(exp10(f));
    expectSame<float>(rsqrt(f));
    expectSame<float>(rcbrt(f));
    expectSame<float>(sinpi(f));
    expectSame<float>(cospi(f));
    expectSame<float>(normcdf(f));
    expectSame<float>(min(f, f));
    expectSame<double>(sqrt(d));
    expectSame<double>(rsqrt(d));
    expectSame<double>(exp10(d));
    expectSame<double>(pow(f, d));
    expectSame<double>(pow(d, 2));
    expectSame<double>(sqrt(2));
    expectSame<double>(max(f, d));
    expectSame<int>(abs(-3));
    expectSame<long long>(abs(-3ll));
    expectSame<int>(max(1, 2));
    expectSame<unsigned>(max(1u, 2));
    expectSame<size_t>(min(sizeof(int), sizeof(double)));

    const int a = 3, b = 4;
    EXPECT_EQ(max(a, b), 4);
    EXPECT_EQ(abs(-2.5f), 2.5f);
    EXPECT_EQ(abs(-2.5), 2.5);
    EXPECT_TRUE(isnan(sqrt(-1.0f)));
    EXPECT_TRUE(isinf(1 / (f - 0.5f)));
    EXPECT_TRUE(isfinite(f));
    EXPECT_TRUE(signbit(-f));

    float sine = 0, cosine = 0;
    sincos(0.0f, &sine, &cosine);
    EXPECT_EQ(cosine, 1.0f);
    sincosf(0.0f, &sine, &cosine);
    EXPECT_EQ(sine, 0.0f);
}
