#pragma once
// The order in which a chain of dependent loads goes through memory: latencyHiding.

#include <cstddef>
#include <numeric>
#include <vector>

#include "memory.h"

// next[i] is the element that follows i: a cycle through all n elements in which no two that are
// near in time are near in memory.
inline std::vector<unsigned> cycleOf(std::size_t n) {
    std::size_t stride = static_cast<std::size_t>(0.618 * static_cast<double>(n)) + 1;
    while (std::gcd(stride, n) != 1) ++stride;
    std::vector<unsigned> next = lab::hostVector<unsigned>(n);
    for (std::size_t i = 0; i < n; ++i)
        next[i] = static_cast<unsigned>(i + stride < n ? i + stride : (i + stride) % n);
    return next;
}
