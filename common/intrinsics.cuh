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

}  // namespace lab
