#include "format.h"

#include <gtest/gtest.h>

namespace {

TEST(Format, PrintsIntoAStringOfAnyLength) {
    EXPECT_EQ(lab::formatted("%d%%", 7), "7%");
    EXPECT_EQ(lab::formatted("%s", ""), "");
    EXPECT_EQ(lab::formatted("%s", std::string(5000, 'x').c_str()), std::string(5000, 'x'));
}

TEST(Format, SeparatesThousands) {
    EXPECT_EQ(lab::withCommas(0), "0");
    EXPECT_EQ(lab::withCommas(999), "999");
    EXPECT_EQ(lab::withCommas(1000), "1,000");
    EXPECT_EQ(lab::withCommas(123456), "123,456");
    EXPECT_EQ(lab::withCommas(16777216), "16,777,216");
    EXPECT_EQ(lab::withCommas(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(Format, ShowsBytesInPowersOf1024) {
    EXPECT_EQ(lab::inBytes(0), "0 bytes");
    EXPECT_EQ(lab::inBytes(1023), "1023 bytes");
    EXPECT_EQ(lab::inBytes(1024), "1 KiB");
    EXPECT_EQ(lab::inBytes(1600), "1.6 KiB");
    EXPECT_EQ(lab::inBytes(64u << 20), "64 MiB");
    EXPECT_EQ(lab::inBytes((1u << 20) - 1), "1 MiB");  // not "1024 KiB"
    EXPECT_EQ(lab::inBytes(UINT64_MAX), "16 EiB");
}

}  // namespace
