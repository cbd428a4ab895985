#pragma once
// Chooses the entries of a product of matrices that the CPU computes, too, to check a kernel.

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "memory.h"
#include "random.h"

constexpr double kQuick = 1 << 26;  // the CPU does this many multiply-adds in a moment
constexpr std::size_t kSampleSize = 4096;

// Returns entries of the m x n matrix C, as row * n + column. Each entry is a sum of k products.
// For a small product these are all entries. For a large product they are a sample: the corners,
// then a quarter from the last row and a quarter from the last column, because the blocks stick out
// of the matrix there, and the rest from anywhere.
inline std::vector<std::size_t> entriesToCheck(std::size_t m, std::size_t n, std::size_t k,
                                               std::uint64_t seed) {
    if (m * n <= kSampleSize || 1.0 * m * n * k <= kQuick) {
        std::vector<std::size_t> all = lab::hostVector<std::size_t>(m * n);
        std::iota(all.begin(), all.end(), 0);
        return all;
    }
    std::vector<std::size_t> entries = {0, n - 1, (m - 1) * n, m * n - 1};
    while (entries.size() < kSampleSize) {
        const std::size_t i = entries.size();
        const std::size_t row = i % 4 == 0 ? m - 1 : lab::randomBits(seed, 2 * i) % m;
        const std::size_t col = i % 4 == 1 ? n - 1 : lab::randomBits(seed, 2 * i + 1) % n;
        entries.push_back(row * n + col);
    }
    return entries;
}
