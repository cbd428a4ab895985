// For the hazard check: a call of CUDA's API has failed, and nobody knows.
#pragma once

#include "emu/runtime_types.h"

namespace emu {

// The words before and after its name, and what is to be said of the error.
void noteFailedCall(cudaError_t error, const char* before, const char* name, const char* after,
                    const char* errorName, const char* errorText);

}  // namespace emu
