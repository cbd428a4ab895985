#pragma once
// What every exercise shares. Each part is a small header of its own.

#include "buffer.cuh"
#include "check.cuh"
#include "device.cuh"
#include "exercise.cuh"
#include "format.h"
#include "grid.cuh"
#include "intrinsics.cuh"
#include "l2_flush.cuh"
#include "memory.h"
#include "nvtx.cuh"
#include "parallel.h"
#include "random.h"
#include "statistics.h"
#include "table.h"
#include "timer.cuh"
#include "verify.h"
