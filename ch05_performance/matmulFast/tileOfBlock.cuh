#pragma once
// What a block of matmulFast computes, and where.

#include <cstddef>

constexpr unsigned kStep = 16;  // columns of A and rows of B that a block multiplies at a time

// What a block computes: kRows x kCols elements of C, kThreadRows x kThreadCols of them each
// thread, in pieces of 4 x 4. The lanes of a warp are 4 x 8: of the 32 pieces of A or B that they
// load at a time only 4 or 8 are different.
template <unsigned kRows_, unsigned kCols_, unsigned kThreadRows_, unsigned kThreadCols_,
          unsigned kBuffers_>
struct Tile {
    static constexpr unsigned kRows = kRows_, kCols = kCols_, kBuffers = kBuffers_;
    static constexpr unsigned kThreadRows = kThreadRows_, kThreadCols = kThreadCols_;
    static constexpr unsigned kWarpRows = 4 * kThreadRows, kWarpCols = 8 * kThreadCols;
    static constexpr unsigned kThreads = (kRows / kWarpRows) * (kCols / kWarpCols) * 32;
    static constexpr unsigned kPitchA = kRows + 4;  // columns of A begin in other banks
    static constexpr std::size_t kSharedBytes =
        sizeof(float) * kBuffers * kStep * (kPitchA + kCols);
    static_assert(kRows % kWarpRows == 0 && kCols % kWarpCols == 0, "warps cover the tile");
};

// Where the tile of C begins that a block computes. Blocks run about in the order of their numbers.
// If these go along the rows of tiles, those that run together need a few rows of A and all of B;
// in groups of eight rows of tiles, column after column, they need less: about as much of A as of
// B.
struct Place {
    unsigned row, col;
};

template <class T, bool kGrouped>
__device__ Place placeOfBlock(unsigned m, unsigned n) {
    const unsigned tileRows = (m + T::kRows - 1) / T::kRows;
    const unsigned tileCols = (n + T::kCols - 1) / T::kCols, block = blockIdx.x;
    if (!kGrouped) return {block / tileCols * T::kRows, block % tileCols * T::kCols};

    constexpr unsigned kGroup = 8;
    const unsigned firstRow = block / (kGroup * tileCols) * kGroup;
    const unsigned rows = min(kGroup, tileRows - firstRow);  // the last group may have fewer
    const unsigned inGroup = block % (kGroup * tileCols);
    return {(firstRow + inGroup % rows) * T::kRows, inGroup / rows * T::kCols};
}
