#pragma once
// What compileTargets.cu knows of the five compilations of compileTargetsKernel.cu.

#include <cuda_runtime.h>

#include <cstddef>

// One of them.
struct Target {
    const char* name;
    const char* architectures;  // as CMake has them

    cudaError_t (*attributes)(cudaFuncAttributes*);
    // One thread for each element. A launch that fails is seen by cudaGetLastError().
    void (*launch)(unsigned grid, unsigned block, const int* in, int* out, int* compiledFor,
                   std::size_t size);
};

extern const Target ptxOld, machineCode, machineCodeAndPtx, otherMachineCode, ptxNew;

// The kernel's work, which the host does, too: mixes the bits of a number. Without a loop in the
// compiled code, so that the driver has something to compile.
constexpr unsigned kSteps = 1024;

__host__ __device__ inline int mixed(int number) {
    unsigned bits = static_cast<unsigned>(number);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (unsigned step = 0; step < kSteps; ++step)
        bits = (bits ^ (bits >> 15)) * 0x2C1B3C6Du + step;
    return static_cast<int>(bits >> 1);
}
