// Which instructions of AArch64 write to memory, for the fault of one where the kernel does not
// say.
#pragma once

#include <cstdint>

namespace emu {

bool isAArch64Store(uint32_t instruction);

}  // namespace emu
