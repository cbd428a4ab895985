#pragma once
// Compares large results: sumMatrix.

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "parallel.h"
#include "verify.h"

// Where `output` first differs from `expected`, if it does. On all cores: a sweep checks some 70
// results of a gigabyte.
inline std::string firstMismatch(const float* output, const std::vector<float>& expected) {
    std::size_t first = expected.size();
    std::mutex mutex;
    lab::parallelFor(expected.size(), 1 << 16, [&](std::size_t begin, std::size_t end) {
        const auto [wrong, right] =
            std::mismatch(output + begin, output + end, expected.data() + begin);
        if (wrong == output + end) return;
        const std::lock_guard<std::mutex> lock(mutex);
        first = std::min<std::size_t>(first, wrong - output);
    });
    if (first == expected.size()) return "";
    return lab::describeMismatch(first, output[first], expected[first]);
}
