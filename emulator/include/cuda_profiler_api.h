// Where a program marks what a profiler shall record.
#pragma once

#define __CUDA_PROFILER_API_H__

#include "emu/runtime_types.h"

cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();
