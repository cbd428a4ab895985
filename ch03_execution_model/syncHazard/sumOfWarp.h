#pragma once
// The sums that a warp may get if it adds its elements without barriers.

#include <cstddef>
#include <vector>

// CPU reference: the sum of a warp's elements, and the smallest sum that lane 0 may get in any
// order. That is its own element plus the unchanged elements that it adds itself. No element is
// negative.
struct SumOfWarp {
    int all, least;
};
inline SumOfWarp sumOfWarp(const std::vector<int>& in, std::size_t warp) {
    SumOfWarp sum = {0, 0};
    for (std::size_t lane = 0; lane < 32 && 32 * warp + lane < in.size(); ++lane) {
        sum.all += in[32 * warp + lane];
        if ((lane & (lane - 1)) == 0) sum.least += in[32 * warp + lane];  // 0, 1, 2, 4, 8, 16
    }
    return sum;
}

// Says whether a race can leave this value. Such a value is less than the whole sum.
inline bool isPart(int value, const SumOfWarp& sum) {
    return value >= sum.least && value < sum.all;
}
