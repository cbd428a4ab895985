#pragma once
// Matrices of BF16 for tensor cores: on the device, with rows that begin at whole multiples of 32
// bytes, and what their product must be.

#include <cuda_bf16.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "buffer.cuh"
#include "memory.h"
#include "parallel.h"
#include "productReference.h"
#include "random.h"
#include "verify.h"

// Tensor cores take 16 x 16 elements, and the fast ways to shared memory take 16 bytes at a time.
// So each matrix stands in memory that is a multiple of 16 high and wide, behind its own elements
// filled up with zeros, which add nothing. (cudaMallocPitch gives such rows, too.)
constexpr std::size_t padded(std::size_t length) {
    return (length + 15) / 16 * 16;
}

// C (m x n) = A (m x k) * B (k x n), all row-major and of BF16; the elements of A and B are random,
// from -1 to 1.
class Bf16Product {
  public:
    Bf16Product(std::size_t m, std::size_t n, std::size_t k, std::uint64_t seed)
        : m_(m),
          n_(n),
          k_(k),
          hostA_(randomBf16(m * k, seed)),
          hostB_(randomBf16(k * n, seed + 1)),
          a_(withPadding(hostA_, m, k)),
          b_(withPadding(hostB_, k, n)),
          c_(padded(m) * padded(n)),
          reference_(hostA_, hostB_, m, n, k, seed) {}

    const __nv_bfloat16* a() const { return a_.get(); }
    const __nv_bfloat16* b() const { return b_.get(); }
    lab::DeviceBuffer<__nv_bfloat16>& c() { return c_; }
    std::string sampleNote() const { return reference_.sampleNote(); }

    // What is wrong with C; empty if nothing is.
    std::string mismatch() const {
        const std::vector<__nv_bfloat16> result = c_.toHost();
        std::vector<float> values = lab::hostVector<float>(m_ * n_);
        lab::parallelFor(m_, 16, [&](std::size_t begin, std::size_t end) {
            for (std::size_t row = begin; row < end; ++row) {
                for (std::size_t col = 0; col < n_; ++col) {
                    const __nv_bfloat16 value = result[row * padded(n_) + col];
                    values[row * n_ + col] = lab::isPoison(value) ? NAN : __bfloat162float(value);
                }
            }
        });
        return reference_.mismatch(values, tolerance());
    }

    // What C may be off by, as a part of it. To store a sum as BF16 rounds it by up to 2^-8 of
    // itself. The sums are FP32, but tensor cores cut off what does not fit where the CPU rounds:
    // each of the k / 16 additions of 16 products makes the sum smaller, by up to 2^-22 of it. A
    // product that is left out changes the result by 1 / sqrt(k), which is more for every k below
    // 2^15.
    double tolerance() const { return std::ldexp(1.0, -8) + std::ldexp(k_ / 16.0, -22); }

  private:
    // As floats, for the CPU.
    static std::vector<float> randomBf16(std::size_t count, std::uint64_t seed) {
        std::vector<float> values = lab::randomFloats(count, seed, -1, 1);
        lab::parallelFor(count, 4096, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                values[i] = __bfloat162float(__float2bfloat16(values[i]));
        });
        return values;
    }

    static std::vector<__nv_bfloat16> withPadding(const std::vector<float>& values,
                                                  std::size_t rows, std::size_t cols) {
        auto all = lab::hostVector<__nv_bfloat16>(padded(rows) * padded(cols));
        lab::parallelFor(rows, 16, [&](std::size_t begin, std::size_t end) {
            for (std::size_t row = begin; row < end; ++row) {
                for (std::size_t col = 0; col < cols; ++col)
                    all[row * padded(cols) + col] = __float2bfloat16(values[row * cols + col]);
            }
        });
        return all;
    }

    std::size_t m_, n_, k_;
    std::vector<float> hostA_, hostB_;
    lab::DeviceBuffer<__nv_bfloat16> a_, b_, c_;
    ProductReference reference_;
};
