// The table of an exercise, as a GPU and as an emulation would have it.
#include "result_table.h"

#include <gtest/gtest.h>

#include <sstream>

namespace {

lab::Row row(const std::string& kernel, const lab::Work& work) {
    lab::Row row;
    row.kernel = kernel;
    row.grid = "2097152";
    row.block = "32x32";
    row.device = "some GPU";
    row.parameters = "size=1";
    row.work = work;
    row.peak = 4814e9;
    row.baseline = 30.0;
    row.time = {15.0, 14.5, 16.25, 20};
    return row;
}

std::vector<std::string> printed(lab::Columns kind, const std::vector<lab::OwnColumn>& own,
                                 bool emulated, bool csv, const lab::Row& row,
                                 const std::vector<std::string>& onlyInCsv = {}) {
    testing::internal::CaptureStdout();
    lab::ResultTable table("exercise", kind, own, row.work.unit, emulated, csv, onlyInCsv);
    table.row(row);
    std::istringstream text(testing::internal::GetCapturedStdout());
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
}

const std::string kLongest = "reduceCompleteUnrollWarps8";

TEST(ResultTable, ALadderFillsALineOnAGpu) {
    const auto lines =
        printed(lab::Columns::kLadder, {}, false, false, row(kLongest, lab::bytes(30e9)));
    EXPECT_EQ(lines.at(0),
              "kernel                         grid block time [ms]    GB/s % peak speedup check");
    EXPECT_EQ(lines.at(1),
              "reduceCompleteUnrollWarps8  2097152 32x32   15.0000  2000.0   41.5    2.00 ok");
    EXPECT_EQ(lines.at(0).size(), 80u);
}

TEST(ResultTable, AnEmulationHasNoRatesAndNoSpeedup) {
    const auto lines =
        printed(lab::Columns::kLadder, {}, true, false, row(kLongest, lab::bytes(30e9)));
    EXPECT_EQ(lines.at(0), "kernel                          grid  block  time [ms]  check");
    EXPECT_EQ(lines.at(1), "reduceCompleteUnrollWarps8   2097152  32x32    15.0000  ok");
    const auto csv =
        printed(lab::Columns::kLadder, {}, true, true, row("k", lab::bytes(30e9))).at(1);
    EXPECT_EQ(csv,
              "exercise,some GPU,size=1,k,2097152,32x32,20,15,14.5,16.25,2000,41.5454923,2,ok");
}

TEST(ResultTable, WithoutWorkThereIsNoRate) {
    const auto lines = printed(lab::Columns::kLadder, {}, false, false, row("k", lab::kNoRate));
    EXPECT_EQ(lines.at(0),
              "kernel                          grid  block  time [ms]  speedup  check");
}

TEST(ResultTable, SharedColumnsMayBeLeftToTheCsv) {
    const std::vector<lab::OwnColumn> own = {
        {"sum", 11, "sum"}, {"error", 8, "e"}, {"results", 7, "r"}, {"spread", 8, "s"}};
    const std::vector<std::string> left = {"grid", "block", "percent_peak", "speedup"};
    const auto lines =
        printed(lab::Columns::kLadder, own, false, false, row("k", lab::bytes(1)), left);
    EXPECT_EQ(lines.at(0),
              "kernel                     sum    error results   spread time [ms]    GB/s check");
    EXPECT_EQ(lines.at(0).size(), 80u);
    const auto csv =
        printed(lab::Columns::kLadder, own, false, true, row("k", lab::bytes(1)), left);
    EXPECT_EQ(csv.at(0),
              "exercise,device,parameters,kernel,grid,block,sum,e,r,s,reps,median_ms,min_ms,max_ms,"
              "gbps,percent_peak,speedup,check");
}

TEST(ResultTable, TheNamesOfKernelsHaveWhatIsLeft) {
    const std::vector<lab::OwnColumn> own = {{"a", 9, "a"}, {"b", 5, "b"}};
    EXPECT_EQ(printed(lab::Columns::kLadder, own, false, false, row("k", lab::bytes(1))).at(0),
              "kernel         grid block         a     b time [ms]    GB/s % peak speedup check");
}

TEST(ResultTable, ColumnsOfAGpuAreEmptyInAnEmulation) {
    const std::vector<lab::OwnColumn> own = {{"both", 4, "both"},
                                             {"gpu", 4, "gpu", lab::OwnColumn::kOnGpu}};
    lab::Row withCells = row("k", lab::kNoRate);
    withCells.finding.cells = {1, 2};
    const auto lines = printed(lab::Columns::kTimed, own, true, false, withCells);
    EXPECT_EQ(lines.at(0), "kernel                          grid  block  both  time [ms]  check");
    EXPECT_EQ(printed(lab::Columns::kTimed, own, true, true, withCells).at(1),
              "exercise,some GPU,size=1,k,2097152,32x32,1,,20,15,14.5,16.25,ok");
    EXPECT_EQ(printed(lab::Columns::kTimed, own, false, true, withCells).at(1),
              "exercise,some GPU,size=1,k,2097152,32x32,1,2,20,15,14.5,16.25,ok");
}

TEST(ResultTable, APlainTableHasOwnColumnsAndTheVerdict) {
    const std::vector<lab::OwnColumn> own = {{"property", -10, "property"}, {"value", 5, "value"}};
    lab::Row plain = row("k", lab::kNoRate);
    plain.finding = {"no", {"cores", 128}};
    const auto lines = printed(lab::Columns::kPlain, own, false, false, plain);
    EXPECT_EQ(lines.at(0), "property    value  check");
    EXPECT_EQ(lines.at(1), "cores         128  WRONG");
    EXPECT_EQ(printed(lab::Columns::kPlain, own, false, true, plain).at(0),
              "exercise,device,parameters,property,value,check");
}

TEST(Finding, IsOkWhereNothingIsWrongAndNoOtherWordStands) {
    lab::Finding finding;
    EXPECT_TRUE(finding.ok());
    finding.word = "lucky";  // a race that did no harm
    EXPECT_FALSE(finding.ok());
    EXPECT_FALSE(lab::Finding("element 3 is 4, expected 5").ok());
}

}  // namespace
