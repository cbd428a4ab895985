// Which warps of a block may have handed something to one another.
#include "instrument/hazards/warp_fences.h"

#include <gtest/gtest.h>

namespace {

constexpr unsigned kFirst = 3, kSecond = 40, kThird = 70;  // threads of three warps

TEST(WarpFences, AFenceOfTheOneAndALookOfTheOtherMayOrder) {
    emu::WarpFences fences;
    fences.beginBlock(7);
    const uint32_t count = fences.count();
    EXPECT_FALSE(fences.mayOrder(kFirst, count, kSecond));
    fences.looksAtFlag(kSecond);
    EXPECT_FALSE(fences.mayOrder(kFirst, count, kSecond));
    fences.fence(kThird);
    EXPECT_FALSE(fences.mayOrder(kFirst, count, kSecond));
    fences.fence(kFirst);
    EXPECT_TRUE(fences.mayOrder(kFirst, count, kSecond));
    EXPECT_FALSE(fences.mayOrder(kFirst, count, kThird));            // has not looked
    EXPECT_FALSE(fences.mayOrder(kFirst, fences.count(), kSecond));  // what comes later
}

TEST(WarpFences, ALookBeforeABarrierTellsNothingOfWhatComesBehindIt) {
    emu::WarpFences fences;
    fences.beginBlock(0);
    fences.looksAtFlag(kSecond);
    fences.barrier();
    const uint32_t count = fences.count();
    fences.fence(kFirst);
    EXPECT_FALSE(fences.mayOrder(kFirst, count, kSecond));
}

TEST(WarpFences, ABlockKnowsNothingOfTheFencesOfTheOneBefore) {
    emu::WarpFences fences;
    fences.beginBlock(0);
    for (int i = 0; i < 9; ++i) fences.fence(kFirst);
    fences.beginBlock(0);
    fences.looksAtFlag(kSecond);
    EXPECT_FALSE(fences.mayOrder(kFirst, fences.count(), kSecond));
}

// A record keeps 15 bits of the count: an old one then looks like a new one.
TEST(WarpFences, MoreFencesThanARecordCountsAreNoAlarm) {
    emu::WarpFences fences;
    fences.beginBlock(emu::WarpFences::kModulus - 2);
    const uint32_t count = fences.count();
    fences.fence(kFirst);
    for (uint32_t i = 0; i < emu::WarpFences::kModulus + 5; ++i) fences.fence(kThird);
    fences.looksAtFlag(kSecond);
    EXPECT_TRUE(fences.mayOrder(kFirst, count, kSecond));
}

}  // namespace
