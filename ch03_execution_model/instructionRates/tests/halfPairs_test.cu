#include "halfPairs.cuh"

#include <gtest/gtest.h>

namespace {

// IEEE 754, binary16.
TEST(HalfPairs, BitsOfHalves) {
    EXPECT_EQ(nearestHalf(1), 0x3C00);
    EXPECT_EQ(nearestHalf(-2), 0xC000);
    EXPECT_EQ(nearestHalf(65504), 0x7BFF);    // the largest
    EXPECT_EQ(nearestHalf(0x1p-14), 0x0400);  // the smallest normal one
    EXPECT_EQ(nearestHalf(0x1p-24), 0x0001);  // the smallest one
    EXPECT_EQ(nearestHalf(0), 0);
}

TEST(HalfPairs, RoundsToNearestAndTiesToEven) {
    EXPECT_EQ(nearestHalf(1 + 0x1p-11), 0x3C00);            // half way to the next
    EXPECT_EQ(nearestHalf(1 + 0x1p-11 + 0x1p-40), 0x3C01);  // a little more
    EXPECT_EQ(nearestHalf(1 + 3 * 0x1p-11), 0x3C02);
    EXPECT_EQ(nearestHalf(0x1p-25), 0);
    EXPECT_EQ(nearestHalf(3 * 0x1p-25), 2);
    EXPECT_EQ(nearestHalf(2047.0 / 1024 + 0x1p-11), 0x4000);  // carries into the exponent
}

TEST(HalfPairs, EachHalfIsItsOwnNearest) {
    for (unsigned bits = 0; bits < 0x7C00; ++bits) {
        const double value = halfValue(static_cast<std::uint16_t>(bits));
        EXPECT_EQ(nearestHalf(value), bits);
        EXPECT_EQ(nearestHalf(-value), bits | 0x8000);
    }
    EXPECT_EQ(halfValue(0xBC00), -1);
}

}  // namespace
