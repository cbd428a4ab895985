#pragma once
// Which entries of a product of matrices the CPU computes as well, to check a kernel's.

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "memory.h"
#include "random.h"

constexpr double kQuick = 1 << 26;  // so many multiply-adds take the CPU a moment
constexpr std::size_t kSampleSize = 4096;

// The entries of the m x n matrix C (row * n + column), each of them a sum of k products: all, or
// for large products a sample: the corners, and then every fourth from the last row and every
// fourth from the last column, since there the blocks stick out of the matrix.
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
