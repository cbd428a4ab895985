#pragma once
// What a product of matrices must be, as the CPU computes it in double, and how far off FP32 may
// be; and what FP32 makes of it, to the bit, if it adds in the order of k.

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

// What a product with FP32 sums may be off by, as a part of the result. An FP32 addition rounds by
// up to 2^-24 of the sum so far. With inputs around zero that sum grows like the square root of its
// length, and the signs of the errors are random: all k of them amount to at most
// 2^-24 * sqrt(k / 2). Five times that leaves room. A product that is left out changes the result
// by 1 / sqrt(k), which is more for every k below 2^22. If the terms nearly cancel, the result is
// small but its errors are not. Then the tolerance is a part of what the terms would add up to
// otherwise: the root of the sum of their squares.
inline double productTolerance(std::size_t k) {
    return 4 * std::ldexp(1.0, -24) * std::sqrt(static_cast<double>(k));
}

// C (m x n) = A (m x k) * B (k x n), all row-major: all of its entries, or for large products the
// sample of entriesToCheck().
class ProductReference {
  public:
    ProductReference(const std::vector<float>& a, const std::vector<float>& b, std::size_t m,
                     std::size_t n, std::size_t k, std::uint64_t seed)
        : size_(m * n), k_(k), entries_(entriesToCheck(m, n, k, seed)) {
        expected_ = lab::hostVector<float>(entries_.size());
        chains_ = lab::hostVector<float>(entries_.size());
        auto squares = lab::hostVector<double>(entries_.size());  // of the terms of each
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

    // Which entries are compared, in words; empty if all are.
    std::string sampleNote() const {
        if (entries_.size() == size_) return "";
        return lab::formatted("checked against a sample of %zu of the %s entries of C",
                              entries_.size(), lab::withCommas(size_).c_str());
    }

    // What is wrong with a result; empty if nothing is. All elements must have been written, also
    // those outside of the sample.
    std::string mismatch(const std::vector<float>& result) const {
        return mismatch(result, productTolerance(k_));
    }
    std::string mismatch(const std::vector<float>& result, double tolerance) const {
        return mismatch(result, expected_, tolerance);
    }

    // The same for a kernel whose every element is one chain sum = fmaf(a, b, sum), in the order of
    // k. A GPU's fmaf() rounds as the CPU's does, so there is no tolerance: not a bit may differ.
    std::string exactMismatch(const std::vector<float>& result) const {
        const std::string wrong = mismatch(result);
        return wrong.empty() ? mismatch(result, chains_, 0) : wrong;
    }

    // Is a result this chain, in every entry that is compared?
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
        const std::string missing = lab::neverWritten(result);
        if (!missing.empty()) return missing;
        std::vector<float> values;
        for (const std::size_t entry : entries_) values.push_back(result[entry]);
        return lab::mismatch(values, expected, tolerance, entries_, uncancelled_);
    }

    std::size_t size_, k_;
    std::vector<std::size_t> entries_;
    std::vector<float> expected_, chains_;  // summed in double; in float, in the order of k
    double uncancelled_ = 0;  // root mean square of an entry whose terms do not cancel
};
