// Registers of kernels. There are none here; who has asked nvcc can tell the program of kernels
// that take many, and then launches fail as on a GPU.
#pragma once

namespace emu {

// Whether CUDA_EMULATOR_REGISTERS="KERNEL:NUMBER KERNEL:NUMBER" is in the environment, with mangled
// names.
extern const bool registersAreKnown;

// Of a kernel, for each thread; where `kernel` is not known, but the text of its launch, the most
// of all kernels of the name. 0 if nobody has told.
int registersOf(const void* kernel, const char* launched);

// That a block takes: each warp is given whole units.
int registersOfBlock(int threads, int registers);

}  // namespace emu
