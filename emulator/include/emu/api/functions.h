// Attributes and occupancy of kernels. What only a GPU's compiler knows (registers, local memory)
// is reported as 0 and does not limit the occupancy. Static shared memory is read from the symbol
// table of the program: it is 0 if the program is stripped, and leaves out what __device__
// functions that the kernel calls declare.
#pragma once

#include "emu/limits.h"
#include "emu/runtime_types.h"

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel);
// The limit of dynamic shared memory, up to what static shared memory leaves of
// emu::kSharedPerBlockOptin; other attributes are hints without effect.
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache config);

// Resident blocks of `kernel` per SM; 0 if not even one fits.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel,
                                                                   int blockSize,
                                                                   size_t dynamicShared,
                                                                   unsigned int flags);
// Dynamic shared memory [bytes] that each block may use if `blocks` are to be resident per SM.
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicShared, const void* kernel,
                                                      int blocks, int blockSize);

// ---- The same for a kernel by its name ----------------------------------------------------------

template <typename Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel* kernel) {
    return cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel));
}

template <typename Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}

template <typename Kernel>
cudaError_t cudaFuncSetCacheConfig(Kernel* kernel, cudaFuncCache config) {
    return cudaFuncSetCacheConfig(reinterpret_cast<const void*>(kernel), config);
}

template <typename Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, Kernel* kernel,
                                                                   int blockSize,
                                                                   size_t dynamicShared,
                                                                   unsigned int flags) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks, reinterpret_cast<const void*>(kernel), blockSize, dynamicShared, flags);
}

template <typename Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel* kernel,
                                                          int blockSize, size_t dynamicShared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks, reinterpret_cast<const void*>(kernel), blockSize, dynamicShared,
        cudaOccupancyDefault);
}

template <typename Kernel>
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicShared, Kernel* kernel,
                                                      int blocks, int blockSize) {
    return cudaOccupancyAvailableDynamicSMemPerBlock(
        dynamicShared, reinterpret_cast<const void*>(kernel), blocks, blockSize);
}

// ---- The block size with the most resident threads ----------------------------------------------

namespace emu {
cudaError_t maxPotentialBlockSize(int* minGridSize, int* blockSize, const void* kernel,
                                  size_t (*sharedOf)(const void* context, int blockSize),
                                  const void* context, int blockSizeLimit, unsigned int flags);
}  // namespace emu

// `sharedOf(blockSize)`: dynamic shared memory [bytes] of a block of that size. blockSizeLimit 0:
// none. *minGridSize: the blocks that fill the device.
template <typename SharedOf, typename Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int* minGridSize,
                                                                    int* blockSize, Kernel* kernel,
                                                                    SharedOf sharedOf,
                                                                    int blockSizeLimit,
                                                                    unsigned int flags) {
    auto call = [](const void* context, int size) -> size_t {
        return (*static_cast<SharedOf*>(const_cast<void*>(context)))(size);
    };
    return emu::maxPotentialBlockSize(minGridSize, blockSize, reinterpret_cast<const void*>(kernel),
                                      call, &sharedOf, blockSizeLimit, flags);
}

template <typename SharedOf, typename Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* minGridSize, int* blockSize,
                                                           Kernel* kernel, SharedOf sharedOf,
                                                           int blockSizeLimit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
        minGridSize, blockSize, kernel, sharedOf, blockSizeLimit, cudaOccupancyDefault);
}

template <typename Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize,
                                                        Kernel* kernel, size_t dynamicShared,
                                                        int blockSizeLimit, unsigned int flags) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
        minGridSize, blockSize, kernel, [=](int) { return dynamicShared; }, blockSizeLimit, flags);
}

template <typename Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, Kernel* kernel,
                                               size_t dynamicShared = 0, int blockSizeLimit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeWithFlags(
        minGridSize, blockSize, kernel, dynamicShared, blockSizeLimit, cudaOccupancyDefault);
}
