#pragma once
// Checks whether the rules of occupancy_rules.h agree with CUDA's own calculator.

#include <cstddef>
#include <string>

#include "format.h"
#include "occupancy_by_cuda.cuh"

namespace occupancy {

// The number of threads that a multiprocessor holds at a time, on the GPU that a kernel is compiled
// for. (An architecture of 900 is compute capability 9.0.) The host code does not know this GPU, so
// there it is the largest number of any GPU.
#ifdef __CUDA_ARCH__
inline constexpr unsigned kResidentThreads =
    residentThreads(__CUDA_ARCH__ / 100, __CUDA_ARCH__ / 10 % 10);
#else
inline constexpr unsigned kResidentThreads = 2048;
#endif

// `wrong` says where CUDA disagrees with the rules, and is empty if it agrees. `count` is the
// number of configurations (threads per block, shared memory) in which they agree on this kernel.
struct Comparison {
    std::string wrong;
    unsigned count = 0;
};
inline Comparison compareWithCuda(const Limits& sm, const void* kernel) {
    const cudaFuncAttributes attributes = attributesOf(kernel);
    Comparison comparison;
    for (int threads = 1; threads <= attributes.maxThreadsPerBlock; threads += 31) {
        for (const int kilobytes : {0, 1, 3, 8, 20, 40, 64, 96, 160, 227}) {
            const int dynamic = 1000 * kilobytes;  // this lies between the allocation units
            if (dynamic > attributes.maxDynamicSharedSizeBytes) break;
            const unsigned theirs = blocksByCuda(kernel, threads, dynamic);
            const Block block = blockOf(attributes, threads, dynamic);
            const unsigned ours = calculate(sm, block).blocks;
            if (ours != theirs) {
                comparison.wrong =
                    lab::formatted("%u blocks of %d threads with %zu bytes fit, but CUDA says %u",
                                   ours, threads, block.shared, theirs);
                return comparison;
            }
            ++comparison.count;
        }
    }
    return comparison;
}

}  // namespace occupancy
