#pragma once
// How many blocks do the job, and in which shape.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>

#include "device.cuh"
#include "fail.h"
#include "format.h"

namespace lab {

inline constexpr unsigned kMaxBlock = 1024;  // threads per block, on every GPU

// Blocks that cover `count` items, `perBlock` to each block.
inline unsigned blocksFor(std::size_t count, std::size_t perBlock) {
    const std::size_t blocks = count / perBlock + (count % perBlock != 0);
    constexpr std::size_t kMost = 2147483647;  // along x, since compute capability 3.0
    if (blocks > kMost) {
        quitTooLarge(
            formatted("%zu items of %zu to a block need %zu blocks: a grid has at most %zu", count,
                      perBlock, blocks, kMost));
    }
    return static_cast<unsigned>(blocks);
}

// Blocks for a kernel that walks over `count` items in tiles of `perTile` (a grid-stride loop):
// enough to fill the GPU, and no more than four tiles for each. A block that is done makes room for
// the next, and no multiprocessor waits for the slowest.
inline unsigned gridStrideBlocks(const DeviceFacts& device, std::size_t count, std::size_t perTile,
                                 unsigned block) {
    const unsigned tiles = blocksFor(count, perTile);
    return std::min(tiles, std::max(device.residentBlocks(block), tiles / 4));
}

// Matrices: a grid has up to 2^31 - 1 blocks along x, but only 65,535 along y and along z (CUDA C++
// Programming Guide, table "Technical Specifications per Compute Capability"): rows of blocks that
// y cannot hold go on along z.

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
