#pragma once
// What large arrays of tests hold: numbers that a kernel and the CPU compute from their places.

#include <cuda_runtime.h>

#include <cstddef>

namespace lab {

// The number at a place: so mixed that the sum of other places is another one.
__host__ __device__ inline unsigned mixedNumber(std::size_t place, unsigned seed) {
    unsigned number = static_cast<unsigned>(place ^ place >> 32) * 0x9E3779B1u + seed;
    number ^= number >> 15;
    return number * 0x85EBCA77u;
}

}  // namespace lab
