#pragma once
// How many launches of kernels may be pending at a time: launched, and not complete with all that
// they launched in turn. CUDA refuses more of them (cudaErrorLaunchPendingCountExceeded, which only
// the launching thread sees), and reserves memory for as many as it is told to allow.

#include <cuda_runtime.h>

#include <cstddef>

#include "lab.cuh"

// CUDA allows as many without being asked.
inline constexpr std::size_t kDefaultPendingLaunches = 2048;
// What exercises ask for at most: an H200 reserves 2.4 GiB for them.
inline constexpr std::size_t kMostPendingLaunches = std::size_t{1} << 18;

// Makes CUDA allow `launches`, while no kernel is running. Returns how many it allows: it may round
// up, or never allow fewer than some.
inline std::size_t allowPendingLaunches(std::size_t launches) {
    constexpr cudaLimit kLimit = cudaLimitDevRuntimePendingLaunchCount;
    std::size_t allowed = 0;
    CUDA_CHECK(cudaDeviceGetLimit(&allowed, kLimit));
    if (allowed == launches) return allowed;
    CUDA_CHECK(cudaDeviceSetLimit(kLimit, launches));
    CUDA_CHECK(cudaDeviceGetLimit(&allowed, kLimit));
    if (allowed < launches) {
        lab::quit(lab::kExitFailure, "%zu launches by kernels have to be pending, CUDA allows %zu",
                  launches, allowed);
    }
    return allowed;
}
