#pragma once
// What compileTargets.cu knows of the five compilations of compileTargetsKernel.cu.

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

// One of them.
struct Target {
    const char* name;
    const char* architectures;  // CMake's names, as fileWith() takes them

    cudaError_t (*attributes)(cudaFuncAttributes*);
    // One thread for each element. cudaGetLastError() tells of a launch that fails.
    void (*launch)(unsigned grid, unsigned block, const int* in, int* out, int* compiledFor,
                   std::size_t size);
};

// Those that are linked into the program, in any order. A program that is built without nvcc has
// none.
inline std::vector<Target>& linkedTargets() {
    static std::vector<Target> targets;
    return targets;
}

// Adds a target before main() begins.
struct LinkedTarget {
    explicit LinkedTarget(const Target& target) { linkedTargets().push_back(target); }
};

// The kernel's work, which the host does, too: mixes the bits of a number. Its machine code has no
// loop, so that the driver has something to compile.
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
