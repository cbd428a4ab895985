#pragma once
// What CUDA says of a kernel and of its occupancy, for the rules of occupancy_rules.h.

#include <cuda_runtime.h>

#include <cstddef>

#include "check.cuh"
#include "device.cuh"
#include "fail.h"
#include "format.h"
#include "occupancy_rules.h"

namespace occupancy {

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

}  // namespace occupancy
