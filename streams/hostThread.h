#pragma once
// Threads of the host in programs that use CUDA.

#include <cuda_runtime.h>

#include <system_error>
#include <thread>
#include <utility>

#include "check.cuh"
#include "fail.h"

namespace lab {

// A thread that runs `work` with the caller's device. (By itself, each begins with device 0.) Ends
// the program if the system gives no more threads. The caller has to join it.
template <typename Work>
std::thread startThread(Work work) {
    int device;
    CUDA_CHECK(cudaGetDevice(&device));
    try {
        return std::thread([work = std::move(work), device]() mutable {
            CUDA_CHECK(cudaSetDevice(device));
            work();
        });
    } catch (const std::system_error& error) {
        quit(kExitFailure,
             "cannot start a thread of the host: %s; ask for fewer of them (--help), or raise the "
             "limits (ulimit -v, -u)",
             error.what());
    }
}

}  // namespace lab
