#include "format.h"

#include <gtest/gtest.h>

namespace {

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

TEST(Format, ShowsLimitsAsOptionsTakeThem) {
    EXPECT_EQ(lab::withSuffix(0), "0");
    EXPECT_EQ(lab::withSuffix(1024), "1024");
    EXPECT_EQ(lab::withSuffix(65535), "65535");
    EXPECT_EQ(lab::withSuffix(65536), "64K");
    EXPECT_EQ(lab::withSuffix(1000000), "1000000");
    EXPECT_EQ(lab::withSuffix(1536u << 10), "1536K");
    EXPECT_EQ(lab::withSuffix(1u << 31), "2G");
    EXPECT_EQ(lab::withSuffix((1u << 31) - 1), "2147483647");
    EXPECT_EQ(lab::withSuffix(std::uint64_t{1} << 40), "1T");
    EXPECT_EQ(lab::withSuffix(std::uint64_t{1} << 60), "1048576T");
    EXPECT_EQ(lab::withSuffix(UINT64_MAX), "2^64-1");
}

TEST(Format, OneLineStaysOneLine) {
    EXPECT_EQ(lab::inOneLine("a b\n\t\rc"), "a b\\n\\t\\rc");
    EXPECT_EQ(lab::inOneLine("\x1b[31m\x7f"), "\\x1b[31m\\x7f");
    const std::string fine = "\u00e9 \uff10 \ud7ff \U0001f600 \U0010ffff";
    EXPECT_EQ(lab::inOneLine(fine), fine);
    EXPECT_EQ(lab::inOneLine("\xc2\x85"), "\\xc2\\x85") << "a control character, too";
    EXPECT_EQ(lab::inOneLine("\xff."), "\\xff.");
    EXPECT_EQ(lab::inOneLine("\xe2\x82"), "\\xe2\\x82") << "not complete";
    EXPECT_EQ(lab::inOneLine("\xc1\x81"), "\\xc1\\x81") << "too long a form";
    EXPECT_EQ(lab::inOneLine("\xe0\x9f\xbf"), "\\xe0\\x9f\\xbf") << "too long a form";
    EXPECT_EQ(lab::inOneLine("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
    EXPECT_EQ(lab::inOneLine("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond the end";
}

TEST(Format, ShortensBetweenCharacters) {
    EXPECT_EQ(lab::shortened(std::string(100, 'x')), std::string(100, 'x'));
    EXPECT_EQ(lab::shortened(std::string(101, 'x')), std::string(60, 'x') + "... (101 bytes)");
    const std::string before(58, 'x'), rest(100, 'y');
    EXPECT_EQ(lab::shortened(before + "\u20ac" + rest), before + "... (161 bytes)");
}

TEST(Format, WrapsAtSpaces) {
    EXPECT_EQ(lab::wrapped("", 10), "");
    EXPECT_EQ(lab::wrapped("one two three", 7), "one two\nthree");
    EXPECT_EQ(lab::wrapped("one two three", 6), "one\ntwo\nthree");
    EXPECT_EQ(lab::wrapped("one two three", 9, 2), "one two\n  three");
    EXPECT_EQ(lab::wrapped("one two three", 8, 2), "one\n  two\n  three");
    EXPECT_EQ(lab::wrapped("one two\x1fthree", 9), "one\ntwo three");
    EXPECT_EQ(lab::wrapped("a wordthatistoolong b", 8), "a\nwordthatistoolong\nb");
}

}  // namespace
