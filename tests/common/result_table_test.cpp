// The table of an exercise, as a GPU and as an emulation would have it.
#include "result_table.h"

#include <gtest/gtest.h>

#include <sstream>

namespace {

lab::Row rowOf(const std::string& kernel) {
    lab::Row row;
    row.kernel = kernel;
    row.grid = "2097152";
    row.block = "32x32";
    row.device = "some GPU";
    row.parameters = "size=1";
    row.work = lab::bytes(30e9);
    row.peak = 4814e9;
    row.baseline = 30.0;
    row.time = {15.0, 14.5, 16.25, 20};
    return row;
}

std::vector<std::string> printed(const std::string& kernel, bool emulated, bool csv) {
    testing::internal::CaptureStdout();
    const lab::Row row = rowOf(kernel);
    lab::ResultTable table("exercise", lab::Columns::kLadder, {}, row.work.unit, emulated, csv, {});
    table.row(row);
    std::istringstream text(testing::internal::GetCapturedStdout());
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
}

const std::string kLongest = "reduceCompleteUnrollWarps8";

TEST(ResultTable, ALadderFillsALineOnAGpu) {
    const auto lines = printed(kLongest, false, false);
    EXPECT_EQ(lines.at(0),
              "kernel                         grid block time [ms]    GB/s % peak speedup check");
    EXPECT_EQ(lines.at(1),
              "reduceCompleteUnrollWarps8  2097152 32x32   15.0000  2000.0   41.5    2.00 ok");
    EXPECT_EQ(lines.at(0).size(), 80u);
}

TEST(ResultTable, AnEmulationHasNoRatesAndNoSpeedup) {
    const auto lines = printed(kLongest, true, false);
    EXPECT_EQ(lines.at(0), "kernel                          grid  block  time [ms]  check");
    EXPECT_EQ(lines.at(1), "reduceCompleteUnrollWarps8   2097152  32x32    15.0000  ok");
    EXPECT_EQ(printed("k", true, true).at(1),
              "exercise,some GPU,size=1,k,2097152,32x32,20,15,14.5,16.25,2000,41.5454923,2,ok");
}

TEST(Finding, IsOkWhereNothingIsWrongAndNoOtherWordStands) {
    lab::Finding finding;
    EXPECT_TRUE(finding.ok());
    finding.word = "lucky";  // a race that did no harm
    EXPECT_FALSE(finding.ok());
    EXPECT_FALSE(lab::Finding("element 3 is 4, expected 5").ok());
}

}  // namespace
