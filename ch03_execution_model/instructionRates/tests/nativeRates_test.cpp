#include "nativeRates.h"

#include <gtest/gtest.h>

namespace {

TEST(NativeRates, OfAnH200AndAnRtx40) {
    EXPECT_EQ(nativeRatesOf(9, 0).fp32, 128);
    EXPECT_EQ(nativeRatesOf(9, 0).fp64, 64);
    EXPECT_EQ(nativeRatesOf(8, 9).fp64, 2);
    EXPECT_EQ(nativeRatesOf(8, 9).special, 16);
}

TEST(NativeRates, WhatIsNotKnownIsZero) {
    EXPECT_EQ(nativeRatesOf(6, 1).fp32, 0);
    EXPECT_EQ(nativeRatesOf(10, 0).intAdd, 0);
}

}  // namespace
