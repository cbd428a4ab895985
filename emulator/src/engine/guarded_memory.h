// Device memory for the hazard check: allocations far from one another, in readable memory, so that
// an access off the end of one meets none of the others and the kernel runs on.
#pragma once

#include <cstddef>
#include <optional>

namespace emu {

// Allocations are made here. Set before the first one, and never again.
extern bool guardAllocations;

// `size` bytes, or nullptr. giveBackGuarded() keeps the last few allocations that were freed apart,
// so that an access to one of these is known for what it is.
void* takeGuarded(size_t size);
void giveBackGuarded(void* memory);

struct GuardedAllocation {
    const char* base;
    size_t size;      // bytes
    unsigned number;  // 1 for the first of the program
    bool freed;
};

// The allocation in or around which `address` lies; empty if it is near none.
std::optional<GuardedAllocation> guardedAround(const void* address);

}  // namespace emu
