// What the warps of a block may have handed to one another since the last barrier, as by a lock:
// one puts a fence behind what it did, another then looks at a flag, by an atomic or through
// volatile. Whether that orders the two depends on the values of the flag, which nobody judges.
// The flag and what it guards may lie in shared or in global memory, each in its own.
#pragma once

#include <array>
#include <cstdint>

#include "emu/limits.h"

namespace emu {

class WarpFences {
  public:
    static constexpr uint32_t kModulus = 1 << 15;  // of what count() says

    // `count`: of fences that count as the block's own, before it begins.
    void beginBlock(uint32_t count) {
        count_ = count;
        last_.fill(0);
        barrier();
    }
    void barrier() {
        looked_.fill(false);
        atBarrier_ = count_;
    }
    void fence(unsigned rank) { last_[rank / kWarpSize] = ++count_; }
    void looksAtFlag(unsigned rank) { looked_[rank / kWarpSize] = true; }

    // Fences of the block so far.
    uint32_t count() const { return count_ % kModulus; }
    bool hasLooked(unsigned rank) const { return looked_[rank / kWarpSize]; }

    // Whether what `before` did since the last barrier, when count() was `count`, may come before
    // what `rank` does now.
    bool mayOrder(unsigned before, uint32_t count, unsigned rank) const {
        // (Where there were more fences than count() can tell apart, the first that fits.)
        const uint32_t then = atBarrier_ + (count - atBarrier_) % kModulus;
        return hasLooked(rank) && last_[before / kWarpSize] > then;
    }

  private:
    static constexpr unsigned kWarps = kMaxThreadsPerBlock / kWarpSize;
    uint32_t count_ = 0, atBarrier_ = 0;
    std::array<uint32_t, kWarps> last_{};  // the block's count after the warp's last fence
    std::array<bool, kWarps> looked_{};
};

}  // namespace emu
