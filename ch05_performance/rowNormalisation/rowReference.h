#pragma once
// What the normalised rows of a matrix must be, as the CPU computes them in double, and how far off
// FP32 may be.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "parallel.h"
#include "verify.h"

// out = (x - mean) / sqrt(variance + epsilon) for a matrix of rows x cols elements, row-major, with
// the mean and the variance of x's row. The matrix must outlive this.
class RowReference {
  public:
    // `additions`: the most that stand one behind the other in a sum over a row.
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
                rows_[r] = {sum / n, std::sqrt(squares / n + epsilon), largest};
            }
        });
    }

    double expected(std::size_t i) const {
        const Row& row = rows_[i / cols_];
        return (in_[i] - row.mean) / row.deviation;
    }

    // How far off element i may be. With u = 2^-24, X the largest magnitude in the row, s the
    // deviation, and g additions one behind the other, each of which rounds by up to u of its sum:
    //   the mean is off by up to (g + 1) u X, which s divides;
    //   the deviation by up to (g + 2) / 2 u of its size, and where mean and squares are updated
    //   with each element, by X / s times as much (Chan, Golub, LeVeque 1983);
    //   rsqrtf() by up to 2 units of the last place, that is 4 u, and two more operations by u
    //   each.
    // All of it is below (g + 6) u (1 + X / s) (1 + |result|).
    double tolerance(std::size_t i) const {
        const Row& row = rows_[i / cols_];
        return (additions_ + 6) * std::ldexp(1.0, -24) * (1 + row.largest / row.deviation) *
               (1 + std::fabs(expected(i)));
    }

    struct Comparison {
        std::string wrong;  // the first element that is, in words; empty: none
        double error = 0;   // the largest difference
    };
    Comparison compare(const std::vector<float>& out) const {
        Comparison whole = {lab::sizeMismatch(out, in_), 0};
        if (!whole.wrong.empty()) return whole;
        std::vector<std::pair<std::size_t, double>> ofRows(rows_.size());  // first wrong, error
        lab::parallelFor(rows_.size(), 16, [&](std::size_t begin, std::size_t end) {
            for (std::size_t r = begin; r < end; ++r) {
                ofRows[r] = {out.size(), 0};
                for (std::size_t i = r * cols_; i < (r + 1) * cols_; ++i) {
                    const double error = std::fabs(out[i] - expected(i));
                    ofRows[r].second = std::max(ofRows[r].second, error);
                    if (!(error <= tolerance(i)))  // a NaN is not
                        ofRows[r].first = std::min(ofRows[r].first, i);
                }
            }
        });
        std::size_t first = out.size();
        for (const auto& [wrong, error] : ofRows) {
            first = std::min(first, wrong);
            whole.error = std::max(whole.error, error);
        }
        if (first < out.size()) {
            whole.wrong =
                lab::describeMismatch(first, out[first], static_cast<float>(expected(first))) +
                lab::formatted(" (off by at most %.1e)", tolerance(first));
        }
        return whole;
    }

  private:
    struct Row {
        double mean, deviation, largest;  // deviation: sqrt(variance + epsilon)
    };
    const std::vector<float>& in_;
    std::size_t cols_;
    double additions_;
    std::vector<Row> rows_;
};
