// NVTX's ranges of the host program, which the recording of what ran when has (trace.h in
// src/runtime/).
#pragma once

#include <cstdint>

namespace emu {

// Ranges of the calling thread, one within the other.
void rangePushed(const char* name);
void rangePushed(const wchar_t* name);
void rangePopped();

// One that any thread may end. The numbers begin with 1; without a recording it is 0.
uint64_t rangeStarted(const char* name);
uint64_t rangeStarted(const wchar_t* name);
void rangeEnded(uint64_t number);

}  // namespace emu
