// Errors of the calling thread. Every call below returns an error and also leaves it for
// cudaGetLastError(), except cudaErrorNotReady, which reports a state and not a failure.
#pragma once

#include "emu/runtime_types.h"

// The last error of this thread, which becomes cudaSuccess.
cudaError_t cudaGetLastError();
// The last error of this thread, which stays.
cudaError_t cudaPeekAtLastError();
// "cudaErrorInvalidValue", or "unrecognized error code".
const char* cudaGetErrorName(cudaError_t error);
// "invalid argument", or "unrecognized error code".
const char* cudaGetErrorString(cudaError_t error);
