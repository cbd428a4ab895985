// The error of a kernel that failed while running (deadlock, illegal address, failed assertion,
// trap). As on a GPU the context is lost with it: nothing can run until the error is cleared.
#pragma once

#include "emu/runtime_types.h"

namespace emu {

// Thread-safe. The first error wins.
void setStickyError(cudaError_t error);
void clearStickyError();

// cudaSuccess if no kernel has failed.
cudaError_t stickyError();

}  // namespace emu
