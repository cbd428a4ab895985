// Calls of CUDA's API whose result a program drops, in programs that are compiled for the hazard
// check: if one of them fails, nobody knows.
//
// The translator makes `::emu::Discarded("cudaFree"), cudaFree(p);` of `cudaFree(p);`.
#pragma once

#include "emu/api/errors.h"
#include "emu/failed_call.h"
#include "emu/kernel_frame.h"
#include "emu/runtime_types.h"

namespace emu {

EMU_NOT_RECORDED inline void noteDiscarded(cudaError_t error, const char* before, const char* name,
                                           const char* after) {
    if (error == cudaSuccess) return;
    noteFailedCall(error, before, name, after, cudaGetErrorName(error), cudaGetErrorString(error));
}

struct Discarded {
    EMU_NOT_RECORDED explicit Discarded(const char* name) noexcept : function(name) {}
    const char* function;
};

// (For results of other types the language's own comma does nothing.)
EMU_NOT_RECORDED inline void operator,(const Discarded& call, cudaError_t error) {
    noteDiscarded(error, "", call.function, "()");
}

}  // namespace emu
