#pragma once
// The shape of a block as somebody types it: "256", "32x8", "5x5x5".

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "grid.cuh"
#include "options.h"

// "40x2" as a block, with at most so many numbers (1 to 3). Nothing where the text is none, or one
// that no GPU can launch.
inline std::optional<dim3> parseBlock(const std::string& text, int most) {
    constexpr unsigned kMaxZ = 64;
    unsigned sides[3] = {1, 1, 1};
    std::size_t start = 0;
    for (int i = 0; start <= text.size(); ++i) {
        const std::size_t end = std::min(text.find('x', start), text.size());
        std::uint64_t side = 0;
        if (i == most || !lab::parseWhole(text.substr(start, end - start), &side)) return {};
        if (side < 1 || side > lab::kMaxBlock) return {};
        sides[i] = static_cast<unsigned>(side);
        start = end + 1;
    }
    if (sides[0] * sides[1] * sides[2] > lab::kMaxBlock || sides[2] > kMaxZ) return {};
    return dim3(sides[0], sides[1], sides[2]);
}
