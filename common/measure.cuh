#pragma once
// How every kernel is measured: after a warm-up, many runs, each with fresh data and cold caches.

#include <cuda_runtime.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check.cuh"
#include "device.cuh"
#include "l2_flush.cuh"
#include "nvtx.cuh"
#include "statistics.h"
#include "timer.cuh"

namespace lab {

// Starts work on the default stream, and need not wait for it.
using Launch = std::function<void()>;

class Measure {
  public:
    // `reps` timed runs of each kernel; 0: each runs once, and nothing is timed.
    Measure(int reps, std::size_t l2Bytes) : reps_(reps) {
        if (reps_ > 0) flushL2_.emplace(l2Bytes);
    }

    // The times of `launch` in milliseconds. `before` runs before each run and is not timed; best
    // without waiting on the host. `name` is for error messages and the profilers' timelines.
    Statistics operator()(const std::string& name, const Launch& before,
                          const Launch& launch) const {
        const NvtxRange range(name);
        if (reps_ == 0) {
            once(name, before, launch);
            return {};
        }
        const CpuTimer warmup;
        do {  // the first run loads the kernel, the others bring the clocks up
            once(name, before, launch);
        } while (!kEmulated && warmup.milliseconds() < kWarmupMilliseconds);

        // The host runs ahead: while the GPU flushes, event, kernel and event are queued, so that
        // the time between the events is the kernel's and not that of its launch.
        std::vector<GpuTimer> timers(reps_);
        for (GpuTimer& timer : timers) {
            if (before) before();
            (*flushL2_)();
            timer.start();
            launchChecked(name, launch);
            timer.stop();
        }
        waitFor(name);
        std::vector<double> times;
        for (const GpuTimer& timer : timers) times.push_back(timer.milliseconds());
        return statistics(std::move(times));
    }

    // One run that is not timed.
    static void once(const std::string& name, const Launch& before, const Launch& launch) {
        if (before) before();
        launchChecked(name, launch);
        waitFor(name);
    }

  private:
    static constexpr double kWarmupMilliseconds = 20;

    static void launchChecked(const std::string& name, const Launch& launch) {
        launch();
        const cudaError_t error = cudaGetLastError();
        if (error == cudaSuccess) return;
        waitFor(name);  // a kernel that failed already (the cpu back end does not wait) fails here
        checkCuda(error, "cannot be launched", name);
    }
    static void waitFor(const std::string& name) {
        checkCuda(cudaDeviceSynchronize(), "failed while it ran", name);
    }

    int reps_;
    std::optional<L2Flush> flushL2_;
};

}  // namespace lab
