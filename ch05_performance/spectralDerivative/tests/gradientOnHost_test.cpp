#include "gradientOnHost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "differentiationMatrix.h"
#include "verify.h"
#include "waveField.h"

namespace {

struct Field {
    std::size_t n, elements;
    WaveField waves{n, elements, 1};
    std::vector<float> columns = std::vector<float>(n * n);
    std::vector<float> gradient = std::vector<float>(3 * n * n * n * elements, NAN);

    Field(std::size_t n, std::size_t elements) : n(n), elements(elements) {
        const std::vector<double> matrix = differentiationMatrix(n);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j)
                columns[j * n + i] = static_cast<float>(matrix[i * n + j]);
        }
    }
    std::string wrong() const {
        return lab::mismatch(gradient, waves.gradient, derivativeTolerance(n));
    }
};

TEST(GradientOnHost, IsThatOfTheField) {
    for (const std::size_t n : {2, 3, 8, 13, 32}) {
        Field field(n, 5);
        differentiateOnCpu(field.waves.values.data(), field.columns.data(), field.gradient.data(),
                           n, 5);
        EXPECT_EQ(field.wrong(), "") << n;
    }
}

TEST(GradientOnHost, IsThatOfTheFieldByABlas) {
    const InstalledBlas blas(LAB_TEST_BLAS);
    ASSERT_EQ(blas.problem(), "");
    for (const std::size_t n : {2, 3, 8, 13}) {
        Field field(n, 5);
        differentiateByBlas(blas, field.waves.values.data(), field.columns.data(),
                            field.gradient.data(), n, 5);
        EXPECT_EQ(field.wrong(), "") << n;
    }
}

// Column by column: [1 3 5; 2 4 6] * [1 4; 2 5; 3 6] = [22 49; 28 64]; transposed, b is
// [1 3 5; 2 4 6].
TEST(InstalledBlas, MultipliesColumnByColumn) {
    const InstalledBlas blas(LAB_TEST_BLAS);
    const std::vector<float> a = {1, 2, 3, 4, 5, 6}, expected = {22, 28, 49, 64};
    std::vector<float> c(4, NAN);
    blas.multiply(a.data(), std::vector<float>{1, 2, 3, 4, 5, 6}.data(), c.data(), 2, 2, 3, false);
    EXPECT_EQ(c, expected);
    c.assign(4, NAN);
    blas.multiply(a.data(), std::vector<float>{1, 4, 2, 5, 3, 6}.data(), c.data(), 2, 2, 3, true);
    EXPECT_EQ(c, expected);
}

TEST(InstalledBlas, SaysWhyThereIsNone) {
    EXPECT_NE(InstalledBlas("nosuch.so").problem().find("nosuch.so: "), std::string::npos);
    EXPECT_EQ(InstalledBlas("libm.so.6").problem(), "libm.so.6: has no sgemm_");
}

}  // namespace
