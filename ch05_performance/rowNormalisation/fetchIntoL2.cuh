#pragma once
// Fetches data into the L2 cache before a kernel needs them. CUDA C++ has no operator for that.

// Begins to fetch the line of 128 bytes around `address` into the L2 cache, and asks the cache to
// evict it last. `address` must lie in valid global memory. No thread waits for the line, and no
// result depends on it. See "prefetch" in the PTX ISA.
__device__ inline void fetchIntoL2([[maybe_unused]] const void* address) {
#if defined(__CUDA_EMULATOR__)  // has no cache
#elif __CUDA_ARCH__ >= 800
    asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(address));
#else  // older GPUs have no evict_last
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
}
