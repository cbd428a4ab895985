// A program's calls of mathematical functions without std::, for every order of `using namespace
// std` and the headers. Included by one source file per order.
#pragma once

#include <gtest/gtest.h>

#include <type_traits>

namespace {  // each source has functions of its own

template <class Expected, class... Actual>
void expectType(Actual...) {
    EXPECT_TRUE((std::is_same<Expected, Actual>::value && ...));
}

void checkOverloads() {
    const float f = 0.5f;
    const double d = 0.5;
    expectType<float>(sqrt(f), sqrtf(f), exp(f), log(f), sin(f), cos(f), tanh(f), floor(f), ceil(f),
                      round(f), fabs(f), abs(f), cbrt(f), log2(f));
    expectType<float>(pow(f, f), fma(f, f, f), fmax(f, f), fmod(f, f), atan2(f, f), hypot(f, f));
    expectType<float>(exp10(f), rsqrt(f), rcbrt(f), sinpi(f), cospi(f), normcdf(f), min(f, f));
    expectType<double>(sqrt(d), rsqrt(d), exp10(d), pow(f, d), pow(d, 2), sqrt(2), max(f, d));
    expectType<int>(abs(-3), max(1, 2));
    expectType<long long>(abs(-3ll));
    expectType<unsigned>(max(1u, 2));
    expectType<size_t>(min(sizeof(int), sizeof(double)));

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

}  // namespace
