#pragma once
// Seeded input data: the same on every platform, back end and number of cores.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory.h"
#include "parallel.h"

namespace lab {

// Element `index` of the random sequence `seed`: splitmix64 (Steele, Lea, Flood 2014), whose state
// is a counter, so that any thread can compute any element.
inline std::uint64_t randomBits(std::uint64_t seed, std::uint64_t index) {
    const auto mix = [](std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    };
    constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15u;
    return mix(mix(seed + kGolden) + (index + 1) * kGolden);
}

// `count` integers, each of low ... high (both included).
inline std::vector<int> randomInts(std::size_t count, std::uint64_t seed, int low, int high) {
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

// `count` floats of [low, high).
inline std::vector<float> randomFloats(std::size_t count, std::uint64_t seed, float low,
                                       float high) {
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
