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
    void SetUp() override { replay_->reset(0, nullptr); }

    // The kernel's function, as every lane enters it.
    void enter(unsigned lane) { replay_->traceOf(lane).emplace_back(0, 1, EventKind::Enter, 0); }
    void leave(unsigned lane) { replay_->traceOf(lane).emplace_back(0, 0, EventKind::Leave, 0); }
    void blocks(unsigned lane, const std::vector<uint32_t>& places) {
        for (const uint32_t place : places) {
            replay_->traceOf(lane).emplace_back(0, place, EventKind::BasicBlock, 0);
        }
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

// Each lane calls a function and stores its result in another round of a loop. Where the linker has
// put the function makes no difference.
TEST_F(WarpReplayTest, WhereACalledFunctionLiesDoesNotMatter) {
    for (const uint32_t function : {2u, 1000u}) {
        SetUp();
        counts_ = {};
        for (const unsigned lane : {0u, 1u}) {
            enter(lane);
            for (const unsigned round : {0u, 1u}) {
                blocks(lane, {10});
                if (round == lane) {
                    std::vector<Event>& trace = replay_->traceOf(lane);
                    blocks(lane, {20});
                    trace.emplace_back(0, 21, EventKind::Enter, 0);
                    blocks(lane, {function});
                    leave(lane);
                    trace.emplace_back(1, function + 1, EventKind::BasicBlock, 0);
                    trace.emplace_back(4 * lane, 22, EventKind::GlobalStore, 4);
                }
                blocks(lane, {30});
            }
            leave(lane);
        }
        run();
        EXPECT_EQ(counts_.globalStores.requests, 2u) << function;
    }
}

TEST_F(WarpReplayTest, LanesThatFillUpWithZerosCopyOnTheirOwn) {
    const auto copy = [&](unsigned lane, uint8_t read) {
        replay_->traceOf(lane).emplace_back(4 * lane, 12, EventKind::CopyTo, 4);
        replay_->traceOf(lane).emplace_back(0x1000 + 4 * lane, 12, EventKind::CopyFrom, read);
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
