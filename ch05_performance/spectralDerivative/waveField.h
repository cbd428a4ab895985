#pragma once
// Fields with known derivatives: products of sums of waves.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory.h"
#include "parallel.h"
#include "random.h"

// `elements` cubes of n x n x n points, one after the other, each with x fastest, then y, then z.
// The field is u = f(x) g(y) h(z) at the points 2 pi i / n. Each element has functions f, g and h
// of its own. Such a function is the sum of cos(k x + phase) for all k < n / 2, with random phases.
struct WaveField {
    std::vector<float> values;    // n^3 for each element
    std::vector<float> gradient;  // du/dx of all points, then du/dy, then du/dz, rounded to floats
                                  // only once

    WaveField(std::size_t n, std::size_t elements, std::uint64_t seed);
};

// A sum of waves and its derivative at all n points.
struct Waves {
    std::vector<double> value, slope;

    // The function with number `index` of the random sequence `seed`.
    Waves(std::size_t n, std::uint64_t seed, std::uint64_t index) : value(n), slope(n) {
        const double turn = 2 * std::acos(-1.0);
        for (std::size_t k = 0; 2 * k < n; ++k) {
            const std::uint64_t bits = lab::randomBits(seed, index * n + k);
            const double phase = turn * std::ldexp(static_cast<double>(bits), -64);
            for (std::size_t i = 0; i < n; ++i) {
                const double angle = turn * static_cast<double>(k * i % n) / n + phase;
                value[i] += std::cos(angle);
                slope[i] -= static_cast<double>(k) * std::sin(angle);
            }
        }
    }
};

inline WaveField::WaveField(std::size_t n, std::size_t elements, std::uint64_t seed) {
    const std::size_t points = n * n * n, size = elements * points;
    values = lab::hostVector<float>(size);
    gradient = lab::hostVector<float>(3 * size);
    lab::parallelFor(elements, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t e = begin; e < end; ++e) {
            const Waves f(n, seed, 3 * e), g(n, seed, 3 * e + 1), h(n, seed, 3 * e + 2);
            std::size_t at = e * points;
            for (std::size_t z = 0; z < n; ++z) {
                for (std::size_t y = 0; y < n; ++y) {
                    for (std::size_t x = 0; x < n; ++x, ++at) {
                        values[at] = static_cast<float>(f.value[x] * g.value[y] * h.value[z]);
                        gradient[at] = static_cast<float>(f.slope[x] * g.value[y] * h.value[z]);
                        gradient[size + at] =
                            static_cast<float>(f.value[x] * g.slope[y] * h.value[z]);
                        gradient[2 * size + at] =
                            static_cast<float>(f.value[x] * g.value[y] * h.slope[z]);
                    }
                }
            }
        }
    });
}
