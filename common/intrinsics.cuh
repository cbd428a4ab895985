#pragma once
// What CUDA C++ has no name for: the registers that PTX calls %globaltimer, %smid and %laneid.

#include <cuda_runtime.h>

namespace lab {

#ifdef __CUDA_EMULATOR__

__device__ inline unsigned long long globaltimer() {
    return emu::globaltimer();
}
__device__ inline unsigned smid() {
    return emu::smid();
}
__device__ inline unsigned laneid() {
    return emu::laneId();
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

// Place of this thread in its warp: 0 to 31.
__device__ inline unsigned laneid() {
    unsigned id;
    asm("mov.u32 %0, %%laneid;" : "=r"(id));
    return id;
}

#endif

// Threads that a multiprocessor holds at a time, of the GPU that a kernel is compiled for; on the
// host, where that is not known, the most of any. (CUDA C++ Programming Guide, table "Technical
// Specifications per Compute Capability".)
#ifndef __CUDA_ARCH__
inline constexpr unsigned kResidentThreads = 2048;
#elif __CUDA_ARCH__ == 750
inline constexpr unsigned kResidentThreads = 1024;
#elif (__CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900) || __CUDA_ARCH__ >= 1100
inline constexpr unsigned kResidentThreads = 1536;
#else
inline constexpr unsigned kResidentThreads = 2048;
#endif

// Number of this thread within its block, x fastest: the order in which threads are put into warps.
__device__ inline unsigned threadNumber() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
// Number of this thread's warp within the block. Not PTX's %warpid, which is the slot of the
// multiprocessor that holds the warp, and may change while the thread runs.
__device__ inline unsigned warpid() {
    return threadNumber() / warpSize;
}

}  // namespace lab
