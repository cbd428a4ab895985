#pragma once
// Cold caches between measured runs.

#include <cuda_runtime.h>

#include <cstddef>

#include "buffer.cuh"

namespace lab {

// Adds up all of `data`; the sum is stored only if it is 1, which it never is.
static __global__ void readAll(const unsigned* data, std::size_t count, unsigned* sink) {
    const std::size_t stride = std::size_t{blockDim.x} * gridDim.x;
    unsigned sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
        sum += data[i];
    if (sum == 1) *sink = sum;
}

// Replaces what the L2 cache holds by reading twice its size. By reading, not by writing: lines
// that were written go back to memory later, at the expense of the kernel that is measured next.
class L2Flush {
  public:
    explicit L2Flush(std::size_t l2Bytes) : data_(2 * l2Bytes / sizeof(unsigned)), sink_(1) {
        data_.fillBytes(0);
    }

    // Does not wait; nothing where the cache's size is unknown (0).
    void operator()() const {
        if (data_.size() > 0) readAll<<<1024, 256>>>(data_.get(), data_.size(), sink_.get());
    }

  private:
    DeviceBuffer<unsigned> data_;
    DeviceBuffer<unsigned> sink_;
};

}  // namespace lab
