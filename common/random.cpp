#include "random.h"

#include "memory.h"
#include "parallel.h"

namespace lab {

std::vector<int> randomInts(std::size_t count, std::uint64_t seed, int low, int high) {
    std::vector<int> values = hostVector<int>(count);
    parallelFor(count, 1 << 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) values[i] = randomInt(seed, i, low, high);
    });
    return values;
}

std::vector<float> randomFloats(std::size_t count, std::uint64_t seed, float low, float high) {
    std::vector<float> values = hostVector<float>(count);
    parallelFor(count, 1 << 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) values[i] = randomFloat(seed, i, low, high);
    });
    return values;
}

}  // namespace lab
