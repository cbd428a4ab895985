// Settings of kernels.
#pragma once

#include <cstddef>

namespace emu {

// Most dynamic shared memory [bytes] that `kernel` may be launched with: 48 KiB unless
// cudaFuncSetAttribute() raised it. nullptr (a kernel whose address the translator could not take):
// the largest limit that was set for any kernel.
size_t maxDynamicShared(const void* kernel);

}  // namespace emu
