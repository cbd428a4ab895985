#pragma once
// The normalised rows of a matrix, as the CPU computes them in double, and the error that FP32 may
// have.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "parallel.h"
#include "verify.h"

// out = (x - mean) / sqrt(variance + epsilon) for a matrix of rows x cols elements, row-major, with
// the mean and the variance of x's row. The matrix must outlive this.
class RowReference {
  public:
    // `additions` is the length of the longest chain of additions in a sum over a row.
    RowReference(const std::vector<float>& in, std::size_t cols, double epsilon,
                 std::size_t additions)
        : in_(in),
          cols_(cols),
          additions_(static_cast<double>(additions)),
          rows_(in.size() / cols) {
        lab::parallelFor(rows_.size(), 16, [&](std::size_t begin, std::size_t end) {
            for (std::size_t r = begin; r < end; ++r) {
                const float* const row = in_.data() + r * cols_;
                const auto n = static_cast<double>(cols_);
                double sum = 0, squares = 0, largest = 0;
                for (std::size_t c = 0; c < cols_; ++c) {
                    sum += row[c];
                    largest = std::max(largest, std::fabs(static_cast<double>(row[c])));
                }
                for (std::size_t c = 0; c < cols_; ++c)
                    squares += (row[c] - sum / n) * (row[c] - sum / n);
                const double deviation = std::sqrt(squares / n + epsilon);
                rows_[r] = {sum / n, deviation,
                            (additions_ + 6) * std::ldexp(1.0, -24) * (1 + largest / deviation)};
            }
        });
    }

    double expected(std::size_t i) const {
        const Row& row = rows_[i / cols_];
        return (in_[i] - row.mean) / row.deviation;
    }

    // The error that element i may have. u is 2^-24, X the largest magnitude in the row, s the
    // deviation, and g the length of the chain of additions. Each addition rounds by up to u of its
    // sum.
    //   The mean has an error of up to (g + 1) u X, which is divided by s.
    //   The deviation has a relative error of up to (g + 2) / 2 u. It is X / s times as large where
    //   mean and squares are updated with each element (Chan, Golub, LeVeque 1983).
    //   rsqrtf() has an error of up to 2 units of the last place, that is 4 u. Two more operations
    //   add u each.
    // The sum of these is below (g + 6) u (1 + X / s) (1 + |result|).
    double tolerance(std::size_t i) const {
        const Row& row = rows_[i / cols_];
        return row.least * (1 + std::fabs(expected(i)));
    }

    struct Comparison {
        std::string wrong;  // describes the first wrong element; empty if there is none
        double error = 0;   // the largest difference
    };
    // Compares elements first to first + count - 1 of a result. Calls must go through it in order.
    void compare(const float* out, std::size_t first, std::size_t count, Comparison* whole) const {
        std::mutex mutex;
        std::size_t wrong = count;
        lab::parallelFor(count, 1 << 14, [&](std::size_t begin, std::size_t end) {
            double largest = 0;
            std::size_t firstWrong = count;
            for (std::size_t i = begin; i < end; ++i) {
                const double error = std::fabs(out[i] - expected(first + i));
                largest = std::max(largest, error);
                // `least` is the error that an element may have that should be 0. Every other
                // element may have more. A NaN is wrong.
                if (!(error <= rows_[(first + i) / cols_].least) &&
                    !(error <= tolerance(first + i)))
                    firstWrong = std::min(firstWrong, i);
            }
            const std::lock_guard<std::mutex> lock(mutex);
            whole->error = std::max(whole->error, largest);
            wrong = std::min(wrong, firstWrong);
        });
        if (wrong == count || !whole->wrong.empty()) return;
        const std::size_t i = first + wrong;
        whole->wrong = lab::describeMismatch(i, out[wrong], static_cast<float>(expected(i))) +
                       lab::formatted(" (off by at most %.1e)", tolerance(i));
    }
    Comparison compare(const std::vector<float>& out) const {
        Comparison whole = {lab::sizeMismatch(out, in_), 0};
        if (whole.wrong.empty()) compare(out.data(), 0, out.size(), &whole);
        return whole;
    }

  private:
    struct Row {
        double mean, deviation;  // sqrt(variance + epsilon)
        double least;            // error that any element may have
    };
    const std::vector<float>& in_;
    std::size_t cols_;
    double additions_;
    std::vector<Row> rows_;
};
