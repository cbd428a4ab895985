#pragma once
// The shape of a grid or a block as text: "256", "32x8", "5x5x5".

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "format.h"
#include "options.h"

namespace lab {

inline constexpr unsigned kMaxBlock = 1024;  // threads per block, on every GPU

inline std::string shape(dim3 size) {
    if (size.z > 1) return formatted("%ux%ux%u", size.x, size.y, size.z);
    if (size.y > 1) return formatted("%ux%u", size.x, size.y);
    return formatted("%u", size.x);
}

// The inverse: "40x2" as a block, with at most so many numbers (1 to 3). Nothing where the text is
// none, or one that no GPU can launch.
inline std::optional<dim3> parseBlock(const std::string& text, int most) {
    constexpr unsigned kMaxZ = 64;
    unsigned sides[3] = {1, 1, 1};
    std::size_t start = 0;
    for (int i = 0; start <= text.size(); ++i) {
        const std::size_t end = std::min(text.find('x', start), text.size());
        std::uint64_t side = 0;
        if (i == most || !parseWhole(text.substr(start, end - start), &side)) return {};
        if (side < 1 || side > kMaxBlock) return {};
        sides[i] = static_cast<unsigned>(side);
        start = end + 1;
    }
    if (sides[0] * sides[1] * sides[2] > kMaxBlock || sides[2] > kMaxZ) return {};
    return dim3(sides[0], sides[1], sides[2]);
}

}  // namespace lab
