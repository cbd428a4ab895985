#include "check.cuh"

#include "fail.h"
#include "format.h"

namespace lab {

void checkCuda(cudaError_t error, const char* what, const std::string& where) {
    if (error == cudaSuccess) return;
    const bool wrongArchitecture =
        error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion;
    quit(kExitFailure, "%s: %s: %s: %s%s", where.c_str(), what, cudaGetErrorName(error),
         cudaGetErrorString(error),
         wrongArchitecture ? " (build for this GPU: -DCMAKE_CUDA_ARCHITECTURES=native)" : "");
}

void checkCuda(cudaError_t error, const char* what, const char* file, int line) {
    if (error != cudaSuccess) checkCuda(error, what, formatted("%s:%d", file, line));
}

}  // namespace lab
