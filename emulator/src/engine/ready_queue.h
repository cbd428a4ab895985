// Fibers of a block that can run, in the order in which they became so.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "emu/limits.h"
#include "fiber.h"

namespace emu {

class ReadyQueue {
  public:
    bool empty() const { return first_ == end_; }
    bool onlyPollers() const { return end_ - first_ == pollers_; }  // or nobody
    void clear() { first_ = end_ = pollers_ = 0; }
    void push(Fiber* fiber) { slots_[end_++ % slots_.size()] = fiber; }
    Fiber* pop() { return slots_[first_++ % slots_.size()]; }
    size_t size() const { return end_ - first_; }
    // Has pop() take the one that is `place` behind the first, which takes its place.
    void bringForward(size_t place) {
        std::swap(slots_[first_ % slots_.size()], slots_[(first_ + place) % slots_.size()]);
    }
    // A fiber that polls; it calls pollerRuns() when it goes on.
    void pushPoller(Fiber* fiber) {
        ++pollers_;
        push(fiber);
    }
    void pollerRuns() { --pollers_; }

    // What the fiber waited for has come.
    void wake(Fiber* fiber) {
        fiber->wait = Wait::None;
        push(fiber);
    }

  private:
    std::array<Fiber*, kMaxThreadsPerBlock> slots_{};
    size_t first_ = 0, end_ = 0;  // counted since the block began
    size_t pollers_ = 0;          // of those between
};

}  // namespace emu
