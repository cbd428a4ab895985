#pragma once
// Hints for managed memory. CUDA 12 names a place with a number, CUDA 13 with a struct.

#include <cuda_runtime.h>

#include <cstddef>

#include "lab.cuh"

#if CUDART_VERSION >= 13000

using Place = cudaMemLocation;

inline Place onDevice(int device) {
    return {cudaMemLocationTypeDevice, device};
}
inline Place onHost() {
    return {cudaMemLocationTypeHost, 0};
}
// Moves pages of managed memory to a place. Like a kernel, the move waits for earlier work in the
// default stream.
inline void prefetch(const void* memory, std::size_t bytes, Place place) {
    CUDA_CHECK(cudaMemPrefetchAsync(memory, bytes, place, 0, nullptr));
}

#else

using Place = int;

inline Place onDevice(int device) {
    return device;
}
inline Place onHost() {
    return cudaCpuDeviceId;
}
inline void prefetch(const void* memory, std::size_t bytes, Place place) {
    CUDA_CHECK(cudaMemPrefetchAsync(memory, bytes, place, nullptr));
}

#endif
