#pragma once

namespace emu {

// cudaDeviceReset() for the memory pool, once its memory is free.
void resetMemoryPool();

}  // namespace emu
