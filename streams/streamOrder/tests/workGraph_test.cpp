#include "workGraph.h"

#include <gmock/gmock.h>

namespace {

const WorkGraph kNothing;
const WorkGraph kChain = {inStream(0), inStream(1).waitingFor({0}), inStream(0).waitingFor({1})};
const WorkGraph kDiamond = {inStream(0), inStream(0).waitingFor({0}), inStream(1).waitingFor({0}),
                            inStream(0).waitingFor({1, 2})};
const WorkGraph kApart = {inStream(0), inStream(1)};

TEST(WorkGraph, Waits) {
    EXPECT_EQ(waitsIn(kNothing), 0u);
    EXPECT_EQ(waitsIn(kChain), 2u);
    EXPECT_EQ(waitsIn(kDiamond), 4u);
    EXPECT_EQ(waitsIn(kApart), 0u);
}

TEST(WorkGraph, LongestWay) {
    EXPECT_EQ(longestWay(kNothing), 0u);
    EXPECT_EQ(longestWay(kChain), 3u);
    EXPECT_EQ(longestWay(kDiamond), 3u);
    EXPECT_EQ(longestWay(kApart), 1u);
}

TEST(WorkGraph, OneStreamIsAWayThroughAll) {
    EXPECT_EQ(longestWay(inOneStream(kDiamond)), 4u);
    EXPECT_EQ(longestWay(inOneStream(kApart)), 2u);
    EXPECT_EQ(waitsIn(inOneStream(kDiamond)), 4u);
    EXPECT_EQ(wrongOrder(inOneStream(kApart), {{10, 15, 0}, {15, 20, 0}}, 5), "");
    EXPECT_EQ(wrongOrder(inOneStream(kApart), {{10, 15, 0}, {14, 20, 0}}, 5),
              "piece 1 began before piece 0 had ended");
}

TEST(WorkGraph, Values) {
    EXPECT_THAT(valuesOf(kChain), testing::ElementsAre(1, 3, 6));
    EXPECT_THAT(valuesOf(kDiamond), testing::ElementsAre(1, 3, 4, 11));
    EXPECT_THAT(valuesOf(kApart), testing::ElementsAre(1, 2));
}

TEST(WorkGraph, Order) {
    EXPECT_EQ(wrongOrder(kNothing, {}, 5), "");
    // The two in the middle may overlap; each begins when what it waits for has just ended.
    EXPECT_EQ(wrongOrder(kDiamond, {{10, 15, 0}, {15, 20, 0}, {15, 21, 0}, {21, 26, 0}}, 5), "");
    EXPECT_EQ(wrongOrder(kDiamond, {{10, 15, 0}, {15, 20, 0}, {14, 21, 0}, {21, 26, 0}}, 5),
              "piece 2 began before piece 0 had ended");
    EXPECT_EQ(wrongOrder(kDiamond, {{10, 15, 0}, {15, 20, 0}, {15, 22, 0}, {21, 26, 0}}, 5),
              "piece 3 began before piece 2 had ended");
    EXPECT_EQ(wrongOrder(kDiamond, {{10, 15, 0}, {15, 19, 0}, {15, 20, 0}, {20, 25, 0}}, 5),
              "piece 1 did not stay for 5 ns");
    EXPECT_EQ(wrongOrder(kApart, {{10, 15, 0}, {20, 12, 0}}, 5), "piece 1 did not stay for 5 ns");
}

}  // namespace
