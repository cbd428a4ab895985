// Kernels whose parameters are references: these may be to what the kernel can reach.
#include "allocations.h"
#include "emu/engine.h"
#include "messages.h"
#include "program_symbols.h"
#include "scheduler.h"

namespace emu {

bool kernelReaches(const volatile void* address) {
    const void* const object = const_cast<const void*>(address);
    if (isManagedVariable(reinterpret_cast<uintptr_t>(object))) return true;
    const std::optional<Allocation> known = findAllocation(object);
    // In host code a __device__ variable's name stands for something of the host's.
    if (!inDevice()) return known && known->kind != MemoryKind::Symbol;
    return known || variableAt(object);
}

void failReference(const volatile void* address, size_t number) {
    failKernel(cudaErrorIllegalAddress,
               format("parameter %zu is a reference to %p, which is neither device nor managed nor "
                      "page-locked memory: a GPU cannot reach it. Pass a value, or what lies in "
                      "device memory",
                      number, const_cast<const void*>(address)));
}

}  // namespace emu
