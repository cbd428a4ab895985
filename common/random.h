#pragma once
// Seeded input data: the same on every platform, back end and number of cores.

#include <cstddef>
#include <cstdint>
#include <vector>

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

// Element `index` as an integer of low ... high (both included).
inline int randomInt(std::uint64_t seed, std::uint64_t index, int low, int high) {
    const auto range = static_cast<std::uint64_t>(static_cast<std::int64_t>(high) - low + 1);
    const auto offset = ((randomBits(seed, index) >> 32) * range) >> 32;  // 0 ... range - 1
    return static_cast<int>(low + static_cast<std::int64_t>(offset));
}

// Element `index` as a float of [low, high).
inline float randomFloat(std::uint64_t seed, std::uint64_t index, float low, float high) {
    const float unit = static_cast<float>(randomBits(seed, index) >> 40) * 0x1p-24f;  // [0, 1)
    return low + unit * (high - low);
}

// Elements 0 ... count - 1 of either kind.
std::vector<int> randomInts(std::size_t count, std::uint64_t seed, int low, int high);
std::vector<float> randomFloats(std::size_t count, std::uint64_t seed, float low, float high);

}  // namespace lab
