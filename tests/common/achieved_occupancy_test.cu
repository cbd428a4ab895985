#include "achieved_occupancy.cuh"

#include <gtest/gtest.h>

namespace {

// 40 ns of warps in 20 ns on SM 0, and 20 in 10 on SM 7, which begins later.
std::vector<lab::Span> fiveWarps() {
    return {{10, 20, 0}, {0, 20, 0}, {0, 10, 0}, {5, 15, 7}, {5, 15, 7}};
}

TEST(AchievedOccupancy, IsTheAverageOverTheTimeOfTheSms) {
    EXPECT_DOUBLE_EQ(averageWarps(fiveWarps()), 2);
    EXPECT_DOUBLE_EQ(averageWarps({{100, 200, 1}, {150, 200, 1}}), 1.5);
    EXPECT_EQ(averageWarps({{7, 7, 0}}), 0);  // no time at all
}

TEST(AchievedOccupancy, SaysWhatIsWrong) {
    EXPECT_EQ(wrongSpans(fiveWarps(), 2), "");
    EXPECT_EQ(wrongSpans(fiveWarps(), 1), "2.00 warps were resident, at most 1 fit");
    EXPECT_EQ(wrongSpans({{1, 2, 0}, {0, 0, 0}}, 2), "warp 1 did not note when it ran");
    EXPECT_EQ(wrongSpans({{3, 2, 0}}, 2), "warp 0 did not note when it ran");
}

}  // namespace
