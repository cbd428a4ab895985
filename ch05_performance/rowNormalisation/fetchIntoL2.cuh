#pragma once
// What CUDA C++ has no operator for: asking the L2 cache for data before they are needed.

// Asks for the line of 128 bytes around `address`, which must be valid global memory, to be brought
// into the L2 cache and to stay there until it is used. Nothing waits for it, and no result depends
// on it. PTX ISA, "prefetch".
__device__ inline void fetchIntoL2([[maybe_unused]] const void* address) {
#if defined(__CUDA_EMULATOR__)  // has no cache to bring it to
#elif __CUDA_ARCH__ >= 800
    asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(address));
#else  // cannot say that it should stay
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
}
