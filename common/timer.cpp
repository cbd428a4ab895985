#include "timer.cuh"

#include <chrono>
#include <utility>

#include "check.cuh"

namespace lab {

GpuTimer::GpuTimer() {
    CUDA_CHECK(cudaEventCreate(&start_));
    CUDA_CHECK(cudaEventCreate(&stop_));
}

GpuTimer::~GpuTimer() {
    if (start_ == nullptr) return;
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
}

GpuTimer::GpuTimer(GpuTimer&& other) noexcept
    : start_(std::exchange(other.start_, nullptr)), stop_(std::exchange(other.stop_, nullptr)) {}

void GpuTimer::start(cudaStream_t stream) {
    CUDA_CHECK(cudaEventRecord(start_, stream));
}

void GpuTimer::stop(cudaStream_t stream) {
    CUDA_CHECK(cudaEventRecord(stop_, stream));
}

double GpuTimer::milliseconds() const {
    float elapsed = 0;
    CUDA_CHECK(cudaEventSynchronize(stop_));
    CUDA_CHECK(cudaEventElapsedTime(&elapsed, start_, stop_));
    return elapsed;
}

double CpuTimer::now() {
    const auto sinceStart = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::milli>(sinceStart).count();
}

}  // namespace lab
