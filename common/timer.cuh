#pragma once
// Time on the device's clock and on the host's.

#include <cuda_runtime.h>

namespace lab {

// Time between two points of a stream, stamped by the GPU when it gets there.
class GpuTimer {
  public:
    GpuTimer();
    ~GpuTimer();
    GpuTimer(GpuTimer&& other) noexcept;
    GpuTimer& operator=(GpuTimer&&) = delete;

    void start(cudaStream_t stream = nullptr);
    void stop(cudaStream_t stream = nullptr);

    // Waits until the GPU has passed stop().
    double milliseconds() const;

  private:
    cudaEvent_t start_ = nullptr;
    cudaEvent_t stop_ = nullptr;
};

// Time since construction.
class CpuTimer {
  public:
    double milliseconds() const { return now() - start_; }

  private:
    static double now();  // of a clock that never goes back

    double start_ = now();
};

}  // namespace lab
