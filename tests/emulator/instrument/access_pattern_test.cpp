// What asynchronous copies, wide loads of shared memory and atomics cost, as ncu reads it on an
// H200. (Other accesses are in profiler/constructs.cu and sharing.cu.)
#include "instrument/profile/access_pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace {

constexpr uint32_t kAllLanes = 0xffffffffu;

using Address = std::function<uintptr_t(unsigned)>;

emu::CopyCost copy(uint32_t size, const Address& from, const Address& to, uint32_t read = ~0u,
                   uint32_t lanes = kAllLanes) {
    emu::WarpCopy copy;
    copy.lanes = lanes;
    copy.size = size;
    copy.read = std::min(read, size);
    unsigned count = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
        if ((lanes >> lane & 1) == 0) continue;
        copy.from[count] = 0x10000 + from(lane);
        copy.to[count++] = to(lane);
    }
    return emu::copyCostOf(copy);
}
Address every(uintptr_t bytes) {
    return [=](unsigned i) { return bytes * i; };
}
// Rows of so many lanes with `size` bytes each, `row` bytes apart.
Address rows(unsigned lanes, uintptr_t size, uintptr_t row) {
    return [=](unsigned i) { return i / lanes * row + i % lanes * size; };
}

#define EXPECT_MOVED(cost, Requested, Sectors, Bytes) \
    do {                                              \
        const emu::CopyCost moved = (cost);           \
        EXPECT_EQ(moved.requested, Requested);        \
        EXPECT_EQ(moved.sectors, Sectors);            \
        EXPECT_EQ(moved.bytes, Bytes);                \
    } while (false)
#define EXPECT_STORED(cost, Wavefronts, Conflicts) \
    do {                                           \
        const emu::CopyCost stored = (cost);       \
        EXPECT_EQ(stored.wavefronts, Wavefronts);  \
        EXPECT_EQ(stored.conflicts, Conflicts);    \
    } while (false)

// Sectors of an atomic operation by all lanes, `distance` bytes from one of so many different
// addresses to the next.
unsigned atomicSectors(uint32_t size, unsigned different, uintptr_t distance) {
    emu::WarpAccess access;
    access.lanes = kAllLanes;
    access.size = size;
    for (unsigned lane = 0; lane < 32; ++lane)
        access.address[lane] = 0x10000 + lane % different * distance;
    return emu::atomicSectorsOf(access);
}

TEST(AtomicCost, OfNeighbours) {
    const unsigned ofInt[] = {32, 16, 8, 4, 4, 4}, ofLong[] = {32, 16, 8, 8, 8, 8};
    for (unsigned i = 0; i < 6; ++i) {
        EXPECT_EQ(atomicSectors(4, 1u << i, 4), ofInt[i]);
        EXPECT_EQ(atomicSectors(8, 1u << i, 8), ofLong[i]);
    }
}

TEST(AtomicCost, OfSectorsOfTheirOwn) {
    for (unsigned i = 0; i < 6; ++i) EXPECT_EQ(atomicSectors(4, 1u << i, 32), 32u);
}

TEST(AsyncCopyCost, OfSectors) {
    EXPECT_MOVED(copy(4, every(4), every(4)), 4u, 4u, 128u);
    EXPECT_MOVED(copy(4, every(32), every(4)), 32u, 32u, 128u);
    EXPECT_MOVED(copy(4, every(0), every(4)), 1u, 1u, 4u);
    EXPECT_MOVED(copy(4, every(4), every(128)), 4u, 4u, 128u);
    EXPECT_MOVED(copy(8, [](unsigned i) { return 8 * i + 8; }, every(8)), 9u, 9u, 256u);
    EXPECT_MOVED(copy(4, every(4), every(4), 4, 0xaaaaaaaau), 4u, 4u, 64u);
}

TEST(AsyncCopyCost, OfSectorsThatDoNotFit) {
    EXPECT_MOVED(copy(16, every(16), every(16)), 16u, 16u, 512u);
    EXPECT_MOVED(copy(16, every(32), every(16)), 16u, 32u, 512u);
    EXPECT_MOVED(copy(16, every(128), every(16)), 32u, 32u, 512u);
    EXPECT_MOVED(copy(16, every(0), every(16)), 16u, 32u, 16u);
    EXPECT_MOVED(copy(16, every(16), every(32)), 32u, 32u, 512u);
    EXPECT_MOVED(copy(16, [](unsigned i) { return 16 * i + 16; }, every(16)), 20u, 32u, 512u);
    EXPECT_MOVED(copy(16, rows(2, 16, 512), rows(2, 16, 48)), 24u, 24u, 512u);
    EXPECT_MOVED(copy(16, rows(4, 16, 512), rows(4, 16, 80)), 20u, 24u, 512u);
}

