// Traces written by hand: what lanes did one after the other, and what a warp makes of it.
#include "instrument/profile/warp_replay.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace {

using emu::Event;
using emu::EventKind;

class WarpReplayTest : public testing::Test {
  protected:
    void SetUp() override { replay_->reset(); }

    // The kernel's function, as every lane enters it.
    void enter(unsigned lane, uint32_t call = 1) {
        replay_->record(lane, {0, call, EventKind::Enter, 0});
    }
    void leave(unsigned lane) { replay_->record(lane, {0, 0, EventKind::Leave, 0}); }
    void blocks(unsigned lane, const std::vector<uint32_t>& places) {
        for (const uint32_t place : places) {
            replay_->record(lane, {0, place, EventKind::BasicBlock, 0});
        }
    }
    void load(unsigned lane, uint32_t place, uintptr_t address) {
        replay_->record(lane, {address, place, EventKind::GlobalLoad, 4});
    }
    void run(uint32_t running = 0) { replay_->replay(running, counts_); }

    uint64_t divergent() const {
        uint64_t sum = 0;
        for (const auto& [place, block] : counts_.basicBlocks) sum += block.divergent;
        return sum;
    }
    uint64_t executions(uint32_t place) const {
        const auto found = counts_.basicBlocks.find(place);
        return found == counts_.basicBlocks.end() ? 0 : found->second.executions;
    }

    std::unique_ptr<emu::WarpReplay> replay_ = std::make_unique<emu::WarpReplay>();
    emu::LaunchCounts counts_;
};

TEST_F(WarpReplayTest, LanesThatDoTheSameAreOne) {
    for (unsigned lane = 0; lane < 32; ++lane) {
        enter(lane);
        blocks(lane, {10});
        load(lane, 12, 0x1000 + 4 * lane);
        blocks(lane, {20});
        leave(lane);
    }
    run();
    EXPECT_EQ(executions(10), 1u);
    EXPECT_EQ(counts_.basicBlocks.at(10).lanes, 32u);
    EXPECT_EQ(divergent(), 0u);
    EXPECT_EQ(counts_.globalLoads.requests, 1u);
    EXPECT_EQ(counts_.globalLoads.sectors, 4u);
    EXPECT_EQ(counts_.globalLoads.bytes, 128u);
}

TEST_F(WarpReplayTest, BytesThatLanesShareAreCountedOnceForARequest) {
    for (unsigned lane = 0; lane < 32; ++lane) {
        enter(lane);
        blocks(lane, {10});
        load(lane, 12, 0x1000);
        load(lane, 14, 0x1000);
        replay_->record(lane, {0x2000 + 4 * (lane / 8), 16, EventKind::GlobalStore, 4});
        replay_->record(lane, {0x3000 + 4 * (lane % 8), 18, EventKind::SharedAtomic, 4});
        leave(lane);
    }
    run();
    EXPECT_EQ(counts_.globalLoads.requests, 2u);
    EXPECT_EQ(counts_.globalLoads.bytes, 8u);
    EXPECT_EQ(counts_.globalLoads.sectors, 2u);
    EXPECT_EQ(counts_.globalStores.bytes, 16u);
    EXPECT_EQ(counts_.sharedAtomics.bytes, 32u);
    EXPECT_EQ(counts_.sharedAtomics.wavefronts, 1u);
}

TEST_F(WarpReplayTest, BothPathsOfAnIfMeetAgain) {
    for (unsigned lane = 0; lane < 32; ++lane) {
        enter(lane);
        blocks(lane, {10, lane % 2 == 0 ? 20u : 30u, 40});
        load(lane, 42, 0x1000 + 4 * lane);
        leave(lane);
    }
    run();
    EXPECT_EQ(counts_.basicBlocks.at(10).divergent, 1u);
    EXPECT_EQ(divergent(), 1u);
    EXPECT_EQ(counts_.basicBlocks.at(20).lanes, 16u);
    EXPECT_EQ(executions(40), 1u);
    EXPECT_EQ(counts_.globalLoads.requests, 1u);
}

TEST_F(WarpReplayTest, InnerLoopsOfDifferentLengthsMeetInEveryRoundOfTheOuter) {
    // for j in 0..2: for i in 0..trips(lane, j): body (20), test of i (30); then test of j (40)
    for (unsigned lane = 0; lane < 2; ++lane) {
        enter(lane);
        blocks(lane, {10});
        for (unsigned j = 0; j < 2; ++j) {
            const unsigned trips = lane == 0 ? 1 + 2 * j : 3 - 2 * j;
            blocks(lane, {30});
            for (unsigned i = 0; i < trips; ++i) {
                blocks(lane, {20});
                load(lane, 22, 0x1000);
                blocks(lane, {30});
            }
            blocks(lane, {40});
        }
        blocks(lane, {50});
        leave(lane);
    }
    run();
    EXPECT_EQ(counts_.globalLoads.requests, 6u);  // 3 in each round: the longer lane decides
    EXPECT_EQ(executions(40), 2u);
    EXPECT_EQ(divergent(), 2u);  // one exit before the other, in each round
}

