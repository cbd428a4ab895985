#include "table.h"

#include <gtest/gtest.h>

#include <memory>

namespace {

// What a table prints.
std::string printed(bool csv, const std::vector<std::vector<lab::Cell>>& rows) {
    char* text = nullptr;
    std::size_t length = 0;
    std::FILE* file = open_memstream(&text, &length);
    lab::Table table(
        {{"kernel", -8, "kernel"}, {"time [ms]", 9, "ms"}, {"", 0, "max"}, {"check", -5, ""}}, csv,
        file);
    for (const std::vector<lab::Cell>& row : rows) table.row(row);
    std::fclose(file);
    const std::unique_ptr<char, decltype(&std::free)> owner(text, std::free);
    return std::string(text, length);
}

// The line stays as long as the others while there is room in it.
TEST(Table, LongTextTakesTheRoomOfTheGapsAndStaysApart) {
    EXPECT_EQ(printed(false, {{"averylongname", 17, "", "ok"}}),
              "kernel    time [ms]  check\n"
              "averylongname    17  ok\n");
    EXPECT_EQ(printed(false, {{"averylongname", 1234567, "", "ok"}}),
              "kernel    time [ms]  check\n"
              "averylongname 1234567 ok\n");
}

TEST(Table, LeavesUnknownNumbersEmpty) {
    EXPECT_EQ(printed(false, {{"copy", {}, {}, {}}}), "kernel    time [ms]  check\ncopy\n");
    EXPECT_EQ(printed(true, {{"copy"}}), "kernel,ms,max\ncopy,,\n");
}

TEST(Table, CsvQuotesWhatNeedsIt) {
    EXPECT_EQ(printed(true, {{"a,b", "say \"hi\"", 18446744073709551615u}}),
              "kernel,ms,max\n\"a,b\",\"say \"\"hi\"\"\",18446744073709551615\n");
}

TEST(Table, WithoutRowsThereIsNoHeading) {
    EXPECT_EQ(printed(true, {}), "");
}

}  // namespace
