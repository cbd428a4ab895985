#include "transposed.h"

#include <gtest/gtest.h>

namespace {

using lab::transposed;

TEST(Transposed, OfTwoRows) {
    EXPECT_EQ(transposed({1, 2, 3, 4, 5, 6}, 2, 3), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

// More rows of tiles than one thread takes, and tiles that the matrix ends within.
TEST(Transposed, OfManyTiles) {
    constexpr std::size_t kRows = 531, kCols = 67;
    std::vector<float> in(kRows * kCols);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
    const std::vector<float> out = transposed(in, kRows, kCols);
    ASSERT_EQ(out.size(), in.size());
    for (std::size_t row = 0; row < kRows; ++row) {
        for (std::size_t col = 0; col < kCols; ++col)
            ASSERT_EQ(out[col * kRows + row], in[row * kCols + col]) << row << ", " << col;
    }
}

}  // namespace
