#include "block_shape.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "format.h"
#include "options.h"

namespace lab {

std::string shape(dim3 size) {
    if (size.z > 1) return formatted("%ux%ux%u", size.x, size.y, size.z);
    if (size.y > 1) return formatted("%ux%u", size.x, size.y);
    return formatted("%u", size.x);
}

std::optional<dim3> parseBlock(const std::string& text, int most) {
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
