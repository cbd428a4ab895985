#include "floatSums.cuh"

#include <gtest/gtest.h>

namespace {

std::vector<std::string> exact(const lab::Finding& finding) {
    std::vector<std::string> texts;
    for (const lab::Cell& cell : finding.cells) texts.push_back(cell.exact());
    return texts;
}

using Texts = std::vector<std::string>;

// The sum is 8, and the magnitudes sum to 12.
const std::vector<float> kValues = {10, -2};

TEST(SumJudge, ErrorAndSpreadAreRelativeToTheExactSum) {
    const SumJudge judge(kValues, 24);
    EXPECT_EQ(exact(judge.judge({8, 8, 8}, 0, kSameSum)),
              (Texts{"8", "0.00e+00", "1", "0.00e+00"}));
    EXPECT_EQ(exact(judge.judge({9, 6, 9}, 2, kAnySum)), (Texts{"6", "2.50e-01", "2", "3.75e-01"}));
    EXPECT_EQ(exact(judge.judge({7, 8, 11}, 3, kAnySum)),
              (Texts{"11", "3.75e-01", "3", "5.00e-01"}));
    EXPECT_EQ(exact(judge.judge({7.5f}, 1, kSameSum)), (Texts{"7.5", "6.25e-02"}));
}

TEST(SumJudge, SaysWhatIsWrong) {
    const SumJudge judge(kValues, 24);
    EXPECT_EQ(judge.judge({9, 8}, 1, kAnySum).wrong, "");
    EXPECT_EQ(judge.judge({9, 8}, 1, kSameSum).wrong,
              "there are 2 different sums in 2 runs, but all must be the same");
    EXPECT_EQ(judge.judge({6}, 1, kSameSum).wrong, "the sum is 6, expected 8 +- 1");
    EXPECT_NE(judge.judge({std::nanf("")}, 1, kSameSum).wrong, "");
}

TEST(SumJudge, DescribesTheInput) {
    EXPECT_EQ(SumJudge(kValues, 24).describeInput(),
              "The sum is 8, and the magnitudes sum to 12.\nThe condition number is 1.5.");
}

// The bound is 2^-24 of the magnitudes for each rounding. With 20 binary digits behind the point,
// these sums have 24 digits in all, so nothing is rounded.
TEST(SumJudge, ABoundGrowsWithTheRoundings) {
    EXPECT_EQ(SumJudge(kValues, 24).bound(4), 48 * 0x1p-24);
    EXPECT_EQ(SumJudge(kValues, 20).bound(4), 0);
}

// Two roundings, and with the square of 2^-24 two for each of the two values.
TEST(SumJudge, KahansLoopHasTheSameBoundForAnyLength) {
    EXPECT_DOUBLE_EQ(SumJudge(kValues, 24).boundOfKahan(), 24 * 0x1p-24 + 48 * 0x1p-48);
    EXPECT_EQ(SumJudge(kValues, 20).boundOfKahan(), 0);
}

// The bound has one rounding of the sum. The roundings of the magnitudes count with the square of
// 2^-24.
TEST(SumJudge, ASumWithItsRestIsRoundedOnce) {
    EXPECT_DOUBLE_EQ(SumJudge(kValues, 24).boundCompensated(4), 8 * 0x1p-24 + 4 * 48 * 0x1p-48);
    EXPECT_EQ(SumJudge(kValues, 20).boundCompensated(4), 0);
}

TEST(Roundings, OfATreeAreItsLevels) {
    EXPECT_EQ(log2Of(1), 0);
    EXPECT_EQ(log2Of(64), 6);
    EXPECT_EQ(log2Of(65), 7);
}

// Of a thread 16 for each tile of its block and for the last one, which is not whole, then the
// tree.
TEST(Roundings, OfABlockAreThoseOfItsTilesAndItsTree) {
    EXPECT_EQ(roundingsOfBlock(1000, 1, 64), 16 * 2 + 6);
    EXPECT_EQ(roundingsOfBlock(5 * 16 * 32, 2, 32), 16 * 4 + 5);  // 5 tiles: 3 and 2
}

}  // namespace
