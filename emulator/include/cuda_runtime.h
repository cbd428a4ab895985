// Stands in for NVIDIA's header of this name: the CUDA kernel language and runtime API on the host
// CPU.
#pragma once

#ifndef __cplusplus
// Behind an #error the compiler would go on, and complain of each name.
#include "the cpu back end's headers are C++; rename this C source to .cpp, or use -x c++"
#else

#ifdef __EMU_INSTRUMENTED__
#include "emu/memory_functions.h"
#endif

// What NVIDIA's header brings along: programs use printf, assert or UINT_MAX without an include.
#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <stdio.h>

// clang-format off
#include "emu/include_guards.h"
#include "emu/qualifiers.h"
#include "emu/vector_types.h"
#include "emu/runtime_types.h"
#include "emu/runtime_api.h"
#include "emu/engine.h"
#include "emu/kernel_heap.h"
#include "emu/arch.h"
#include "emu/casts.h"
#include "emu/shifts.h"
#include "emu/volatile.h"
#include "emu/warp.h"
#include "emu/atomics.h"
#include "emu/math.h"
#include "emu/nv_atomics.h"
#include "emu/textures.h"
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "emu/per_thread_default_stream.h"
#endif
#ifdef __EMU_INSTRUMENTED__
#include "emu/decisions.h"
#include "emu/device_variables.h"
#include "emu/discarded.h"
#include "emu/division.h"
#endif
// clang-format on

// Programs write #pragma unroll for nvcc. clang++ would warn of each one that it does not follow.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

#endif
