// Where in a kernel another one was launched: what the child sees of its parent's work.
#pragma once

#include "global_record.h"
#include "warp_clocks.h"

namespace emu {

struct LaunchPoint {
    uint32_t block, epoch, rank;  // of the thread, as in a GlobalRecord
    WarpClocks::Clocks clocks;    // what it knew of its warp

    // The parent's access is ordered before the launch: by the program, __syncwarp() or a barrier.
    bool isAfter(const GlobalRecord& access) const {
        if (access.block != block || access.epoch > epoch) return false;
        if (access.epoch < epoch) return true;
        return access.rank / kWarpSize == rank / kWarpSize &&
               (access.clock == kMostClock || access.clock <= clocks[access.rank % kWarpSize]);
    }
};

}  // namespace emu
