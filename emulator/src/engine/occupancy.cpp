#include "occupancy.h"

#include <algorithm>

#include "emu/limits.h"

namespace emu {

int maxBlocksByThreads(int blockSize) {
    const int warps = (blockSize + kWarpSize - 1) / kWarpSize;
    return std::min(kMaxBlocksPerSm, kMaxThreadsPerSm / kWarpSize / warps);
}

int maxBlocksPerSm(int blockSize, size_t shared) {
    if (blockSize <= 0 || blockSize > kMaxThreadsPerBlock || shared > kSharedPerBlockOptin) {
        return 0;
    }
    const size_t perBlock =
        (shared + kSharedUnit - 1) / kSharedUnit * kSharedUnit + kReservedSharedPerBlock;
    return std::min(maxBlocksByThreads(blockSize), static_cast<int>(kSharedPerSm / perBlock));
}

}  // namespace emu
