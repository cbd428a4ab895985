#include "busBandwidth.h"

#include <gtest/gtest.h>

#include <set>

namespace {

TEST(BusBandwidth, OfKnownBuses) {
    EXPECT_DOUBLE_EQ(busBytesPerSecond(64, 1e9), 16e9);         // DDR at 1 GHz
    EXPECT_DOUBLE_EQ(busBytesPerSecond(1024, 3.2e9), 819.2e9);  // a stack of HBM3
    EXPECT_DOUBLE_EQ(busBytesPerSecond(6016, 3.201e9), 4814.304e9);
}

TEST(BusBandwidth, OfABurst) {
    EXPECT_EQ(burstBytes(64), 64u);
    EXPECT_EQ(burstBytes(32), 32u);
    EXPECT_DOUBLE_EQ(burstSeconds(1e9), 4e-9);
    EXPECT_DOUBLE_EQ(burstSeconds(3.2e9), 1.25e-9);
    // The bytes of a burst over its time are the bandwidth.
    EXPECT_DOUBLE_EQ(burstBytes(48) / burstSeconds(7e8), busBytesPerSecond(48, 7e8));
}

TEST(BusBandwidth, WholeUnitsAreEnough) {
    EXPECT_EQ(unitsFor(32e9, 16e9), 2u);
    EXPECT_EQ(unitsFor(128e9, 16e9), 8u);
    EXPECT_EQ(unitsFor(129e9, 16e9), 9u);
    EXPECT_EQ(unitsFor(1e9, 16e9), 1u);
    EXPECT_EQ(unitsFor(45e-9, 1.25e-9), 36u);
    EXPECT_EQ(unitsFor(45.001e-9, 1.25e-9), 37u);
    EXPECT_EQ(unitsFor(2.1, 0.7), 3u);  // 3.0000000000000004 as doubles divide
}

// Counts the channels instead of computing them.
TEST(BusBandwidth, ChannelsInPlainOrder) {
    for (const unsigned channels : {1u, 6u, 8u, 32u, 94u, 188u}) {
        for (const unsigned width : {32u, 256u}) {
            for (const std::size_t stride : {1, 32, 96, 256, 288, 512, 2048, 2080, 24064, 524288}) {
                std::set<std::size_t> used;
                for (std::size_t i = 0; i < std::size_t{channels} * width; ++i)
                    used.insert(i * stride / width % channels);
                EXPECT_EQ(channelsInPlainOrder(stride, channels, width), used.size())
                    << stride << " bytes apart, " << channels << " channels of " << width;
            }
        }
    }
}

}  // namespace
