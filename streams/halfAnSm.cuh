#pragma once
// Kernels with one block for each SM: streamConcurrency, issueOrder, streamPriorities.

#include "lab.cuh"

// Blocks of the kernel that are launched with the shared memory that this returns take half of an
// SM's and a little more (the variables of the kernel, and what CUDA keeps), so that no two fit
// into one SM.
template <typename Kernel>
int takeHalfOfAnSm(Kernel* kernel, const lab::DeviceFacts& gpu) {
    const auto shared = static_cast<int>(gpu.sharedPerMultiprocessor / 2);
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    return shared;
}
