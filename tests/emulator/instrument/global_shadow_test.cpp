#include "instrument/hazards/global_shadow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using emu::AccessKind;

constexpr unsigned kThreads = 64, kLine = 100;

struct Thread {
    unsigned block, rank;
};

// Three blocks of two warps that use one word of global memory.
class GlobalShadowTest : public testing::Test {
  protected:
    struct Block {
        explicit Block(emu::GlobalShadow& shadow) : races(shadow, clocks, fences) {}

        emu::WarpClocks clocks;
        emu::WarpFences fences;
        emu::GlobalRaces races;
    };

    GlobalShadowTest() {
        for (unsigned i = 0; i < 3; ++i) blocks_.push_back(std::make_unique<Block>(shadow_));
    }

    // Starts a new grid. Nothing that came before can race with it.
    void gridBegins() {
        ++era_;
        for (unsigned i = 0; i < blocks_.size(); ++i) {
            blocks_[i]->clocks.beginBlock(kThreads);
            blocks_[i]->races.beginBlock(era_, i);
        }
    }

    // The thread accesses the word, or `size` bytes of it that begin at byte `first`.
    void does(AccessKind kind, const Thread& thread, unsigned first = 0, unsigned size = 4) {
        emu::Access access{};
        access.address = reinterpret_cast<uintptr_t>(&word_) + first;
        access.size = size;
        access.kind = kind;
        blocks_[thread.block]->races.touch(access, kLine, thread.rank);
        blocks_[thread.block]->races.settle();
    }

    // The thread's warp synchronises, and the thread stores. Says whether the store is in a race.
    bool storeRaces(const Thread& writer, unsigned first = 0, unsigned size = 4) {
        Block& block = *blocks_[writer.block];
        block.clocks.synced(writer.rank / emu::kWarpSize, 0xffffffff);
        does(AccessKind::Store, writer, first, size);
        return !block.races.races.empty();
    }

    uint32_t word_ = 0;
    uint64_t era_ = 0;
    emu::StreamOrder order_;
    emu::GlobalShadow shadow_{order_};
    std::vector<std::unique_ptr<Block>> blocks_;
};

// Calls `each(threads)` for all sequences of up to `most` of these.
template <typename Each>
void forSequences(const std::vector<Thread>& all, size_t most, std::vector<Thread> begin,
                  const Each& each) {
    each(begin);
    if (begin.size() == most) return;
    for (const Thread& next : all) {
        std::vector<Thread> longer = begin;
        longer.push_back(next);
        forSequences(all, most, longer, each);
    }
}

// The shadow remembers two reads of a word. They must be enough to find every store that races.
TEST_F(GlobalShadowTest, WhoeverHasReadAndInWhichOrderAStoreThatRacesIsFound) {
    std::vector<Thread> all;
    for (unsigned block = 0; block < 3; ++block) {
        for (const unsigned rank : {0u, 1u, 32u}) all.push_back({block, rank});
    }
    forSequences(all, 3, {}, [&](const std::vector<Thread>& readers) {
        for (const Thread& writer : {Thread{0, 0}, Thread{0, 32}, Thread{2, 1}}) {
            for (const bool barrier : {false, true}) {
                gridBegins();
                bool expected = false;
                std::string order;
                for (const Thread& reader : readers) {
                    does(AccessKind::Load, reader);
                    expected |=
                        reader.block != writer.block ||
                        (!barrier && reader.rank / emu::kWarpSize != writer.rank / emu::kWarpSize);
                    order += testing::PrintToString(std::pair(reader.block, reader.rank));
                }
                if (barrier) blocks_[writer.block]->races.barrier(false);
                ASSERT_EQ(storeRaces(writer), expected)
                    << "read by (block, thread) " << order << ", then "
                    << (barrier ? "a barrier and " : "") << "a store by block " << writer.block
                    << ", thread " << writer.rank;
            }
        }
    });
}

TEST_F(GlobalShadowTest, OfALaterReadOnlyItsOwnBytesCount) {
    gridBegins();
    does(AccessKind::Load, {0, 0});
    does(AccessKind::Load, {0, 0}, 0, 1);
    EXPECT_TRUE(storeRaces({1, 0}, 3, 1));

    gridBegins();
    does(AccessKind::Load, {0, 0}, 0, 1);
    EXPECT_FALSE(storeRaces({1, 0}, 3, 1));
}

TEST_F(GlobalShadowTest, StoresOfWholeStructsAreAwaited) {
    using Awaited = emu::GlobalShadow::Awaited;
    constexpr uintptr_t kStruct = 0x1000;
    constexpr size_t kSize = 64;
    constexpr uint64_t kWaits = uint64_t{1} << 63;
    std::atomic<uint64_t>& first = shadow_.newSlot();
    std::atomic<uint64_t>& second = shadow_.newSlot();
    second = emu::GlobalShadow::slotFor(kStruct, kSize);
    EXPECT_EQ(shadow_.awaitStores(kStruct - 4, first), Awaited::Carried);
    EXPECT_EQ(shadow_.awaitStores(kStruct + kSize, first), Awaited::Carried);
    EXPECT_EQ(shadow_.awaitStores(kStruct + kSize - 4, first), Awaited::TooLong);
    // Where both wait, the first does not.
    second |= kWaits;
    EXPECT_EQ(shadow_.awaitStores(kStruct + kSize - 4, first), Awaited::Yields);
    first = second.load();
    EXPECT_EQ(shadow_.awaitStores(kStruct, second), Awaited::TooLong);
}

}  // namespace
