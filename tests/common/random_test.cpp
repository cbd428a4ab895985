#include "random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "memory.h"

namespace {

// Figures of this sequence are part of what "the same seed gives the same data" means.
TEST(Random, TheSequenceIsFixed) {
    EXPECT_NE(lab::randomInts(10, 1, 0, 1000000), lab::randomInts(10, 2, 0, 1000000));
    EXPECT_EQ(lab::randomBits(1, 0), 6791897765849424158u);
    EXPECT_EQ(lab::randomBits(2, 12345), 13249734449780454807u);
}

TEST(Random, ElementsDoNotDependOnTheSizeOrTheNumberOfThreads) {
    const std::vector<int> large = lab::randomInts(1 << 20, 7, 0, 1000000);
    const std::vector<int> small = lab::randomInts(1000, 7, 0, 1000000);
    EXPECT_TRUE(std::equal(small.begin(), small.end(), large.begin()));
}

TEST(Random, IntsCoverTheirRangeBothEndsIncluded) {
    const std::vector<int> values = lab::randomInts(1000, 1, -2, 2);
    EXPECT_EQ(std::set<int>(values.begin(), values.end()), (std::set<int>{-2, -1, 0, 1, 2}));
    EXPECT_EQ(lab::randomInts(3, 1, 5, 5), (std::vector<int>{5, 5, 5}));
    const std::vector<int> all = lab::randomInts(1000, 1, INT32_MIN, INT32_MAX);
    EXPECT_LT(*std::min_element(all.begin(), all.end()), -2000000000);
    EXPECT_GT(*std::max_element(all.begin(), all.end()), 2000000000);
}

TEST(Random, FloatsFillTheirRange) {
    const std::vector<float> values = lab::randomFloats(100000, 1, -1, 1);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    EXPECT_GE(*low, -1.0f);
    EXPECT_LT(*low, -0.999f);
    EXPECT_LT(*high, 1.0f);
    EXPECT_GT(*high, 0.999f);
    double sum = 0;
    for (const float value : values) sum += value;
    EXPECT_NEAR(sum / static_cast<double>(values.size()), 0, 0.01);
}

}  // namespace
