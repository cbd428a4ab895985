#include "blockStays.h"

#include <gtest/gtest.h>

namespace {

// Two SMs with room for two blocks each, in nanoseconds. The fifth waits until the second has
// ended, which leaves its slot empty at the end.
//
//     SM 0  slot 0   000000000
//           slot 1   222222222
//     SM 1  slot 0   111444
//           slot 1   333333333
std::vector<BlockSpan> fiveBlocks() {
    return {{{1000, 4000, 0}, 1},
            {{1000, 2000, 1}, 1},
            {{1000, 4000, 0}, 1},
            {{1000, 4000, 1}, 1},
            {{2000, 3000, 1}, 1}};
}

TEST(BlockStays, ABlockTakesTheLowestSlotThatIsFree) {
    const std::vector<Stay> stays = staysOf(fiveBlocks());
    const unsigned slots[] = {0, 0, 1, 1, 0}, waves[] = {1, 1, 1, 1, 2};
    ASSERT_EQ(stays.size(), 5u);
    for (std::size_t block = 0; block < 5; ++block) {
        EXPECT_EQ(stays[block].block, block);
        EXPECT_EQ(stays[block].slot, slots[block]) << block;
        EXPECT_EQ(stays[block].wave, waves[block]) << block;
    }
}

TEST(BlockStays, ASummaryOfThem) {
    const Summary summary = summaryOf(staysOf(fiveBlocks()), 4);
    EXPECT_EQ(summary.mostAtOnce, 2u);
    EXPECT_EQ(summary.smsUsed, 2u);
    EXPECT_DOUBLE_EQ(summary.blockMs, 0.003);            // of 1, 1, 3, 3 and 3 us
    EXPECT_NEAR(summary.idlePercent, 100 / 12.0, 1e-9);  // 11 of 4 x 3 us are busy
}

TEST(BlockStays, SlotsThatNobodyTookAreIdle) {
    const Summary summary = summaryOf(staysOf({{{500, 700, 3}, 1}}), 4);
    EXPECT_EQ(summary.mostAtOnce, 1u);
    EXPECT_EQ(summary.smsUsed, 1u);
    EXPECT_NEAR(summary.idlePercent, 75, 1e-9);
    EXPECT_EQ(summaryOf(staysOf({{{500, 500, 3}, 1}}), 4).idlePercent, 0);  // no time at all
}

TEST(BlockStays, SaysWhatIsWrong) {
    EXPECT_EQ(wrongSpans(staysOf(fiveBlocks()), 2), "");
    EXPECT_EQ(wrongSpans(staysOf(fiveBlocks()), 1),
              "block 2 began on SM 0 while 1 others were there, but that SM has room for 1");
    EXPECT_EQ(wrongSpans(staysOf({{{1, 2, 0}, 1}, {{1, 2, 0}, 2}}), 2), "block 1 ran 2 times");
    EXPECT_EQ(wrongSpans(staysOf({{{2, 1, 0}, 1}}), 2), "block 0 ended before it began");
}

}  // namespace
