// Limits that cudaDeviceSetLimit() sets, and that a kernel here may exceed: the hazard check tells.
#pragma once

#include <atomic>
#include <cstddef>

namespace emu {

// Bytes of stack for calls whose number the compiler cannot know, as those of a recursion.
constexpr size_t kDefaultStackSize = 1024;
inline std::atomic<size_t> stackSizeLimit{kDefaultStackSize};

// Bytes of the buffer for what kernels print. This is what CUDA's documentation promises; an H200
// has 64 KiB for each SM.
constexpr size_t kDefaultPrintfFifo = size_t{1} << 20;
inline std::atomic<size_t> printfFifoLimit{kDefaultPrintfFifo};

}  // namespace emu
