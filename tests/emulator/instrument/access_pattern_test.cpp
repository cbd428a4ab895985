#include "instrument/profile/access_pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace {

constexpr uint32_t kAllLanes = 0xffffffffu;

// All lanes access `size` bytes; addressOf maps a lane to its address.
emu::WarpAccess accessOf(uint32_t size, const std::function<uintptr_t(unsigned)>& addressOf,
                         uint32_t lanes = kAllLanes) {
    emu::WarpAccess access;
    access.lanes = lanes;
    access.size = size;
    unsigned count = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (lanes >> lane & 1) access.address[count++] = 0x10000 + addressOf(lane);
    }
    return access;
}

unsigned sectors(uint32_t size, const std::function<uintptr_t(unsigned)>& addressOf,
                 uint32_t lanes = kAllLanes) {
    return emu::sectorsOf(accessOf(size, addressOf, lanes));
}

TEST(Sectors, OfNeighbours) {
    EXPECT_EQ(sectors(1, [](unsigned i) { return i; }), 1u);
    EXPECT_EQ(sectors(2, [](unsigned i) { return 2 * i; }), 2u);
    EXPECT_EQ(sectors(4, [](unsigned i) { return 4 * i; }), 4u);
    EXPECT_EQ(sectors(8, [](unsigned i) { return 8 * i; }), 8u);
    EXPECT_EQ(sectors(16, [](unsigned i) { return 16 * i; }), 16u);
}

TEST(Sectors, MisalignedTouchOneMore) {
    EXPECT_EQ(sectors(4, [](unsigned i) { return 4 * i + 4; }), 5u);
    EXPECT_EQ(sectors(4, [](unsigned i) { return 4 * i + 32; }), 4u);
    EXPECT_EQ(sectors(4, [](unsigned i) { return 4 * i + 30; }), 5u);  // one lane touches two
}

TEST(Sectors, Strided) {
    EXPECT_EQ(sectors(4, [](unsigned i) { return 8 * i; }), 8u);
    EXPECT_EQ(sectors(4, [](unsigned i) { return 32 * i; }), 32u);
    EXPECT_EQ(sectors(4, [](unsigned i) { return 4096 * i; }), 32u);
}

TEST(Sectors, TheSameAreCountedOnce) {
    EXPECT_EQ(sectors(4, [](unsigned) { return 0; }), 1u);
    EXPECT_EQ(sectors(4, [](unsigned i) { return 4 * (31 - i); }), 4u);
    EXPECT_EQ(sectors(4, [](unsigned i) { return 64 * (i % 2); }), 2u);
}

TEST(Sectors, OnlyOfActiveLanes) {
    EXPECT_EQ(sectors(4, [](unsigned i) { return 4 * i; }, 1u << 31), 1u);
    EXPECT_EQ(sectors(4, [](unsigned i) { return 4 * i; }, 0x00ff00ffu), 2u);
}

unsigned bytes(uint32_t size, const std::function<uintptr_t(unsigned)>& addressOf,
               uint32_t lanes = kAllLanes) {
    return emu::bytesOf(accessOf(size, addressOf, lanes));
}

TEST(Bytes, OfLanesThatShareNone) {
    EXPECT_EQ(bytes(4, [](unsigned i) { return 4 * i; }), 128u);
    EXPECT_EQ(bytes(4, [](unsigned i) { return 4 * (31 - i); }), 128u);
    EXPECT_EQ(bytes(16, [](unsigned i) { return 64 * i; }), 512u);
    EXPECT_EQ(bytes(4, [](unsigned i) { return 4 * i; }, 0x00ff00ffu), 64u);
}

TEST(Bytes, ThatLanesShareAreCountedOnce) {
    EXPECT_EQ(bytes(4, [](unsigned) { return 0; }), 4u);
    EXPECT_EQ(bytes(8, [](unsigned i) { return 8 * (i / 2); }), 128u);
    EXPECT_EQ(bytes(1, [](unsigned i) { return i % 8; }), 8u);
    EXPECT_EQ(bytes(4, [](unsigned i) { return i % 2 == 0 ? 4096 : 4 * i; }), 68u);
}

TEST(Bytes, ThatLanesShareInPart) {
    EXPECT_EQ(bytes(16, [](unsigned i) { return 4 * i; }), 140u);
    EXPECT_EQ(bytes(16, [](unsigned i) { return 4 * (i * 5 % 32); }), 140u);
    EXPECT_EQ(bytes(4, [](unsigned i) { return i; }, 0x5u), 6u);
}

TEST(Bytes, NeverMoreThanTheSectorsOrTheWavefrontsHold) {
    for (const uint32_t size : {1u, 2u, 4u, 8u, 16u}) {
        for (unsigned step = 0; step <= 2 * 33 * size; ++step) {
            for (const unsigned sharing : {1u, 2u, 3u, 32u}) {
                const auto access = accessOf(size, [&](unsigned i) { return i / sharing * step; });
                EXPECT_LE(emu::bytesOf(access), emu::sectorsOf(access) * emu::kSectorSize);
                const emu::SharedCost cost = emu::sharedCostOf(access);
                EXPECT_LE(cost.bytes, cost.wavefronts * emu::kWavefrontSize);
            }
        }
    }
}

emu::SharedCost cost(uint32_t size, const std::function<uintptr_t(unsigned)>& addressOf,
                     uint32_t lanes = kAllLanes) {
    return emu::sharedCostOf(accessOf(size, addressOf, lanes));
}

