#include "statistics.h"

#include <gtest/gtest.h>

namespace {

TEST(Statistics, OddNumberOfSamples) {
    const lab::Statistics s = lab::statistics({9, 1, 4});
    EXPECT_EQ(s.median, 4);
    EXPECT_EQ(s.min, 1);
    EXPECT_EQ(s.max, 9);
    EXPECT_EQ(s.count, 3u);
}

TEST(Statistics, EvenNumberOfSamplesTakesTheMeanOfTheMiddleTwo) {
    EXPECT_EQ(lab::statistics({10, 1, 3, 2}).median, 2.5);
}

TEST(Statistics, OneSampleAndNone) {
    EXPECT_EQ(lab::statistics({5}).median, 5);
    EXPECT_EQ(lab::statistics({}).count, 0u);
    EXPECT_EQ(lab::statistics({}).median, 0);
}

TEST(MedianOfMeasured, LeavesOutTheRunsThatWarmUp) {
    EXPECT_EQ(lab::medianOfMeasured({900, 800, 700, 1, 3, 2}, 3), 2);
}

TEST(MedianOfMeasured, TakesAllRunsWhereNoneWarmsUp) {
    EXPECT_EQ(lab::medianOfMeasured({5, 9, 7}, 3), 7);
}

}  // namespace
