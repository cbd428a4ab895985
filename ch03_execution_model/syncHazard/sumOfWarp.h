#pragma once
// What a warp that adds its elements without barriers can come to.

#include <cstddef>
#include <vector>

// CPU reference: the sum of a warp's elements, and the least that lane 0 gets of it whatever the
// order: its own element, and those that it adds itself, as they were. No element is negative.
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

// Whether a race can leave this value: not the sum, but what is possible of it.
inline bool isPart(int value, const SumOfWarp& sum) {
    return value >= sum.least && value < sum.all;
}
