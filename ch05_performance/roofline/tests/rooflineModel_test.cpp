#include "rooflineModel.h"

#include <gtest/gtest.h>

namespace {

constexpr Roofs kRoofs = {600, 40};  // they meet at 15 operations per byte

TEST(RooflineModel, BelowTheRidgeMemoryIsTheLimit) {
    EXPECT_DOUBLE_EQ(kRoofs.ridge(), 15);
    EXPECT_DOUBLE_EQ(kRoofs.attainable(0.25), 10);
    EXPECT_DOUBLE_EQ(kRoofs.attainable(14), 560);
    EXPECT_STREQ(kRoofs.limit(14.9), "memory");
}

TEST(RooflineModel, FromTheRidgeOnArithmeticIs) {
    EXPECT_DOUBLE_EQ(kRoofs.attainable(15), 600);
    EXPECT_DOUBLE_EQ(kRoofs.attainable(1000), 600);
    EXPECT_STREQ(kRoofs.limit(15), "FP32");
}

TEST(RooflineModel, WithoutOperationsOrAPeakThereIsNoRate) {
    EXPECT_EQ(kRoofs.attainable(0), 0);
    EXPECT_EQ((Roofs{0, 40}.attainable(3)), 0);
    EXPECT_EQ((Roofs{600, 0}.attainable(3)), 0);
}

TEST(RooflineModel, SharedMemoryDelivers128BytesPerCycle) {
    EXPECT_DOUBLE_EQ(sharedBandwidth(3, 1e9), 384e9);
}

}  // namespace
