#include "peaks.h"

#include <gtest/gtest.h>

namespace {

TEST(Peaks, OfAGpuOfTwoSms) {
    EXPECT_DOUBLE_EQ(machineBalance(600, 40), 15);
    EXPECT_DOUBLE_EQ(cyclesToIssue(96, 1000, 2, 4), 12000);
    EXPECT_DOUBLE_EQ(microseconds(12000, 1500), 8);
}

TEST(Peaks, WhatIsNotKnownIsZero) {
    EXPECT_EQ(machineBalance(600, 0), 0);
    EXPECT_EQ(cyclesToIssue(96, 1000, 2, 0), 0);
    EXPECT_EQ(microseconds(12000, 0), 0);
}

TEST(Peaks, VersionsOfCudaHaveTwoParts) {
    EXPECT_EQ(cudaVersion(13000), "13.0");
    EXPECT_EQ(cudaVersion(12090), "12.9");
    EXPECT_EQ(cudaVersion(11020), "11.2");
}

}  // namespace
