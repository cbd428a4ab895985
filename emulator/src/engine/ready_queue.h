// Fibers of a block that can run, in the order in which they became so.
#pragma once

#include <array>
#include <cstddef>

#include "emu/limits.h"
#include "fiber.h"

namespace emu {

class ReadyQueue {
  public:
    bool empty() const { return count_ == 0; }
    bool onlyPollers() const { return count_ == pollers_; }  // or nobody
    void clear() { count_ = pollers_ = 0; }
    void push(Fiber* fiber) { slots_[(head_ + count_++) % slots_.size()] = fiber; }
    Fiber* pop() {
        Fiber* fiber = slots_[head_];
        head_ = (head_ + 1) % slots_.size();
        --count_;
        return fiber;
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
    size_t head_ = 0;
    size_t count_ = 0;
    size_t pollers_ = 0;  // of these
};

}  // namespace emu
