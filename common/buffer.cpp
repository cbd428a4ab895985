#include "buffer.cuh"

#include <cstdint>

#include "fail.h"

namespace lab {
namespace {

[[noreturn]] void quitWithoutDeviceMemory(std::uint64_t bytes) {
    cudaGetLastError();  // the failed allocation, reported here
    std::size_t freeBytes = 0, totalBytes = 0;
    CUDA_CHECK(cudaMemGetInfo(&freeBytes, &totalBytes));
    quitWithoutMemory(bytes, "device", freeBytes);
}

}  // namespace

void* deviceMemory(std::size_t count, std::size_t elementBytes) {
    if (count > SIZE_MAX / elementBytes) quitWithoutDeviceMemory(SIZE_MAX);
    void* memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, count * elementBytes);
    if (error == cudaErrorMemoryAllocation) quitWithoutDeviceMemory(count * elementBytes);
    CUDA_CHECK(error);
    return memory;
}

void* pinnedMemory(std::size_t count, std::size_t elementBytes) {
    if (count > SIZE_MAX / elementBytes) quitWithoutMemory(SIZE_MAX, "pinned", freeHostBytes());
    void* memory = nullptr;
    const cudaError_t error = cudaMallocHost(&memory, count * elementBytes);
    if (error == cudaErrorMemoryAllocation) {
        quitWithoutMemory(count * elementBytes, "pinned", freeHostBytes());
    }
    CUDA_CHECK(error);
    return memory;
}

void requireFit(std::size_t count, std::size_t size) {
    if (count <= size) return;
    quit(kExitFailure, "a copy of %zu elements does not fit a device buffer of %zu", count, size);
}

}  // namespace lab
