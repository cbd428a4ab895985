// CUDA's declaration qualifiers, as ordinary C++.
#pragma once

#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDA_EMULATOR__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define __CUDA_API_VER_MAJOR__ 13
#define __CUDA_API_VER_MINOR__ 0
#define __CUDA_ARCH_LIST__ 900

#define __host__
#define __device__
#define __global__
#ifdef __EMU_INSTRUMENTED__
// In a section of their own, so that the profiler can tell them from __device__ variables. (The
// translator drops the qualifier from const variables, which are in read-only memory anyway.)
#define __constant__ __attribute__((section("emu_constant")))
#else
#define __constant__
#endif
// In a section of their own, so that the runtime knows which variables it may treat as managed
// memory.
#define __managed__ __attribute__((section("emu_managed")))
#define __grid_constant__

// A block runs on one OS thread from its first CUDA thread to its last, so storage per OS thread is
// storage per block. (thread_local alone, since it implies static at block scope and still allows
// the user's own `static __shared__`.)
// The model has the variable's address in a register: by default g++ adds constant indices to the
// relocation, where that of a branch which nobody takes may not fit.
#ifdef __aarch64__  // Elsewhere compilers themselves align arrays as a float4 needs it.
#define __shared__ thread_local __attribute__((tls_model("initial-exec"), aligned(16)))
#else
#define __shared__ thread_local __attribute__((tls_model("initial-exec")))
#endif

// The translator puts the number into a constant of the kernel's body, for the symbol table alone:
// it stays where a linker drops what nobody uses.
#define __launch_bounds__(...)
#if __has_attribute(retain)
#define EMU_KEPT __attribute__((used, retain))
#else
#define EMU_KEPT __attribute__((used))
#endif
#define __maxnreg__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ inline
// Left empty: libstdc++ itself writes __attribute__((__noinline__)), which must stay valid.
#define __noinline__
#ifndef __restrict__
#define __restrict__ __restrict
#endif
