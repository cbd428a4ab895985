// Where a program marks what a profiler shall record.
#pragma once

#include "emu/runtime_types.h"

cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();
