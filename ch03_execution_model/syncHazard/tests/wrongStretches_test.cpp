#include "wrongStretches.h"

#include <gtest/gtest.h>

namespace {

// Of ten elements that should be 0, 10, 20 ... 90.
std::string ofTen(const std::vector<int>& values, std::size_t most) {
    return wrongStretches(values, [](std::size_t i) { return static_cast<int>(10 * i); }, most);
}

TEST(WrongStretches, SaysNothingWhereAllIsRight) {
    EXPECT_EQ(ofTen({0, 10, 20, 30, 40, 50, 60, 70, 80, 90}, 4), "");
    EXPECT_EQ(ofTen({}, 4), "");
}

TEST(WrongStretches, GoesAsFarAsNeighboursAreWrong) {
    EXPECT_EQ(ofTen({-1, -2, 20, 30, -5, 50, 60, 70, -9, -10}, 4),
              "    0 to 1: element 0 is -1, expected 0\n"
              "    4 to 4: element 4 is -5, expected 40\n"
              "    8 to 9: element 8 is -9, expected 80");
}

TEST(WrongStretches, CountsThoseThatItDoesNotList) {
    const std::vector<int> values = {-1, -2, 20, 30, -5, 50, 60, 70, -9, -10};
    EXPECT_EQ(ofTen(values, 1),
              "    0 to 1: element 0 is -1, expected 0\n"
              "    2 stretches more");
    EXPECT_EQ(ofTen(values, 0), "    3 stretches more");
}

TEST(WrongStretches, MayBeTheWhole) {
    EXPECT_EQ(ofTen({1, 2, 3}, 1), "    0 to 2: element 0 is 1, expected 0");
}

}  // namespace
