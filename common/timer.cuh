#pragma once
// Time on the device's clock and on the host's.

#include <cuda_runtime.h>

#include <chrono>
#include <utility>

#include "check.cuh"

namespace lab {

// Time between two points of a stream, stamped by the GPU when it gets there.
class GpuTimer {
  public:
    GpuTimer() {
        CUDA_CHECK(cudaEventCreate(&start_));
        CUDA_CHECK(cudaEventCreate(&stop_));
    }
    ~GpuTimer() {
        if (start_ == nullptr) return;
        cudaEventDestroy(start_);
        cudaEventDestroy(stop_);
    }
    GpuTimer(GpuTimer&& other) noexcept
        : start_(std::exchange(other.start_, nullptr)),
          stop_(std::exchange(other.stop_, nullptr)) {}
    GpuTimer& operator=(GpuTimer&&) = delete;

    void start(cudaStream_t stream = nullptr) { CUDA_CHECK(cudaEventRecord(start_, stream)); }
    void stop(cudaStream_t stream = nullptr) { CUDA_CHECK(cudaEventRecord(stop_, stream)); }

    // Waits until the GPU has passed stop().
    double milliseconds() const {
        float elapsed = 0;
        CUDA_CHECK(cudaEventSynchronize(stop_));
        CUDA_CHECK(cudaEventElapsedTime(&elapsed, start_, stop_));
        return elapsed;
    }

  private:
    cudaEvent_t start_ = nullptr;
    cudaEvent_t stop_ = nullptr;
};

// Time since construction, by a clock that never goes back.
class CpuTimer {
  public:
    double milliseconds() const {
        return std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
    }

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

}  // namespace lab
