// Guarded allocations in words, for the reports of the hazard check.
#pragma once

#include <string>

#include "engine/guarded_memory.h"
#include "words.h"

namespace emu {

// "allocation 2 (400 bytes)"
inline std::string nameOf(const GuardedAllocation& allocation) {
    return "allocation " + number(allocation.number) + " (" + bytes(allocation.size) + ")";
}

// "allocation 2 (400 bytes), element 3 (of 4 bytes)" for the access of `size` bytes at `address`.
inline std::string nameOf(const GuardedAllocation& allocation, uintptr_t address, size_t size) {
    return nameOf(allocation) + ", " +
           element(address - reinterpret_cast<uintptr_t>(allocation.base), size);
}

}  // namespace emu
