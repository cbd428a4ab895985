#pragma once
// Every CUDA call returns an error code; these macros look at it. A failure prints the file, the
// line, the expression, and the error's name and text, and ends the program with exit status 1.

#include <cuda_runtime.h>

#include <string>

#include "fail.h"

#define CUDA_CHECK(call) ::lab::checkCuda((call), #call, __FILE__, __LINE__)

// After kernel<<<...>>>(...), which returns nothing: finds launches that could not start (a bad
// configuration). What goes wrong while the kernel runs is returned by a later call that waits for
// it.
#define CUDA_CHECK_LAUNCH() \
    ::lab::checkCuda(cudaGetLastError(), "kernel launch", __FILE__, __LINE__)

namespace lab {

// `where` is a place in the source, or the name of a kernel.
inline void checkCuda(cudaError_t error, const char* what, const std::string& where) {
    if (error == cudaSuccess) return;
    const bool wrongArchitecture =
        error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion;
    quit(kExitFailure, "%s: %s: %s: %s%s", where.c_str(), what, cudaGetErrorName(error),
         cudaGetErrorString(error),
         wrongArchitecture ? " (build for this GPU: -DCMAKE_CUDA_ARCHITECTURES=native)" : "");
}

inline void checkCuda(cudaError_t error, const char* what, const char* file, int line) {
    if (error != cudaSuccess) checkCuda(error, what, formatted("%s:%d", file, line));
}

}  // namespace lab
