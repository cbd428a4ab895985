#pragma once
// How long the host is busy with calls: launchCost.

#include <utility>
#include <vector>

#include "lab.cuh"

// Milliseconds on the host, median of a few calls, each with nothing left to do on the GPU.
inline double issueTime(const lab::Launch& launch) {
    constexpr int kCalls = 5;
    std::vector<double> times;
    for (int call = 0; call < kCalls; ++call) {
        CUDA_CHECK(cudaDeviceSynchronize());
        const lab::CpuTimer timer;
        launch();
        times.push_back(timer.milliseconds());
        CUDA_CHECK_LAUNCH();
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    return lab::statistics(std::move(times)).median;
}
