// The table of all memory that the runtime knows: what it allocated, host memory that was
// registered with it, and device symbols that it has met. It answers what a pointer may be used
// for.
#pragma once

#include <cstddef>
#include <optional>

#include "emu/runtime_types.h"

namespace emu {

enum class MemoryKind {
    Device,         // cudaMalloc() and its like
    Managed,        // cudaMallocManaged()
    Pinned,         // cudaMallocHost(), cudaHostAlloc()
    Registered,     // cudaHostRegister()
    Symbol,         // a __device__ or __constant__ variable
    ManagedSymbol,  // a __managed__ variable
    Kernel,         // cudaMalloc() in a kernel
};

// Hints for managed memory. A location is a device number or cudaCpuDeviceId; cudaInvalidDeviceId:
// none.
struct ManagedHints {
    bool readMostly = false;
    int preferred = cudaInvalidDeviceId;
    int lastPrefetch = cudaInvalidDeviceId;
    bool accessedByDevice = false;
    bool accessedByHost = false;
};

struct Allocation {
    const void* base;
    size_t size;  // bytes, as asked for
    MemoryKind kind;
    unsigned flags = 0;  // of cudaHostAlloc() or cudaHostRegister()
    bool pooled = false;
    ManagedHints hints = {};

    bool managed() const {
        return kind == MemoryKind::Managed || kind == MemoryKind::ManagedSymbol;
    }
};

// The allocation that `pointer` points into, if any.
std::optional<Allocation> findAllocation(const void* pointer);

// cudaErrorInvalidValue unless `bytes` bytes from `pointer` on lie within one allocation or, where
// the device need not reach them, in memory of the host that is none of the runtime's business.
cudaError_t checkRange(const void* pointer, size_t bytes, bool deviceMustReach);

// Makes a device symbol known.
void addSymbol(const void* base, size_t size, MemoryKind kind);

// Replaces the hints of the managed allocation at `base`, if it is still there.
void setHints(const void* base, const ManagedHints& hints);

void freeAllMemory();

}  // namespace emu
