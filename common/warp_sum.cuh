#pragma once
// Sums within a warp and within a block, in registers.

#include <cuda_runtime.h>

namespace lab {

constexpr unsigned kAllLanes = 0xFFFFFFFF;  // the mask of a whole warp

// Sum of a warp's 32 values, in its lane 0: a lane adds the register of the lane `offset` above.
// All 32 lanes must call this.
template <typename T>
__device__ T sumOfWarp(T value) {
    for (unsigned offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(kAllLanes, value, offset);
    return value;
}

// Sum of a block's values, in its thread 0: each warp adds up its own, then warp 0 those of the
// warps (at most 32). All threads of the block must call this, whole warps of them; between two
// calls they need a __syncthreads(), since both use the same shared memory.
template <typename T>
__device__ T sumOfBlock(T value) {
    __shared__ T ofWarps[32];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    value = sumOfWarp(value);
    if (lane == 0) ofWarps[warp] = value;
    __syncthreads();
    if (warp == 0) value = sumOfWarp(lane < blockDim.x / 32 ? ofWarps[lane] : T{});
    return value;
}

}  // namespace lab
