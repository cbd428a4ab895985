#pragma once
// The transpose of a matrix as the CPU computes it.

#include <algorithm>
#include <cstddef>
#include <vector>

#include "memory.h"
#include "parallel.h"

namespace lab {

// `in` has rows x cols elements, row after row; the result cols x rows. Tile by tile: a column at a
// time would miss the CPU's caches.
inline std::vector<float> transposed(const std::vector<float>& in, std::size_t rows,
                                     std::size_t cols) {
    constexpr std::size_t kSide = 32;
    std::vector<float> out = hostVector<float>(in.size());
    const std::size_t tileRows = (rows + kSide - 1) / kSide;
    parallelFor(tileRows, 8, [&](std::size_t begin, std::size_t end) {
        const std::size_t lastRow = std::min(rows, end * kSide);
        for (std::size_t firstRow = begin * kSide; firstRow < lastRow; firstRow += kSide) {
            for (std::size_t col = 0; col < cols; ++col) {
                for (std::size_t row = firstRow; row < std::min(lastRow, firstRow + kSide); ++row)
                    out[col * rows + row] = in[row * cols + col];
            }
        }
    });
    return out;
}

}  // namespace lab
