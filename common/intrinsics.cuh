#pragma once
// What CUDA C++ has no name for: the registers of a multiprocessor that PTX calls %globaltimer and
// %smid.

#include <cuda_runtime.h>

namespace lab {

#ifdef __CUDA_EMULATOR__

__device__ inline unsigned long long globaltimer() {
    return emu::globaltimer();
}
__device__ inline unsigned smid() {
    return emu::smid();
}

#else

// Nanoseconds on a clock that all multiprocessors share. It may advance in steps of up to a
// microsecond.
__device__ inline unsigned long long globaltimer() {
    unsigned long long nanoseconds;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    return nanoseconds;
}

// Number of the multiprocessor that runs this thread.
__device__ inline unsigned smid() {
    unsigned id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return id;
}

#endif

// Number of this thread within its block, x fastest: the order in which threads are put into warps.
__device__ inline unsigned threadNumber() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__device__ inline unsigned warpid() {
    return threadNumber() / warpSize;
}  // within the block
__device__ inline unsigned laneid() {
    return threadNumber() % warpSize;
}

}  // namespace lab
