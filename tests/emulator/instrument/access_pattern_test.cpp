#include "instrument/access_pattern.h"

#include <gtest/gtest.h>

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

}  // namespace