TEST_F(WarpReplayTest, ASwitchSplitsOnceForEachFurtherCase) {
    for (unsigned lane = 0; lane < 32; ++lane) {
        enter(lane);
        blocks(lane, {10, 20 + 10 * (lane % 4), 90});
        leave(lane);
    }
    run();
    EXPECT_EQ(divergent(), 3u);
    EXPECT_EQ(executions(90), 1u);
}

TEST_F(WarpReplayTest, ALaneThatReturnsEarlyWaitsAtTheEnd) {
    for (unsigned lane = 0; lane < 4; ++lane) {
        enter(lane);
        if (lane == 3) {
            blocks(lane, {10, 20, 90});
        } else {
            blocks(lane, {10, 30, 90});
        }
        leave(lane);
    }
    run();
    EXPECT_EQ(divergent(), 1u);
    EXPECT_EQ(executions(90), 1u);
    EXPECT_EQ(counts_.basicBlocks.at(90).lanes, 4u);
}

TEST_F(WarpReplayTest, LanesInACalleeGoBeforeThoseBehindTheCall) {
    for (unsigned lane = 0; lane < 2; ++lane) {
        enter(lane);
        blocks(lane, {10});
        enter(lane, 15);
        blocks(lane, {100});
        if (lane == 1) blocks(lane, {110, 120});
        leave(lane);
        load(lane, 17, 0x1000 + 4 * lane);
        leave(lane);
    }
    run();
    EXPECT_EQ(counts_.globalLoads.requests, 1u);
    EXPECT_EQ(counts_.basicBlocks.at(100).divergent, 1u);  // one lane returns, one goes on
}

TEST_F(WarpReplayTest, CallsFromDifferentPlacesAreNotMixed) {
    for (unsigned lane = 0; lane < 2; ++lane) {
        enter(lane);
        blocks(lane, {10, lane == 0 ? 20u : 30u});
        enter(lane, lane == 0 ? 25 : 35);
        blocks(lane, {100});
        load(lane, 102, 0x1000);
        leave(lane);
        blocks(lane, {40});
        leave(lane);
    }
    run();
    EXPECT_EQ(executions(100), 2u);
    EXPECT_EQ(counts_.globalLoads.requests, 2u);
    EXPECT_EQ(executions(40), 1u);
}

TEST_F(WarpReplayTest, GoesOnlyAsFarAsAllRunningLanesHaveCome) {
    enter(0);
    enter(1);
    blocks(0, {10, 20});
    run(0x3);  // lane 1 has not said which block it comes to
    EXPECT_EQ(executions(10), 0u);
    blocks(1, {10, 30, 40});
    blocks(0, {40});
    leave(0);
    leave(1);
    run();
    EXPECT_EQ(divergent(), 1u);
    EXPECT_EQ(executions(10), 1u);
    EXPECT_EQ(executions(40), 1u);
}

TEST_F(WarpReplayTest, WhatIsOutsideOfTheKernelIsNotCounted) {
    blocks(0, {5});
    enter(0);
    blocks(0, {10});
    leave(0);
    blocks(0, {6});
    run();
    EXPECT_EQ(counts_.basicBlocks.size(), 1u);
}

TEST_F(WarpReplayTest, LanesThatFillUpWithZerosCopyOnTheirOwn) {
    const auto copy = [&](unsigned lane, uint8_t read) {
        replay_->record(lane, {4 * lane, 12, EventKind::CopyTo, 4});
        replay_->record(lane, {0x1000 + 4 * lane, 12, EventKind::CopyFrom, read});
    };
    for (unsigned lane = 0; lane < 32; ++lane) {
        enter(lane);
        copy(lane, 4);
        copy(lane, lane % 2 ? 0 : 4);
        leave(lane);
    }
    run();
    EXPECT_EQ(counts_.copies.instructions, 3u);
    EXPECT_EQ(counts_.copies.requests, 2u);
    EXPECT_EQ(counts_.copies.requested, 8u);
    EXPECT_EQ(counts_.copies.bytes, 128u + 64u);
    EXPECT_EQ(counts_.copies.sharedBytes, 256u);
    EXPECT_EQ(counts_.copies.wavefronts, 3u);
    EXPECT_EQ(counts_.globalLoads.requests, 0u);
    EXPECT_EQ(counts_.sharedStores.requests, 0u);
}

}  // namespace
