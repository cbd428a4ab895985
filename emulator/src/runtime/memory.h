// What other files of the runtime need of memory.cpp.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "engine/allocations.h"

namespace emu {

// What cudaMallocAsync() has taken of the device's memory [bytes]. The pool hands memory back at
// once, so what it reserves is what is used.
struct MemoryUse {
    size_t pooled = 0;
    // The most that this has been since each mark was set back.
    size_t reservedHigh = 0;
    size_t usedHigh = 0;
};
MemoryUse memoryUse();
// Sets one of the high marks back to what is used now.
void resetHigh(size_t MemoryUse::*mark);

// Makes a new allocation as described, but for its base, which goes to `*pointer` (nullptr for 0
// bytes). cudaErrorInvalidValue without a `pointer`, cudaErrorMemoryAllocation if it does not fit.
cudaError_t allocate(void** pointer, Allocation allocation);

// Frees the allocation that begins at `pointer`; cudaErrorInvalidValue unless its kind is one of
// `kinds`. Nothing to do for nullptr.
cudaError_t release(void* pointer, std::initializer_list<MemoryKind> kinds);

// cudaErrorInvalidValue unless `bytes` bytes from `pointer` on lie within one allocation or, where
// the device need not reach them, in memory of the host that is none of the runtime's business.
// `name` says which pointer it is: "the destination".
cudaError_t checkRange(const char* name, const void* pointer, size_t bytes, bool deviceMustReach);

// Frees all allocations, and forgets the host memory that was registered.
void freeAllMemory();

}  // namespace emu
