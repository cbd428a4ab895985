#include "differentiationMatrix.h"

#include <gtest/gtest.h>

namespace {

const double kTurn = 2 * std::acos(-1.0);

// The product of D and a vector.
std::vector<double> derivative(const std::vector<double>& values) {
    const std::size_t n = values.size();
    const std::vector<double> matrix = differentiationMatrix(n);
    std::vector<double> result(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) result[i] += matrix[i * n + j] * values[j];
    }
    return result;
}

class OfPoints : public testing::TestWithParam<std::size_t> {};

TEST_P(OfPoints, DifferentiatesAllWavesBelowHalfTheirNumber) {
    const std::size_t n = GetParam();
    for (std::size_t k = 0; 2 * k < n; ++k) {
        std::vector<double> wave(n);
        for (std::size_t i = 0; i < n; ++i) wave[i] = std::sin(kTurn * k * i / n + 0.4);
        const std::vector<double> slope = derivative(wave);
        for (std::size_t i = 0; i < n; ++i) {
            EXPECT_NEAR(slope[i], k * std::cos(kTurn * k * i / n + 0.4), 1e-11)
                << "wave " << k << ", point " << i;
        }
    }
}

TEST_P(OfPoints, IsAntisymmetric) {
    const std::size_t n = GetParam();
    const std::vector<double> matrix = differentiationMatrix(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j)
            EXPECT_EQ(matrix[i * n + j], -matrix[j * n + i]) << i << ", " << j;
    }
}

TEST_P(OfPoints, HasRowsWithTheNormThatTheToleranceCountsOn) {
    const std::size_t n = GetParam();
    const std::vector<double> matrix = differentiationMatrix(n);
    double squares = 0;
    for (std::size_t j = 0; j < n; ++j) squares += matrix[j] * matrix[j];
    const double m = n;
    EXPECT_NEAR(squares, n % 2 == 0 ? (m - 1) * (m - 2) / 12 : (m * m - 1) / 12, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(DifferentiationMatrix, OfPoints,
                         testing::Values(1, 2, 3, 4, 5, 8, 9, 24, 31, 32));

// With 4 points cot(pi / 4) = 1, with 3 points 1 / sin(pi / 3) = 2 / sqrt(3).
TEST(DifferentiationMatrix, IsKnownForAFewPoints) {
    const std::vector<double> four = differentiationMatrix(4);
    EXPECT_NEAR(four[1], 0.5, 1e-15);
    EXPECT_NEAR(four[2], 0, 1e-15);
    EXPECT_NEAR(four[3], -0.5, 1e-15);
    EXPECT_NEAR(differentiationMatrix(3)[1], 1 / std::sqrt(3.0), 1e-15);
}

// The fastest wave of an even number of points, cos(n x / 2), has slope 0 at all of them.
TEST(DifferentiationMatrix, TakesTheFastestWaveForFlat) {
    for (const double slope : derivative({1, -1, 1, -1, 1, -1})) EXPECT_NEAR(slope, 0, 1e-14);
}

// Four times 2^-24 times the root of n: 2^-20 for n = 16.
TEST(DerivativeTolerance, GrowsLikeTheRootOfTheLength) {
    EXPECT_DOUBLE_EQ(derivativeTolerance(1), std::ldexp(1.0, -22));
    EXPECT_DOUBLE_EQ(derivativeTolerance(16), std::ldexp(1.0, -20));
}

}  // namespace
