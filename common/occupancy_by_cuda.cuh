#pragma once
// What CUDA says of the occupancy of a kernel, and whether the rules of occupancy_rules.h agree.

#include <cuda_runtime.h>

#include <cstddef>
#include <string>

#include "check.cuh"
#include "device.cuh"
#include "fail.h"
#include "format.h"
#include "occupancy_rules.h"

namespace occupancy {

// Threads that a multiprocessor holds at a time, of the GPU that a kernel is compiled for (an
// architecture of 900 is compute capability 9.0); on the host, where that is not known, the most of
// any.
#ifdef __CUDA_ARCH__
inline constexpr unsigned kResidentThreads =
    residentThreads(__CUDA_ARCH__ / 100, __CUDA_ARCH__ / 10 % 10);
#else
inline constexpr unsigned kResidentThreads = 2048;
#endif

// Of a GPU that is there; ends the program if its capability is not known.
inline const Limits& limitsOf(const lab::DeviceFacts& device) {
    const Limits* const sm = find(lab::formatted("%d.%d", device.major, device.minor));
    if (sm == nullptr) {
        lab::quit(lab::kExitFailure,
                  "occupancy: no limits known for compute capability %d.%d: they belong into "
                  "occupancy_rules.h",
                  device.major, device.minor);
    }
    return *sm;
}

inline cudaFuncAttributes attributesOf(const void* kernel) {
    cudaFuncAttributes attributes;
    CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
    return attributes;
}

// What a block of a kernel takes, if it is launched with so much dynamic shared memory.
inline Block blockOf(const cudaFuncAttributes& kernel, unsigned threads, std::size_t dynamic) {
    return {threads, static_cast<unsigned>(kernel.numRegs), kernel.sharedSizeBytes + dynamic};
}

// Lets a kernel without static shared memory have all there is: without asking, it is 48 KiB. Also
// gives shared memory its full size on the SM, so that the L1 cache, which has the rest of the same
// memory, is equally small however much a block takes.
inline void allowShared(const void* kernel, const Limits& sm) {
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(sm.sharedPerBlock)));
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                    cudaSharedmemCarveoutMaxShared));
}

// CUDA's own calculator.
inline unsigned blocksByCuda(const void* kernel, unsigned threads, std::size_t dynamic) {
    int blocks = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel,
                                                             static_cast<int>(threads), dynamic));
    return static_cast<unsigned>(blocks);
}

// What is wrong with the rules, where CUDA says otherwise (empty: nothing); `count` is the number
// of configurations (threads per block, shared memory) in which they agree on this kernel.
struct Comparison {
    std::string wrong;
    unsigned count = 0;
};
inline Comparison compareWithCuda(const Limits& sm, const void* kernel) {
    const cudaFuncAttributes attributes = attributesOf(kernel);
    Comparison comparison;
    for (int threads = 1; threads <= attributes.maxThreadsPerBlock; threads += 31) {
        for (const int kilobytes : {0, 1, 3, 8, 20, 40, 64, 96, 160, 227}) {
            const int dynamic = 1000 * kilobytes;  // in between the allocation units
            if (dynamic > attributes.maxDynamicSharedSizeBytes) break;
            const unsigned theirs = blocksByCuda(kernel, threads, dynamic);
            const Block block = blockOf(attributes, threads, dynamic);
            const unsigned ours = calculate(sm, block).blocks;
            if (ours != theirs) {
                comparison.wrong =
                    lab::formatted("%u blocks of %d threads with %zu bytes fit, CUDA says %u", ours,
                                   threads, block.shared, theirs);
                return comparison;
            }
            ++comparison.count;
        }
    }
    return comparison;
}

}  // namespace occupancy
