#include "verify.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>

namespace {

using lab::mismatch;

TEST(VerifyIntegers, NamesTheFirstWrongElement) {
    EXPECT_EQ(mismatch<int>({1, 5, 7}, {1, 2, 3}), "element 1 is 5, expected 2");
    EXPECT_EQ(mismatch<int>({1, 2, 4}, {1, 2, 3}), "element 2 is 4, expected 3");
    EXPECT_EQ(mismatch<unsigned char>({65}, {66}), "element 0 is 65, expected 66");
}

TEST(VerifyIntegers, SeesALargeDifferenceInTheLastBit) {
    const std::int64_t big = std::int64_t{1} << 62;
    EXPECT_NE(mismatch<std::int64_t>({big + 1}, {big}), "");
}

TEST(Verify, SizesMustAgree) {
    EXPECT_EQ(mismatch<int>({1, 2}, {1, 2, 3}), "2 elements, expected 3");
    EXPECT_EQ(mismatch<float>({1, 2, 3}, {1, 2}, 1e-6), "3 elements, expected 2");
    EXPECT_NE(mismatch<float>({}, {1}, 1e-6), "");
}

TEST(VerifyFloats, NotANumberIsWrong) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(mismatch<float>({1, nan}, {1, 2}, 1e9), "element 1 is nan, expected 2");
    EXPECT_EQ(mismatch<float>({infinity, 1}, {1, 1}, 1e9), "element 0 is inf, expected 1");
    EXPECT_NE(mismatch<float>({nan}, {nan}, 1e9), "");
}

TEST(VerifyFloats, SaysWhatWasNeverWritten) {
    float unwritten;
    std::memset(&unwritten, lab::poisonByte<float>(), sizeof unwritten);
    EXPECT_NE(mismatch<float>({1, 2, unwritten}, {1, 2, 3}, 1e-6).find("was never written"),
              std::string::npos);
}

TEST(Verify, NamesTheFirstElementThatWasNeverWritten) {
    std::vector<float> output = {1, 2, 3, 4};
    EXPECT_EQ(lab::neverWritten(output), "");
    std::memset(&output[3], lab::poisonByte<float>(), sizeof(float));
    EXPECT_EQ(lab::neverWritten(output), "element 3 was never written");
    std::memset(&output[0], lab::poisonByte<float>(), sizeof(float));
    EXPECT_EQ(lab::neverWritten(output), "element 0 was never written");
}

TEST(Verify, NamesRowAndColumn) {
    EXPECT_EQ(lab::inMatrix(mismatch<int>({1, 2, 3, 4, 5, 7}, {1, 2, 3, 4, 5, 6}), 3),
              "element 5 (row 1, column 2) is 7, expected 6");
    EXPECT_EQ(lab::inMatrix("", 3), "");
    EXPECT_EQ(lab::inMatrix("2 elements, expected 3", 3), "2 elements, expected 3");
}

TEST(VerifyFloats, ZeroReference) {
    EXPECT_EQ(mismatch<float>({0, 0}, {0, 0}, 1e-6), "");
    EXPECT_EQ(mismatch<float>({1e-8f, 0}, {0, 0}, 1e-6), "");
    EXPECT_EQ(mismatch<float>({0, 1}, {0, 0}, 1e-6).find("element 1 is 1, expected 0"), 0u);
}

// The whole may be off by the tolerance, each element by 16 times as much.
TEST(VerifyFloats, BothTolerancesEndWhereTheyShould) {
    const std::vector<double> expected(1000, 1.0);
    EXPECT_EQ(mismatch(std::vector<double>(1000, 1.0099), expected, 1e-2), "");
    EXPECT_NE(mismatch(std::vector<double>(1000, 1.0101), expected, 1e-2), "");
    std::vector<double> output = expected;
    output[7] = 1.159;
    EXPECT_EQ(mismatch(output, expected, 1e-2), "");
    output[7] = 1.161;
    EXPECT_EQ(mismatch(output, expected, 1e-2).find("element 7 is 1.161"), 0u);
}

// An error of 1e-6 is too much for a sum of 0.01, but not if its terms are of the size of 1.
TEST(VerifyFloats, TermsThatCancelLeaveTheirErrors) {
    EXPECT_NE(mismatch<float>({0.010001F, 0}, {0.01F, 0}, 1e-6), "");
    EXPECT_EQ(mismatch<float>({0.010001F, 0}, {0.01F, 0}, 1e-6, {}, 1), "");
    EXPECT_NE(mismatch<float>({0.010003F, 0}, {0.01F, 0}, 1e-6, {}, 1), "");
    EXPECT_NE(mismatch<float>({0.010001F, 0}, {0.01F, 0}, 1e-6, {}, 0.01), "");
    EXPECT_EQ(mismatch<float>({101, 0}, {100, 0}, 1e-2, {}, 1), "");
}

TEST(VerifyFloats, ASampleNamesPlacesOfTheWhole) {
    const std::string text = mismatch<float>({1, 5}, {1, 2}, 1e-6, {300, 4000});
    EXPECT_EQ(text.find("element 4000 is 5, expected 2"), 0u) << text;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(mismatch<float>({1, nan}, {1, 2}, 1e-6, {70, 900}).find("element 900 is nan"), 0u);
}

TEST(VerifyFloats, ShowsEnoughDigitsToSeeTheDifference) {
    EXPECT_EQ(mismatch<double>({1.0000000000000002}, {1.0}, 0)
                  .find("element 0 is 1.0000000000000002, expected 1 "),
              0u);
}

}  // namespace