#define EXPECT_COST(COST, WAVEFRONTS, CONFLICTS, BYTES) \
    do {                                                \
        const emu::SharedCost measured = COST;          \
        EXPECT_EQ(measured.wavefronts, WAVEFRONTS);     \
        EXPECT_EQ(measured.conflicts, CONFLICTS);       \
        EXPECT_EQ(measured.bytes, BYTES);               \
    } while (false)

TEST(SharedCost, OfWordsByStride) {
    EXPECT_COST(cost(4, [](unsigned i) { return 4 * i; }), 1u, 0u, 128u);
    EXPECT_COST(cost(4, [](unsigned i) { return 8 * i; }), 2u, 1u, 128u);
    EXPECT_COST(cost(4, [](unsigned i) { return 4 * 32 * i; }), 32u, 31u, 128u);
    EXPECT_COST(cost(4, [](unsigned i) { return 4 * 33 * i; }), 1u, 0u, 128u);
}

TEST(SharedCost, OneWordMayBeReadByAll) {
    EXPECT_COST(cost(4, [](unsigned) { return 0; }), 1u, 0u, 4u);
    EXPECT_COST(cost(1, [](unsigned i) { return i; }), 1u, 0u, 32u);
    EXPECT_COST(cost(2, [](unsigned i) { return 8 * i; }), 2u, 1u, 64u);
}

TEST(SharedCost, OfEightBytesGoesByHalves) {
    EXPECT_COST(cost(8, [](unsigned i) { return 8 * i; }), 2u, 0u, 256u);
    EXPECT_COST(cost(8, [](unsigned i) { return 16 * i; }), 4u, 2u, 256u);
    EXPECT_COST(cost(8, [](unsigned i) { return 128 * i; }), 32u, 30u, 256u);
    EXPECT_COST(cost(8, [](unsigned i) { return 64 * (i % 16); }), 16u, 14u, 128u);
    EXPECT_COST(cost(8, [](unsigned i) { return 8 * (i / 2); }), 1u, 0u, 128u);
}

TEST(SharedCost, OfSixteenBytesGoesByQuarters) {
    EXPECT_COST(cost(16, [](unsigned i) { return 16 * i; }), 4u, 0u, 512u);
    EXPECT_COST(cost(16, [](unsigned i) { return 64 * i; }), 16u, 12u, 512u);
    EXPECT_COST(cost(16, [](unsigned) { return 0; }), 2u, 0u, 16u);
    EXPECT_COST(cost(16, [](unsigned i) { return 16 * (i / 2); }), 2u, 0u, 256u);
    EXPECT_COST(cost(16, [](unsigned i) { return 128 * (i / 8); }), 4u, 2u, 64u);
}

// As ncu counts it of the fragments in registerTiles and matmulFast, on an H200.
TEST(SharedCost, PartsGoAtOnceOnlyIfLanesWantInPairsTheSame) {
    EXPECT_COST(cost(16, [](unsigned i) { return 16 * (i / 8); }), 2u, 0u, 64u);
    EXPECT_COST(cost(16, [](unsigned i) { return 16 * (i % 8); }), 4u, 0u, 128u);
    EXPECT_COST(cost(16, [](unsigned i) { return 16 * (i % 4); }), 4u, 0u, 64u);
    EXPECT_COST(cost(16, [](unsigned i) { return 16 * (i % 2); }), 2u, 0u, 32u);
    EXPECT_COST(cost(8, [](unsigned i) { return 8 * (i % 16); }), 2u, 0u, 128u);
    EXPECT_COST(cost(8, [](unsigned i) { return 8 * (i % 2); }), 1u, 0u, 16u);
}

// Of stores ncu counts no less than a wavefront for each half or quarter, on an H200.
TEST(SharedCost, PartsThatStoreTheSameGoOneByOne) {
    const auto store = [](uint32_t size, const std::function<uintptr_t(unsigned)>& addressOf,
                          uint32_t lanes = kAllLanes) {
        emu::WarpAccess access = accessOf(size, addressOf, lanes);
        access.store = true;
        return emu::sharedCostOf(access);
    };
    EXPECT_COST(store(4, [](unsigned) { return 0; }), 1u, 0u, 4u);
    EXPECT_COST(store(8, [](unsigned) { return 0; }), 2u, 0u, 8u);
    EXPECT_COST(store(8, [](unsigned i) { return 16 * i; }), 4u, 2u, 256u);
    EXPECT_COST(store(8, [](unsigned i) { return 128 * i; }), 32u, 30u, 256u);
    EXPECT_COST(store(8, [](unsigned i) { return 8 * i; }, 0xffffu), 1u, 0u, 128u);
    EXPECT_COST(store(16, [](unsigned) { return 0; }), 4u, 0u, 16u);
    EXPECT_COST(store(16, [](unsigned i) { return 16 * i; }), 4u, 0u, 512u);
    EXPECT_COST(store(16, [](unsigned i) { return 64 * i; }), 16u, 12u, 512u);
}

TEST(SharedCost, OnlyOfActiveLanes) {
    EXPECT_COST(cost(4, [](unsigned i) { return 128 * i; }, 0x3u), 2u, 1u, 8u);
    EXPECT_COST(cost(8, [](unsigned i) { return 8 * i; }, 0xffffu), 1u, 0u, 128u);
    EXPECT_COST(cost(16, [](unsigned i) { return 16 * i; }, 0xffu), 1u, 0u, 128u);
}

// ---- asynchronous copies; the numbers are those of profiler/recorded/async_copies.*.csv

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

}  // namespace
