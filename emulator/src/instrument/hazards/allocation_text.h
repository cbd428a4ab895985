// Guarded allocations in words, for the reports of the hazard check.
#pragma once

#include <string>

#include "engine/guarded_memory.h"
#include "engine/number_text.h"

namespace emu {

// "allocation 2 (400 bytes)"; or, of a kernel's malloc(), "memory from malloc() in a kernel (...)"
inline std::string nameOf(const GuardedAllocation& allocation) {
    const std::string name = allocation.owner == Owner::Kernel
                                 ? "memory from malloc() or new in a kernel"
                                 : "allocation " + number(allocation.number);
    return name + " (" + bytes(allocation.size) + ")";
}

// "allocation 2 (400 bytes), element 3 (of 4 bytes)" for the access of `size` bytes at `address`.
inline std::string nameOf(const GuardedAllocation& allocation, uintptr_t address, size_t size) {
    return nameOf(allocation) + ", " +
           element(address - reinterpret_cast<uintptr_t>(allocation.base), size);
}

}  // namespace emu
