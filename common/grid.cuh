#pragma once
// Grids over matrices. A grid has up to 2^31 - 1 blocks along x, but only 65,535 along y and along
// z (CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability"): rows of
// blocks that y cannot hold go on along z.

#include <cuda_runtime.h>

#include <cstddef>

#include "device.cuh"

namespace lab {

// Blocks that cover width (x) times height (y, z) items, side * side of them each. A few blocks may
// lie below the last item.
inline dim3 gridFor(std::size_t width, std::size_t height, unsigned side) {
    constexpr unsigned kMaxGridY = 65535;
    const unsigned blockRows = blocksFor(height, side);
    const unsigned layers = blocksFor(blockRows, kMaxGridY);
    return dim3(blocksFor(width, side), blocksFor(blockRows, layers), layers);
}

// Row of blocks that this block belongs to: blockIdx.y, unless the grid goes on along z.
__device__ inline std::size_t blockY() {
    return std::size_t{blockIdx.z} * gridDim.y + blockIdx.y;
}

}  // namespace lab
