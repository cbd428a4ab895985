// The table of an exercise, as a GPU would have it. (The tests printed/NAME have all others.)
#include "result_table.h"

#include <gtest/gtest.h>

namespace {

TEST(ResultTable, ALadderFillsALineOnAGpu) {
    lab::Row row;
    row.kernel = "reduceCompleteUnrollWarps8";
    row.grid = "2097152";
    row.block = "32x32";
    row.work = lab::bytes(30e9);
    row.peak = 4814e9;
    row.baseline = 30.0;
    row.time = {15.0, 14.5, 16.25, 20};
    testing::internal::CaptureStdout();
    lab::ResultTable table("exercise", lab::Columns::kLadder, {}, lab::Work::kBytes,
                           lab::Times::kOfGpu, false, {});
    table.row(row);
    EXPECT_EQ(testing::internal::GetCapturedStdout(),
              "kernel                         grid block time [ms]    GB/s % peak speedup check\n"
              "reduceCompleteUnrollWarps8  2097152 32x32   15.0000  2000.0   41.5    2.00 ok\n");
}

// A row that has been measured, as CSV or for a reader.
std::string printed(lab::Times times, bool csv) {
    lab::Row row;
    row.kernel = "rung";
    row.work = lab::bytes(30e9);
    row.peak = 4814e9;
    row.baseline = 30.0;
    row.time = {15.0, 14.5, 16.25, 3};
    row.finding.cells = {4, 5, 6};
    testing::internal::CaptureStdout();
    lab::ResultTable table("exercise", lab::Columns::kLadder,
                           {{"own", 3, "own"},
                            {"cycles", 6, "cycles", lab::OwnColumn::kOnGpu},
                            {"turns", 5, "turns", lab::OwnColumn::kPredicted}},
                           lab::Work::kBytes, times, csv);
    table.row(row);
    return testing::internal::GetCapturedStdout();
}

TEST(ResultTable, WithoutTimesTheirCellsAreEmptyAndTheirColumnsStay) {
    EXPECT_EQ(printed(lab::Times::kNone, true),
              "exercise,device,parameters,kernel,grid,block,own,cycles,turns,reps,median_ms,min_ms,"
              "max_ms,gbps,percent_peak,speedup,check\n"
              "exercise,,,rung,-,-,4,,6,3,,,,,,,ok\n");
    EXPECT_EQ(printed(lab::Times::kNone, false),
              "kernel                          grid  block  own  turns*  check\n"
              "rung                               -      -    4       6  ok\n");
}

TEST(ResultTable, AnEmulationHasTimesButShowsNoRates) {
    EXPECT_EQ(printed(lab::Times::kOfEmulation, false),
              "kernel                          grid  block  own  turns*  time [ms]  check\n"
              "rung                               -      -    4       6    15.0000  ok\n");
}

TEST(Finding, IsOkWhereNothingIsWrongAndNoOtherWordStands) {
    lab::Finding finding;
    EXPECT_TRUE(finding.ok());
    finding.word = "lucky";  // a race that did no harm
    EXPECT_FALSE(finding.ok());
    EXPECT_FALSE(lab::Finding("element 3 is 4, expected 5").ok());
}

}  // namespace
