#pragma once
// Cold caches between measured runs.

#include <cuda_runtime.h>

#include <cstddef>

#include "buffer.cuh"

namespace lab {

// Replaces what the L2 cache holds by reading twice its size. By reading, not by writing: lines
// that were written go back to memory later, at the expense of the kernel that is measured next.
class L2Flush {
  public:
    explicit L2Flush(std::size_t l2Bytes);

    // Does not wait; nothing where the cache's size is unknown (0).
    void operator()() const;

  private:
    DeviceBuffer<unsigned> data_;
    DeviceBuffer<unsigned> sink_;
};

}  // namespace lab
