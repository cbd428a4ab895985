#pragma once
// The gradient of spectralDerivative, computed by the host. `u` and `columns` are those of the
// kernels: `elements` cubes of n x n x n points, x fastest, and D_ij at columns[j * n + i]. The
// gradient is du/dx of all points, then du/dy, then du/dz.

#include <algorithm>
#include <cstddef>

#include "installedBlas.h"
#include "parallel.h"

// How many elements are worth a thread.
inline std::size_t elementsPerThread(std::size_t points) {
    return 8192 / points;
}

// Uses all cores. The innermost loop goes over neighbours, so compilers use vector instructions.
inline void differentiateOnCpu(const float* u, const float* columns, float* gradient, std::size_t n,
                               std::size_t elements) {
    const std::size_t points = n * n * n, size = elements * points;
    lab::parallelFor(elements, elementsPerThread(points), [&](std::size_t begin, std::size_t end) {
        std::fill(gradient + begin * points, gradient + end * points, 0.0F);
        for (std::size_t row = begin * n * n; row < end * n * n; ++row) {
            for (std::size_t j = 0; j < n; ++j) {
                for (std::size_t i = 0; i < n; ++i)
                    gradient[row * n + i] += columns[j * n + i] * u[row * n + j];
            }
        }
        for (std::size_t stride = n; stride <= n * n; stride *= n) {
            float* const derivative = gradient + (stride == n ? 1 : 2) * size;
            std::fill(derivative + begin * points, derivative + end * points, 0.0F);
            for (std::size_t lines = begin * points; lines < end * points; lines += n * stride) {
                for (std::size_t i = 0; i < n; ++i) {
                    for (std::size_t j = 0; j < n; ++j) {
                        for (std::size_t s = 0; s < stride; ++s)
                            derivative[lines + i * stride + s] +=
                                columns[j * n + i] * u[lines + j * stride + s];
                    }
                }
            }
        }
    });
}

// Does the same with a BLAS, for which a row-major matrix is its transpose.
inline void differentiateByBlas(const InstalledBlas& blas, const float* u, const float* columns,
                                float* gradient, std::size_t n, std::size_t elements) {
    const std::size_t points = n * n * n, size = elements * points;
    const int side = static_cast<int>(n), square = side * side;
    lab::parallelFor(elements, elementsPerThread(points), [&](std::size_t begin, std::size_t end) {
        for (std::size_t at = begin * points; at < end * points; at += points) {
            float *const dx = gradient + at, *const dy = dx + size, *const dz = dy + size;
            blas.multiply(columns, u + at, dx, side, square, side, false);
            for (std::size_t z = 0; z < points; z += n * n)
                blas.multiply(u + at + z, columns, dy + z, side, side, side, true);
            blas.multiply(u + at, columns, dz, square, side, side, true);
        }
    });
}
