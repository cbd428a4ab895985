// Memory that kernels took from the heap with malloc() or new: theirs to use, unlike the host's.
#pragma once

#include <cstdint>

namespace emu {

// Notes what kernels allocate. Set before the first launch, and never again.
extern bool watchKernelHeap;

bool isKernelHeap(uintptr_t address);

}  // namespace emu
