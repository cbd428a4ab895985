#pragma once
// The filter in constant memory: all threads of a warp want the same tap at the same time.

#include <cuda_runtime.h>

constexpr int kMaxRadius = 7;
constexpr int kMaxSide = 2 * kMaxRadius + 1;

__constant__ float constantTaps[kMaxSide * kMaxSide];
__constant__ float constantRow[kMaxSide], constantColumn[kMaxSide];  // of a separable filter
