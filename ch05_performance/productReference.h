#pragma once
// The reference for a product of matrices. The CPU computes it in double, and productTolerance()
// says how far off an FP32 result may be. A second reference has every bit of an FP32 result that
// adds its products in the order of k.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "entriesToCheck.h"
#include "format.h"
#include "memory.h"
#include "parallel.h"
#include "verify.h"

// The relative error that a product with FP32 sums may have. An FP32 addition rounds by up to 2^-24
// of the sum so far. With inputs around zero, this sum grows like the square root of its length,
// and the signs of the errors are random. So all k errors together amount to at most
// 2^-24 * sqrt(k / 2). We allow more than five times as much. A kernel that leaves out one product
// changes the result by 1 / sqrt(k), which is more than the tolerance for every k below 2^22. If
// the terms nearly cancel, the result is small but its errors are not. Then the tolerance is
// relative to the root of the sum of the squares of the terms.
inline double productTolerance(std::size_t k) {
    return 4 * std::ldexp(1.0, -24) * std::sqrt(static_cast<double>(k));
}

// C (m x n) = A (m x k) * B (k x n), all row-major. It has all entries of C, or for large products
// the sample of entriesToCheck().
class ProductReference {
  public:
    ProductReference(const std::vector<float>& a, const std::vector<float>& b, std::size_t m,
                     std::size_t n, std::size_t k, std::uint64_t seed)
        : size_(m * n), n_(n), k_(k), entries_(entriesToCheck(m, n, k, seed)) {
        expected_ = lab::hostVector<float>(entries_.size());
        chains_ = lab::hostVector<float>(entries_.size());
        auto squares = lab::hostVector<double>(entries_.size());  // sums of squared terms
        lab::parallelFor(entries_.size(), 64, [&](std::size_t begin, std::size_t end) {
            for (std::size_t e = begin; e < end; ++e) {
                const std::size_t row = entries_[e] / n, col = entries_[e] % n;
                double sum = 0, squared = 0;
                float chain = 0;
                for (std::size_t i = 0; i < k; ++i) {
                    const float factorA = a[row * k + i], factorB = b[i * n + col];
                    const double term = static_cast<double>(factorA) * factorB;
                    sum += term;
                    squared += term * term;
                    chain = std::fmaf(factorA, factorB, chain);
                }
                expected_[e] = static_cast<float>(sum);
                chains_[e] = chain;
                squares[e] = squared;
            }
        });
        const double all = std::accumulate(squares.begin(), squares.end(), 0.0);
        uncancelled_ = std::sqrt(all / static_cast<double>(entries_.size()));
    }

    // Says how many entries are compared. Empty if all are.
    std::string sampleNote() const {
        if (entries_.size() == size_) return "";
        return lab::formatted("checked against a sample of %zu of the %s entries of C",
                              entries_.size(), lab::withCommas(size_).c_str());
    }

    // Says what is wrong with a result, with row and column of the element. Empty if nothing is.
    // All elements must have been written, also those outside the sample.
    std::string mismatch(const std::vector<float>& result) const {
        return mismatch(result, productTolerance(k_));
    }
    std::string mismatch(const std::vector<float>& result, double tolerance) const {
        return mismatch(result, expected_, tolerance);
    }

    // The same for a kernel that computes each element by one chain sum = fmaf(a, b, sum), in the
    // order of k. fmaf() rounds alike on GPU and CPU, so there is no tolerance: every bit must be
    // equal.
    std::string exactMismatch(const std::vector<float>& result) const {
        const std::string wrong = mismatch(result);
        return wrong.empty() ? mismatch(result, chains_, 0) : wrong;
    }

    // Whether every compared entry of a result is this chain.
    bool isChain(const std::vector<float>& result) const {
        for (std::size_t e = 0; e < entries_.size(); ++e) {
            if (result[entries_[e]] != chains_[e]) return false;
        }
        return true;
    }

  private:
    std::string mismatch(const std::vector<float>& result, const std::vector<float>& expected,
                         double tolerance) const {
        if (result.size() != size_)
            return lab::formatted("%zu elements, expected %zu", result.size(), size_);
        std::string wrong = lab::neverWritten(result);
        if (wrong.empty()) {
            std::vector<float> values;
            for (const std::size_t entry : entries_) values.push_back(result[entry]);
            wrong = lab::mismatch(values, expected, tolerance, entries_, uncancelled_);
        }
        return lab::inMatrix(wrong, n_);
    }

    std::size_t size_, n_, k_;
    std::vector<std::size_t> entries_;
    std::vector<float> expected_;  // summed in double
    std::vector<float> chains_;    // summed in float, in the order of k
    double uncancelled_ = 0;       // root mean square of an entry whose terms do not cancel
};
