// The table of the memory that kernels and the calls of the API may use: what was allocated, host
// memory that was registered, and the device symbols met so far. The runtime fills it in; who
// watches kernels reads it, too. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

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
    KernelHeap,     // malloc() or new in a kernel
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
    unsigned number = 0;   // 1 for the first of the program; 0 for what the API did not allocate
    size_t writtenTo = 0;  // bytes from `base` on in which copies have met no fresh memory

    bool managed() const {
        return kind == MemoryKind::Managed || kind == MemoryKind::ManagedSymbol;
    }
};

// The allocation that `pointer` points into, if any.
std::optional<Allocation> findAllocation(const void* pointer);

// A __managed__ variable lies there. For hot paths.
bool isManagedVariable(uintptr_t address);

// Makes an allocation known. The second form does so unless it overlaps a known one, and returns
// that.
void addAllocation(const Allocation& allocation);
std::optional<Allocation> addUnlessOverlapping(const Allocation& allocation);

// Changes with what is known: answers of before may no longer hold. For hot paths.
extern std::atomic<unsigned> allocationsChanged;

// Forgets the allocation that begins at `base`, if its kind is one of `kinds`, and returns it.
std::optional<Allocation> removeAllocation(const void* base,
                                           std::initializer_list<MemoryKind> kinds);
// Forgets all allocations of these kinds, and returns them.
std::vector<Allocation> removeAllocations(std::initializer_list<MemoryKind> kinds);

// Sets `writtenTo` of the allocation at `base`, if it is still there.
void setWrittenTo(const void* base, size_t bytes);

// Replaces the hints of the managed allocation at `base`, if it is still there.
void setHints(const void* base, const ManagedHints& hints);

}  // namespace emu
