// What follows from the times of copies.
#include "transferRows.cuh"

#include <gtest/gtest.h>

namespace {

lab::Statistics took(double milliseconds) {
    return {milliseconds, milliseconds, milliseconds, 1};
}

TEST(TransferRows, HalfTheRateIsReachedWhereTheBytesTakeAsLongAsTheLatency) {
    // 0.5 ms, and 2 ms for 1000 bytes: the latency is that of 250.
    EXPECT_DOUBLE_EQ(transfer::halfRateBytes(0.5, 2.5, 1000).value(), 250);
    // Exactly there.
    EXPECT_DOUBLE_EQ(transfer::halfRateBytes(0.5, 1, 1000).value(), 1000);
}

TEST(TransferRows, ACopyThatIsAllLatencySaysNothingOfTheRate) {
    EXPECT_FALSE(transfer::halfRateBytes(0.5, 0.75, 1000));
    EXPECT_FALSE(transfer::halfRateBytes(0.5, 0.25, 1000));
    EXPECT_FALSE(transfer::halfRateBytes(0, 0, 1000));
}

// In order: median, min, max, count.
TEST(TransferRows, TheLatencyIsOfMedians) {
    const transfer::CopyTimes times = {{2.5, 1, 9, 3}, {0.25, 0.125, 4, 3}};
    const auto cells = transfer::latencyCells(times, {0.5, 0.25, 8, 3}, 1024);
    ASSERT_EQ(cells.size(), 3u);
    EXPECT_EQ(cells[0].shown(), "250.0");
    EXPECT_EQ(cells[1].shown(), "500.0");
    EXPECT_EQ(cells[2].shown(), "0.2");  // of 256 bytes
}

TEST(TransferRows, AnAllocationPaysAfterSoManyCopies) {
    EXPECT_DOUBLE_EQ(transfer::paysAfter(6, 1.5).value(), 4);
    EXPECT_DOUBLE_EQ(transfer::paysAfter(0, 1.5).value(), 0);
}

TEST(TransferRows, AnAllocationThatIsFasterPaysAtOnce) {
    EXPECT_DOUBLE_EQ(transfer::paysAfter(-1, 1.5).value(), 0);
}

TEST(TransferRows, AnAllocationNeverPaysWithoutFasterCopies) {
    EXPECT_FALSE(transfer::paysAfter(6, 0));
    EXPECT_FALSE(transfer::paysAfter(6, -1));
    EXPECT_FALSE(transfer::paysAfter(-6, -1));
}

TEST(TransferRows, KindsAreComparedWithTheFirst) {
    transfer::Medians medians;
    medians.note("first", "copy", took(8));
    medians.note("second", "copy", took(3));
    medians.note("third", "copy", took(9));
    EXPECT_DOUBLE_EQ(medians.more("second", "copy").value(), -5);
    EXPECT_DOUBLE_EQ(medians.more("third", "copy").value(), 1);
    EXPECT_FALSE(medians.more("first", "copy"));
}

TEST(TransferRows, WhatWasNotMeasuredIsNotCompared) {
    transfer::Medians medians;
    medians.note("zeroth", "copy", {});
    medians.note("first", "copy", took(8));
    medians.note("second", "copy", {});
    medians.note("second", "read", took(2));
    EXPECT_FALSE(medians.more("second", "copy"));
    EXPECT_FALSE(medians.more("second", "read"));
    medians.note("third", "copy", took(2));
    EXPECT_DOUBLE_EQ(medians.more("third", "copy").value(), -6);
}

}  // namespace
