#include "launchTable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using ::testing::ElementsAre;

std::vector<std::string> shown(unsigned kernels, const ChainTimes& times) {
    std::vector<std::string> texts;
    for (const lab::Cell& cell : chainCells(kernels, times)) texts.push_back(cell.shown());
    return texts;
}

TEST(LaunchTable, TimesAreThoseOfOneKernelInMicroseconds) {
    EXPECT_THAT(shown(4, {0.01, 0.006}), ElementsAre("4", "2.500", "1.500"));
}

// 5 ms for what saves 2 ms in each launch.
TEST(LaunchTable, AGraphHasPaidWhenItHasSavedWhatItTook) {
    EXPECT_THAT(shown(100, {1, 0.01, 5, 3}),
                ElementsAre("100", "10.000", "0.100", "5000.0", "2000.000", "2.5"));
}

TEST(LaunchTable, AGraphThatSavesNothingNeverPays) {
    const auto never = ElementsAre("100", "10.000", "0.100", "5000.0");
    EXPECT_THAT(shown(100, {1, 0.01, 5, 1}), never);
    EXPECT_THAT(shown(100, {1, 0.01, 5, 0.5}), never);
    EXPECT_THAT(shown(100, {1, 0.01, 5}), never);  // nothing to compare it with
}

TEST(LaunchTable, HasACellForEachColumn) {
    EXPECT_EQ(chainCells(1, {1, 1, 1, 2}).size(), chainColumns().size());
}

}  // namespace
