// What emu/host_allocator.h has given out, for the hazard check: code of the program uses it in
// kernels, which is no mistake of theirs.
#pragma once

#include <cstdint>

namespace emu {

// Only with guardAllocations.
bool isOfHostAllocator(uintptr_t address);

}  // namespace emu
