#pragma once
// This header has CUDA's __half2, a pair of FP16 numbers (halves), and what the CPU needs to check
// such pairs.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstring>

// Returns the half that is nearest to x. If two halves are equally near, it returns the even one.
// The 16 bits are the sign, 5 bits of exponent, and 10 bits behind the binary point. x must be
// below 65,504. A double has the same parts in the same order. So we scale x until its exponent
// equals the exponent of the half, and round to 10 bits.
__host__ __device__ inline std::uint16_t nearestHalf(double x) {
    const double scaled = std::fabs(x) * 0x1p-1008;
    std::uint64_t bits;
    std::memcpy(&bits, &scaled, sizeof(bits));
    bits += (std::uint64_t{1} << 41) - 1 + (bits >> 42 & 1);
    return static_cast<std::uint16_t>((bits >> 42) | unsigned(std::signbit(x)) << 15);
}
__host__ __device__ inline double halfValue(std::uint16_t half) {
    const std::uint64_t bits = std::uint64_t(half & 0x7FFF) << 42;
    double scaled;
    std::memcpy(&scaled, &bits, sizeof(scaled));
    return (1 - 2 * (half >> 15)) * (scaled * 0x1p1008);
}

#ifndef __CUDA_EMULATOR__

#include <cuda_fp16.h>

#else  // the cpu back end has no cuda_fp16.h, so we define what the exercise needs of it

struct __half2 {
    std::uint16_t x, y;
};
__device__ inline __half2 __floats2half2_rn(float x, float y) {
    return {nearestHalf(x), nearestHalf(y)};
}

// This rounds once, since a product of halves is exact in double. The sum is exact here, too: no
// number is larger than 4, so the sum has at most 51 bits.
__device__ inline std::uint16_t fmaOfHalves(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
    return nearestHalf(std::fma(halfValue(a), halfValue(b), halfValue(c)));
}
__device__ inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
    return {fmaOfHalves(a.x, b.x, c.x), fmaOfHalves(a.y, b.y, c.y)};
}

#endif
