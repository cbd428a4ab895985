#include "entriesToCheck.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using testing::Each;
using testing::Ge;
using testing::UnorderedElementsAre;

constexpr std::size_t kRows = 800, kCols = 400, kLarge = 1000;  // more work than kQuick

TEST(EntriesToCheck, AreAllOfASmallProduct) {
    EXPECT_EQ(entriesToCheck(2, 3, 5, 1), (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(entriesToCheck(4096, 1, 1 << 20, 1).size(), 4096u);
    EXPECT_EQ(entriesToCheck(512, 512, 256, 1).size(), 512u * 512);
    EXPECT_EQ(entriesToCheck(512, 512, 257, 1).size(), kSampleSize);
}

TEST(EntriesToCheck, OfALargeProductAreTheCornersAndAQuarterInTheLastRowAndColumnEach) {
    const std::vector<std::size_t> entries = entriesToCheck(kRows, kCols, kLarge, 1);
    ASSERT_EQ(entries.size(), kSampleSize);
    EXPECT_THAT(std::vector<std::size_t>(entries.begin(), entries.begin() + 4),
                UnorderedElementsAre(0u, 399u, 799u * 400, 799u * 400 + 399));
    std::size_t inLastRow = 0, inLastColumn = 0;
    for (const std::size_t entry : entries) {
        ASSERT_LT(entry, kRows * kCols);
        inLastRow += entry / kCols == kRows - 1;
        inLastColumn += entry % kCols == kCols - 1;
    }
    EXPECT_GE(inLastRow, kSampleSize / 4);
    EXPECT_GE(inLastColumn, kSampleSize / 4);
}

// Half of the sample, 2048 entries, are anywhere: in each of 8 x 8 parts 32 on average.
TEST(EntriesToCheck, TheOthersAreEverywhere) {
    std::vector<unsigned> inPart(64, 0);
    for (const std::size_t entry : entriesToCheck(kRows, kCols, kLarge, 1)) {
        ++inPart[entry / kCols / (kRows / 8) * 8 + entry % kCols / (kCols / 8)];
    }
    EXPECT_THAT(inPart, Each(Ge(10u)));
}

TEST(EntriesToCheck, FollowFromTheSeed) {
    EXPECT_EQ(entriesToCheck(kRows, kCols, kLarge, 1), entriesToCheck(kRows, kCols, kLarge, 1));
    EXPECT_NE(entriesToCheck(kRows, kCols, kLarge, 1), entriesToCheck(kRows, kCols, kLarge, 2));
}

}  // namespace
