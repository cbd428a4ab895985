#include "firstMismatch.h"

#include <gtest/gtest.h>

namespace {

constexpr std::size_t kPiece = 1 << 16;  // that one thread compares

std::string withWrong(std::size_t count, const std::vector<std::size_t>& places) {
    const std::vector<float> expected(count, 1);
    std::vector<float> output = expected;
    for (const std::size_t place : places) output[place] = 2;
    return firstMismatch(output.data(), expected);
}

TEST(FirstMismatch, OfEqualResultsIsNone) {
    EXPECT_EQ(withWrong(0, {}), "");
    EXPECT_EQ(withWrong(3 * kPiece + 1, {}), "");
}

TEST(FirstMismatch, IsFoundAtBothEndsOfEveryPiece) {
    for (const std::size_t place :
         {std::size_t{0}, kPiece - 1, kPiece, 2 * kPiece - 1, 2 * kPiece, 2 * kPiece + 4}) {
        EXPECT_EQ(withWrong(2 * kPiece + 5, {place}), lab::describeMismatch(place, 2.f, 1.f));
    }
}

// Whichever thread comes last: over and over, since it is not always the same one.
TEST(FirstMismatch, OfSeveralIsTheFirst) {
    for (int time = 0; time < 50; ++time) {
        EXPECT_EQ(withWrong(8 * kPiece, {kPiece + 7, kPiece + 9, 3 * kPiece, 8 * kPiece - 1}),
                  lab::describeMismatch(kPiece + 7, 2.f, 1.f));
    }
}

}  // namespace
