#include "waveField.h"

#include <gtest/gtest.h>

#include <set>

#include "differentiationMatrix.h"

namespace {

// The derivative of a field by products with the matrix, in double, along lines of this stride.
std::vector<double> derivative(const std::vector<float>& field, std::size_t n, std::size_t stride) {
    const std::vector<double> matrix = differentiationMatrix(n);
    std::vector<double> result(field.size());
    for (std::size_t p = 0; p < field.size(); ++p) {
        const std::size_t i = p / stride % n;
        for (std::size_t j = 0; j < n; ++j)
            result[p] += matrix[i * n + j] * field[p - i * stride + j * stride];
    }
    return result;
}

TEST(WaveField, HasTheDerivativesThatTheMatrixFinds) {
    for (const std::size_t n : {3, 4, 9, 16}) {
        const WaveField field(n, 3, 1);
        const std::size_t size = 3 * n * n * n;
        ASSERT_EQ(field.values.size(), size);
        ASSERT_EQ(field.gradient.size(), 3 * size);
        std::size_t stride = 1;
        for (std::size_t direction = 0; direction < 3; ++direction, stride *= n) {
            const std::vector<double> expected = derivative(field.values, n, stride);
            double error = 0, norm = 0;
            for (std::size_t p = 0; p < size; ++p) {
                error += std::pow(field.gradient[direction * size + p] - expected[p], 2);
                norm += expected[p] * expected[p];
            }
            EXPECT_LT(std::sqrt(error / norm), std::ldexp(1.0, -24)) << n << ", " << direction;
        }
    }
}

// A kernel that takes one element, or one direction, for another must be found out.
TEST(WaveField, HasNoTwoValuesThatAreEqual) {
    const WaveField field(8, 4, 7);
    EXPECT_EQ(std::set<float>(field.values.begin(), field.values.end()).size(),
              field.values.size());
}

TEST(WaveField, IsThatOfItsSeed) {
    EXPECT_EQ(WaveField(5, 2, 3).values, WaveField(5, 2, 3).values);
    EXPECT_NE(WaveField(5, 2, 3).values, WaveField(5, 2, 4).values);
}

// Of more elements the first ones are the same, however many cores there are.
TEST(WaveField, HasElementsThatDoNotDependOnTheirNumber) {
    const std::vector<float> few = WaveField(4, 2, 1).values, many = WaveField(4, 50, 1).values;
    EXPECT_EQ(few, std::vector<float>(many.begin(), many.begin() + 2 * 64));
}

// Two points have a constant alone.
TEST(WaveField, IsFlatWithTwoPoints) {
    for (const float slope : WaveField(2, 3, 1).gradient) EXPECT_EQ(slope, 0);
}

}  // namespace