TEST(AsyncCopyCost, OfTurnsThroughTheBanks) {
    EXPECT_STORED(copy(4, every(4), every(4)), 1u, 0u);
    EXPECT_STORED(copy(4, every(8), every(4)), 2u, 1u);
    EXPECT_STORED(copy(4, every(0), every(4)), 32u, 31u);
    EXPECT_STORED(copy(4, every(4), every(8)), 2u, 1u);
    EXPECT_STORED(copy(4, every(4), every(128)), 32u, 31u);
    EXPECT_STORED(copy(4, every(32), every(32)), 8u, 7u);
    EXPECT_STORED(copy(8, every(8), every(8)), 2u, 0u);
    EXPECT_STORED(copy(8, every(0), every(8)), 32u, 30u);
    EXPECT_STORED(copy(8, every(64), every(64)), 16u, 14u);
    EXPECT_STORED(copy(8, rows(4, 8, 128), every(8)), 8u, 6u);
}

// The last lane of a pass that writes waits for the pass that reads for it.
TEST(AsyncCopyCost, OfTurnsThatReadAndTurnsThatWrite) {
    const Address from = rows(8, 4, 128);
    const auto column = [](uintptr_t row) -> Address {
        return [=](unsigned i) { return 4 * (i % 8 * row + i / 8); };
    };
    EXPECT_STORED(copy(4, from, rows(8, 4, 32)), 4u, 3u);
    EXPECT_STORED(copy(4, from, rows(8, 4, 36)), 5u, 4u);
    EXPECT_STORED(copy(4, from, column(64)), 11u, 10u);
    EXPECT_STORED(copy(4, from, column(65)), 7u, 6u);
    EXPECT_STORED(copy(4, from, column(68)), 4u, 3u);
}

TEST(AsyncCopyCost, OfLinesOfBothMemories) {
    EXPECT_STORED(copy(16, every(16), every(16)), 4u, 0u);
    EXPECT_STORED(copy(16, every(32), every(16)), 32u, 0u);
    EXPECT_STORED(copy(16, every(16), every(32)), 32u, 0u);
    EXPECT_STORED(copy(16, [](unsigned i) { return 16 * i + 16; }, every(16)), 12u, 0u);
    EXPECT_STORED(copy(16, rows(2, 16, 128), every(16)), 16u, 0u);
    EXPECT_STORED(copy(16, rows(4, 16, 512), every(16)), 8u, 0u);
    EXPECT_STORED(copy(16, rows(8, 16, 512), rows(8, 16, 144)), 10u, 0u);
}

TEST(AsyncCopyCost, OfZeros) {
    EXPECT_MOVED(copy(4, every(4), every(4), 0), 0u, 0u, 0u);
    EXPECT_STORED(copy(4, every(4), every(4), 0), 1u, 0u);
    EXPECT_STORED(copy(4, every(0), every(8), 0), 2u, 1u);
    EXPECT_MOVED(copy(16, every(16), every(16), 0), 0u, 0u, 0u);
    EXPECT_STORED(copy(16, every(16), every(16), 0), 4u, 0u);
    EXPECT_MOVED(copy(16, every(16), every(16), 8), 16u, 16u, 512u);
    EXPECT_STORED(copy(16, every(16), every(16), 8), 8u, 0u);
    EXPECT_EQ(copy(16, every(16), every(16), 0).sharedBytes, 512u);
}

// The wavefronts of a warp's load of `size` bytes per lane. Lanes i and i ^ apart load the same
// bytes. If `apart` is 0, each lane loads bytes of its own.
unsigned wavefronts(uint32_t size, unsigned apart) {
    emu::WarpAccess load = {};
    load.lanes = kAllLanes;
    load.size = size;
    for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned index = apart == 0 ? lane : lane / (2 * apart) * apart + lane % apart;
        load.address[lane] = 0x10000 + size * index;
    }
    return emu::sharedCostOf(load).wavefronts;
}

TEST(SharedCost, OfWideLoadsThatLanesShareInPairs) {
    EXPECT_EQ(wavefronts(16, 0), 4u);
    EXPECT_EQ(wavefronts(16, 1), 2u);
    EXPECT_EQ(wavefronts(16, 2), 2u);
    EXPECT_EQ(wavefronts(16, 4), 4u);
    EXPECT_EQ(wavefronts(8, 0), 2u);
    EXPECT_EQ(wavefronts(8, 1), 1u);
    EXPECT_EQ(wavefronts(8, 2), 1u);
    EXPECT_EQ(wavefronts(8, 4), 2u);
}

}  // namespace
