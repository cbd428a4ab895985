#include "random.h"

#include "memory.h"
#include "parallel.h"

namespace lab {

std::vector<int> randomInts(std::size_t count, std::uint64_t seed, int low, int high) {
    std::vector<int> values = hostVector<int>(count);
    const auto range = static_cast<std::uint64_t>(static_cast<std::int64_t>(high) - low + 1);
    parallelFor(count, 1 << 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const auto offset = ((randomBits(seed, i) >> 32) * range) >> 32;  // 0 ... range - 1
            values[i] = static_cast<int>(low + static_cast<std::int64_t>(offset));
        }
    });
    return values;
}

std::vector<float> randomFloats(std::size_t count, std::uint64_t seed, float low, float high) {
    std::vector<float> values = hostVector<float>(count);
    parallelFor(count, 1 << 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const float unit = static_cast<float>(randomBits(seed, i) >> 40) * 0x1p-24f;  // [0, 1)
            values[i] = low + unit * (high - low);
        }
    });
    return values;
}

}  // namespace lab
