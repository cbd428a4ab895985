#include "image.cuh"

#include <gtest/gtest.h>

#include <vector>

namespace {

std::vector<int> around(int n, Border border) {
    std::vector<int> found;
    for (int i = -5; i < n + 5; ++i) found.push_back(mapped(i, n, border));
    return found;
}

TEST(Image, ClampTakesTheNearest) {
    EXPECT_EQ(around(3, Border::kClamp), (std::vector<int>{0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2}));
}

TEST(Image, WrapComesInOnTheOtherSide) {
    EXPECT_EQ(around(3, Border::kWrap), (std::vector<int>{1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1}));
    EXPECT_EQ(around(1, Border::kWrap), std::vector<int>(11, 0));
}

TEST(Image, ZeroIsOutside) {
    EXPECT_EQ(around(2, Border::kZero),
              (std::vector<int>{-1, -1, -1, -1, -1, 0, 1, -1, -1, -1, -1, -1}));
}

TEST(Image, RowsAndColumnsAreMapped) {
    const float pixels[] = {1, 2, 3, 4, 5, 6};
    EXPECT_EQ((Image{pixels, 2, 3, Border::kClamp}.at(-1, 5)), 3);
    EXPECT_EQ((Image{pixels, 2, 3, Border::kWrap}.at(-1, 4)), 5);
    EXPECT_EQ((Image{pixels, 2, 3, Border::kZero}.at(1, 3)), 0);
    EXPECT_EQ((Image{pixels, 2, 3, Border::kZero}.at(1, 2)), 6);
}

TEST(Image, NamesOfBorders) {
    Border border = Border::kZero;
    EXPECT_TRUE(parseBorder("wrap", &border));
    EXPECT_EQ(border, Border::kWrap);
    EXPECT_FALSE(parseBorder("mirror", &border));
}

}  // namespace
