#include "grid_barrier.h"

namespace emu {

bool GridBarrier::wait(const std::function<void()>& pass) {
    std::unique_lock<std::mutex> lock(mutex_);
    const uint64_t generation = generation_;
    if (++waiting_ == running_ && !someEnded_) {
        waiting_ = 0;
        ++generation_;
        changed_.notify_all();
        return !cancelled_;
    }
    const auto over = [&] { return generation_ != generation || cancelled_ || someEnded_; };
    while (pass != nullptr && !over()) {
        lock.unlock();
        pass();
        lock.lock();
    }
    changed_.wait(lock, over);
    return generation_ != generation;
}

void GridBarrier::blockEnded() {
    const std::lock_guard<std::mutex> lock(mutex_);
    someEnded_ = true;
    changed_.notify_all();
}

void GridBarrier::cancel() {
    const std::lock_guard<std::mutex> lock(mutex_);
    cancelled_ = true;
    changed_.notify_all();
}

}  // namespace emu
