// What __syncwarp() has ordered among the lanes of each warp of a block.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "emu/limits.h"

namespace emu {

// Each lane has a clock that counts its synchronisations, and knows up to which clock of every
// other lane it has been told (vector clocks).
class WarpClocks {
  public:
    using Clocks = std::array<uint32_t, kWarpSize>;

    void beginBlock(unsigned threads) {
        for (unsigned rank = 0; rank < threads; ++rank) {
            clocks_[rank].fill(0);
            clocks_[rank][rank % kWarpSize] = 1;
        }
    }

    // The lanes `mask` of a warp have synchronised.
    void synced(unsigned warp, unsigned mask) {
        Clocks joined{};
        const auto forEachLane = [&](auto&& action) {
            for (unsigned lane = 0; lane < kWarpSize; ++lane) {
                if (mask >> lane & 1) action(lane, clocks_[warp * kWarpSize + lane]);
            }
        };
        forEachLane([&](unsigned, const Clocks& clocks) {
            for (unsigned i = 0; i < kWarpSize; ++i) joined[i] = std::max(joined[i], clocks[i]);
        });
        forEachLane([&](unsigned lane, Clocks& clocks) {
            clocks = joined;
            ++clocks[lane];
        });
    }

    // What `rank` knows of its warp. What it does from now on is told from what it has done.
    Clocks cut(unsigned rank) {
        const Clocks known = clocks_[rank];
        ++clocks_[rank][rank % kWarpSize];
        return known;
    }

    uint32_t clockOf(unsigned rank) const { return clocks_[rank][rank % kWarpSize]; }

    // Whether what `before` did at its clock `clock` is ordered before what `rank` does now.
    bool ordered(unsigned before, uint32_t clock, unsigned rank) const {
        if (before / kWarpSize != rank / kWarpSize) return false;
        return clocks_[rank][before % kWarpSize] >= clock;
    }

  private:
    std::vector<Clocks> clocks_ = std::vector<Clocks>(kMaxThreadsPerBlock);
};

}  // namespace emu
