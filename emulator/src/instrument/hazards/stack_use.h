// How much stack the recursion of a CUDA thread takes. The compiler for a GPU knows what all other
// calls need, and has the GPU set it aside; for a recursion there are cudaLimitStackSize bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace emu {

struct Recursion {
    size_t calls = 0, bytes = 0;
    uintptr_t caller = 0;  // one of the calls comes from just before it
    unsigned rank = 0;
};

// The calls that a thread is in.
class StackUse {
  public:
    void clear() { frames_.clear(); }
    // A function begins, called from just before `caller`, and its frame ends around `address`.
    void enter(uintptr_t caller, uintptr_t address) { frames_.push_back({caller, address}); }
    void leave() { frames_.pop_back(); }

    // Of all functions below the kernel's own.
    size_t bytes() const { return frames_.front().end - frames_.back().end; }

    // The recursion that the last call belongs to, if one call is at least the second from its
    // place.
    Recursion recursion() const {
        const Frame& last = frames_.back();
        for (size_t i = 2; i + 1 < frames_.size(); ++i) {
            if (frames_[i].caller != last.caller) continue;
            return {frames_.size() - (i - 1), frames_[i - 2].end - last.end, last.caller, 0};
        }
        return {};
    }

  private:
    struct Frame {
        uintptr_t caller, end;
    };
    std::vector<Frame> frames_;
};

}  // namespace emu
