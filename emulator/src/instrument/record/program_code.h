// The basic blocks of the running program, read from its machine code.
#pragma once

#include <cstdint>

#include "basic_blocks.h"

extern "C" const char __executable_start[];  // from the linker

namespace emu {

// Names a place in the program's code in 32 bits, in the order of addresses.
inline uint32_t placeOf(uintptr_t pc) {
    return static_cast<uint32_t>(pc - reinterpret_cast<uintptr_t>(__executable_start));
}
inline uintptr_t pcOf(uint32_t place) {
    return reinterpret_cast<uintptr_t>(__executable_start) + place;
}

// Where a call that stands at `pc` returns to.
uintptr_t afterCallAt(uintptr_t pc);

// The basic block that begins at `place`, as Recorder::basicBlock() names it. Knows x86-64 and
// AArch64 code; elsewhere all members are 0.
BasicBlock basicBlockAt(uint32_t place);

}  // namespace emu
