#include "measuredRuns.h"

#include <gtest/gtest.h>

namespace {

TEST(MedianOfMeasured, LeavesOutTheRunsThatWarmUp) {
    EXPECT_EQ(medianOfMeasured({900, 800, 700, 1, 3, 2}, 3), 2);
}

TEST(MedianOfMeasured, TakesAllRunsWhereNoneWarmsUp) {
    EXPECT_EQ(medianOfMeasured({5, 9, 7}, 3), 7);
}

}  // namespace
