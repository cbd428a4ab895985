// What the warps of a block may have handed to one another since the last barrier, as by a lock:
// one puts a fence behind what it did, another then looks at a flag, by an atomic or through
// volatile. Whether that orders the two depends on the values of the flag, which nobody judges.
#pragma once

#include <array>
#include <cstdint>

#include "emu/limits.h"

namespace emu {

class WarpFences {
  public:
    void barrier() { looked_.fill(false); }
    void fence(unsigned rank) { ++fences_[rank / kWarpSize]; }
    void looksAtFlag(unsigned rank) { looked_[rank / kWarpSize] = true; }

    uint32_t fencesOf(unsigned rank) const { return fences_[rank / kWarpSize]; }

    // Whether what `before` did when its warp had `fences` behind it may come before what `rank`
    // does now.
    bool mayOrder(unsigned before, uint32_t fences, unsigned rank) const {
        return looked_[rank / kWarpSize] && fencesOf(before) != fences;
    }

  private:
    static constexpr unsigned kWarps = kMaxThreadsPerBlock / kWarpSize;
    std::array<uint32_t, kWarps> fences_{};
    std::array<bool, kWarps> looked_{};
};

}  // namespace emu
