#pragma once
// The matrix that turns the values of a periodic function into those of its derivative.

#include <cmath>
#include <cstddef>
#include <vector>

// Returns D (n x n, row-major). D times the values at the points x_i = 2 pi i / n gives the
// derivatives there of the wave that goes through all values. It is exact, up to rounding, for all
// waves sin(k x) and cos(k x) with k < n / 2. The wave through a 1 at x_j and a 0 at all other
// points is S(x - x_j) with
//   S(x) = sin(n x / 2) / (n tan(x / 2)) for even n, sin(n x / 2) / (n sin(x / 2)) for odd n,
// and D_ij = S'(x_i - x_j): Trefethen, Spectral Methods in MATLAB (2000), chapter 3.
inline std::vector<double> differentiationMatrix(std::size_t n) {
    const double pi = std::acos(-1.0);
    std::vector<double> matrix(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            if (i == j) continue;  // 0
            const double half = pi * (static_cast<double>(i) - static_cast<double>(j)) /
                                static_cast<double>(n);  // half the distance of the points
            const double sign = (i + j) % 2 == 0 ? 0.5 : -0.5;
            matrix[i * n + j] =
                n % 2 == 0 ? sign * std::cos(half) / std::sin(half) : sign / std::sin(half);
        }
    }
    return matrix;
}

// The largest error that FP32 may cause, relative to the norm of all derivatives. The values and
// the matrix are rounded by up to 2^-24, and each sum once for each of its n products. A row of the
// matrix has a norm of about n / sqrt(12). That is also the root mean square of k, for waves of all
// k < n / 2 with the same height. The signs of these errors are random. So relative to the
// derivatives they grow only with sqrt(n / 2), and the tolerance is about five times as large. A
// product that is left out changes the result by 1 / sqrt(n) or more.
inline double derivativeTolerance(std::size_t n) {
    return 4 * std::ldexp(1.0, -24) * std::sqrt(static_cast<double>(n));
}
