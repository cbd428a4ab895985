#pragma once
// Shared memory beyond the 48 KiB that a launch has without asking.

#include <cuda_runtime.h>

#include <cstddef>

#include "check.cuh"
#include "device.cuh"

// Lets launches of the kernel have so many bytes of dynamic shared memory. False where no block can
// have them beside the kernel's static ones.
template <typename Kernel>
bool allowShared(Kernel* kernel, std::size_t bytes) {
    int device;
    CUDA_CHECK(cudaGetDevice(&device));
    const int most = lab::deviceAttribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    cudaFuncAttributes attributes;
    CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
    if (attributes.sharedSizeBytes + bytes > static_cast<std::size_t>(most)) return false;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(bytes)));
    return true;
}
