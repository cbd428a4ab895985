#pragma once
// The filter, and the convolution on the host.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "image.cuh"
#include "memory.h"
#include "parallel.h"
#include "random.h"

// A separable filter: tap (y, x) is column[y] * row[x], with 2 * radius + 1 numbers in each. All
// are whole numbers, and pixels are whole numbers of 0 ... 255. Up to radius 15, every sum stays
// below 2^24 (31 * 31 * 8 * 8 * 255), so a float holds it exactly, in whatever order a kernel adds.
struct Filter {
    std::vector<float> row, column;

    std::vector<float> taps() const {
        std::vector<float> all;
        for (const float y : column) {
            for (const float x : row) all.push_back(y * x);
        }
        return all;
    }
};

inline Filter randomFilter(int radius, std::uint64_t seed) {
    Filter filter;
    for (int i = 0; i <= 2 * radius; ++i) {
        filter.row.push_back(static_cast<float>(lab::randomInt(seed + 1, i, -8, 8)));
        filter.column.push_back(static_cast<float>(lab::randomInt(seed + 2, i, -8, 8)));
    }
    return filter;
}

// Output (r, c) is the sum of `taps` times the pixels (r + i * down, c + i * right), i from -radius
// to radius.
inline std::vector<float> convolvedAlong(const Image& in, const std::vector<float>& taps, int down,
                                         int right) {
    const int radius = static_cast<int>(taps.size() / 2);
    const auto cols = static_cast<std::size_t>(in.cols);
    std::vector<float> out = lab::hostVector<float>(in.rows * cols);
    lab::parallelFor(out.size(), 1 << 14, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const int row = static_cast<int>(i / cols), col = static_cast<int>(i % cols);
            float sum = 0;
            for (int tap = -radius; tap <= radius; ++tap)
                sum += taps[tap + radius] * in.at(row + tap * down, col + tap * right);
            out[i] = sum;
        }
    });
    return out;
}

// CPU reference.
inline std::vector<float> convolved(const Image& in, const Filter& filter) {
    const std::vector<float> rows = convolvedAlong(in, filter.row, 0, 1);
    return convolvedAlong({rows.data(), in.rows, in.cols, in.border}, filter.column, 1, 0);
}
