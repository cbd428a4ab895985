// A barrier over the blocks of a cooperative launch; each block has an OS thread of its own and
// waits with it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

namespace emu {

class GridBarrier {
  public:
    explicit GridBarrier(uint64_t blocks) : running_(blocks) {}

    // Returns false if the barrier can never complete, because a block failed or ended without
    // reaching it. Where OS threads take turns, `pass` lets others run until it is the caller's
    // again.
    bool wait(const std::function<void()>& pass = nullptr);
    void blockEnded();
    void cancel();

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    uint64_t running_;
    uint64_t waiting_ = 0;
    uint64_t generation_ = 0;
    bool someEnded_ = false;
    bool cancelled_ = false;
};

}  // namespace emu
