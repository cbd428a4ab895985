#include "instrument/hazards/shared_shadow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace {

using emu::AccessKind;

constexpr unsigned kThreads = 1024;
constexpr uintptr_t kLine = 100, kOtherLine = 200;

// A block of 1024 threads that use one word of shared memory.
class SharedShadowTest : public testing::Test {
  protected:
    SharedShadowTest() {
        clocks_.beginBlock(kThreads);
        shadow_.beginBlock();
    }

    void does(AccessKind kind, unsigned rank, uintptr_t line) {
        emu::SharedAccess access;
        access.pc = line;
        access.size = 4;
        access.rank = static_cast<uint16_t>(rank);
        access.kind = kind;
        shadow_.touch(access, races_);
    }
    void reads(unsigned rank, uintptr_t line) { does(AccessKind::Load, rank, line); }
    void updates(unsigned rank, uintptr_t line) { does(AccessKind::Atomic, rank, line); }
    void writes(unsigned rank, uintptr_t line, uint32_t value) {
        does(AccessKind::Store, rank, line);
        std::memcpy(memory_.data(), &value, sizeof(value));
        shadow_.settle(races_);
    }
    void allUpdate(uintptr_t line) {
        for (unsigned rank = 0; rank < kThreads; ++rank) updates(rank, line);
    }

    // Between these two lines; found since the last call.
    bool racesBetween(uintptr_t a, uintptr_t b) {
        shadow_.barrier(races_);
        const bool found = std::any_of(races_.begin(), races_.end(), [&](const emu::Race& race) {
            return (race.first.pc == a && race.second.pc == b) ||
                   (race.first.pc == b && race.second.pc == a);
        });
        races_.clear();
        return found;
    }

    std::array<unsigned char, 64> memory_{};
    emu::WarpClocks clocks_;
    emu::WarpFences fences_;
    emu::SharedShadow shadow_{memory_.data(), memory_.size(), clocks_, fences_};
    std::vector<emu::Race> races_;
};

TEST_F(SharedShadowTest, OfManyThreadsAtOneWordItRemembersThoseOfTwoWarps) {
    allUpdate(kLine);
    writes(kThreads - 1, kOtherLine, 1);
    EXPECT_LE(races_.size(), 64u);  // each access that it remembers is a race
    EXPECT_TRUE(racesBetween(kLine, kOtherLine));

    for (unsigned rank = 0; rank < kThreads; ++rank) writes(rank, kLine, 7);
    EXPECT_THAT(races_, testing::IsEmpty());
    writes(kThreads - 1, kOtherLine, 8);
    EXPECT_LE(races_.size(), 64u);
    EXPECT_TRUE(racesBetween(kLine, kOtherLine));
}

TEST_F(SharedShadowTest, WhicheverWarpIsInConflictIsFound) {
    for (const unsigned rank : {0u, 32u, 64u, 1023u}) {
        allUpdate(kLine);
        writes(rank, kOtherLine, rank);
        EXPECT_TRUE(racesBetween(kLine, kOtherLine)) << rank;

        for (unsigned reader = 0; reader < kThreads; ++reader) reads(reader, kLine);
        writes(rank, kOtherLine, rank);
        EXPECT_TRUE(racesBetween(kLine, kOtherLine)) << rank;

        for (unsigned reader = 0; reader < kThreads; ++reader) reads(reader, kLine);
        updates(rank, kOtherLine);
        EXPECT_TRUE(racesBetween(kLine, kOtherLine)) << rank;

        for (unsigned writer = 0; writer < kThreads; ++writer) writes(writer, kLine, 5);
        writes(rank, kOtherLine, 6);
        EXPECT_TRUE(racesBetween(kLine, kOtherLine)) << rank;
    }
}

TEST_F(SharedShadowTest, AThirdWarpsStoreOfAnotherValueRaces) {
    writes(0, kLine, 1);
    writes(32, kLine, 1);
    EXPECT_FALSE(racesBetween(kLine, kLine));
    writes(0, kLine, 1);
    writes(32, kLine, 1);
    writes(64, kLine, 2);
    EXPECT_TRUE(racesBetween(kLine, kLine));
}

TEST_F(SharedShadowTest, TheLatestValueOfAThreadCounts) {
    writes(0, kLine, 1);
    writes(32, kLine, 1);
    writes(0, kLine, 2);  // a race with thread 32, but of this line
    writes(0, kOtherLine, 1);
    EXPECT_TRUE(racesBetween(kLine, kLine));
    writes(0, kLine, 1);
    writes(0, kLine, 2);
    writes(32, kOtherLine, 2);
    EXPECT_FALSE(racesBetween(kLine, kOtherLine));
}

TEST_F(SharedShadowTest, WithinAWarpOrderIsKnownForEachLane) {
    for (unsigned lane = 0; lane < 32; ++lane) reads(lane, kLine);
    clocks_.synced(0, 0x7fffffff);  // all but lane 31
    writes(0, kOtherLine, 1);
    ASSERT_THAT(races_, testing::SizeIs(1));
    EXPECT_EQ(races_[0].first.rank, 31);
}

}  // namespace
