#include "measure.cuh"

#include <cuda_runtime.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "check.cuh"
#include "device.cuh"
#include "nvtx.cuh"
#include "timer.cuh"

namespace lab {
namespace {

// The first kernel brings the clocks up; those that follow it find them there.
constexpr double kFirstWarmupMilliseconds = 20, kWarmupMilliseconds = 2;
constexpr double kMostMilliseconds = 20, kHostMilliseconds = 1000;
constexpr int kLeastReps = 3;

void waitFor(const std::string& name) {
    checkCuda(cudaDeviceSynchronize(), "failed while it ran", name);
}

void launchChecked(const std::string& name, const Launch& launch) {
    launch();
    const cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) return;
    waitFor(name);  // a kernel that failed already (the cpu back end does not wait) fails here
    checkCuda(error, "cannot be launched", name);
}

}  // namespace

// Adds up all of `data`; the sum is stored only if it is 1, which it never is.
static __global__ void readAll(const unsigned* data, std::size_t count, unsigned* sink) {
    const std::size_t stride = std::size_t{blockDim.x} * gridDim.x;
    unsigned sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
        sum += data[i];
    if (sum == 1) *sink = sum;
}

L2Flush::L2Flush(std::size_t l2Bytes) : data_(2 * l2Bytes / sizeof(unsigned)), sink_(1) {
    data_.fillBytes(0);
}

void L2Flush::operator()() const {
    if (data_.size() > 0) readAll<<<1024, 256>>>(data_.get(), data_.size(), sink_.get());
}

Measure::Measure(int reps, std::size_t l2Bytes, bool fewerIfLong)
    : reps_(reps), fewerIfLong_(fewerIfLong) {
    if (reps_ > 0) flushL2_.emplace(l2Bytes);
}

int Measure::repsOf(double milliseconds) const {
    if (kEmulated || !fewerIfLong_ || reps_ * milliseconds <= kMostMilliseconds) return reps_;
    const int within = static_cast<int>(kMostMilliseconds / milliseconds);
    return std::min(reps_, std::max(kLeastReps, within));
}

Statistics Measure::operator()(const std::string& name, const Launch& before,
                               const Launch& launch) const {
    const NvtxRange range(name);
    if (reps_ == 0) {
        once(name, before, launch);
        return {};
    }
    once(name, before, launch);  // loads the kernel
    double ofRun = 0;
    const CpuTimer warmup;
    while (!kEmulated && warmup.milliseconds() <
                             (clocksAreUp_ ? kWarmupMilliseconds : kFirstWarmupMilliseconds)) {
        const CpuTimer run;
        once(name, before, launch);
        ofRun = run.milliseconds();
    }
    clocksAreUp_ = true;

    // The host runs ahead: while the GPU flushes, event, kernel and event are queued, so that
    // the time between the events is the kernel's and not that of its launch.
    std::vector<GpuTimer> timers(repsOf(ofRun));
    for (GpuTimer& timer : timers) {
        if (before) before();
        (*flushL2_)();
        const NvtxRange repetition(kRepetition);
        timer.start();
        launchChecked(name, launch);
        timer.stop();
    }
    waitFor(name);
    std::vector<double> times;
    for (const GpuTimer& timer : timers) times.push_back(timer.milliseconds());
    return statistics(std::move(times));
}

Statistics Measure::onHost(const std::function<void()>& compute) const {
    const CpuTimer first;
    compute();
    const auto reps = static_cast<std::size_t>(repsOf(first.milliseconds()));
    const CpuTimer all;
    std::vector<double> times;
    while (times.size() < reps && (times.empty() || all.milliseconds() < kHostMilliseconds)) {
        const CpuTimer timer;
        compute();
        times.push_back(timer.milliseconds());
    }
    return statistics(std::move(times));
}

void Measure::once(const std::string& name, const Launch& before, const Launch& launch) {
    if (before) before();
    launchChecked(name, launch);
    waitFor(name);
}

}  // namespace lab
