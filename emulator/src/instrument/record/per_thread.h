// State of each OS thread that runs blocks, taken over by a later one when the thread ends: a
// cooperative launch has a thread for each of its blocks.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace emu {

// There may be one PerThread<T> for a T, which must outlive the threads that end before the
// program.
template <class T>
class PerThread {
  public:
    explicit PerThread(std::function<std::unique_ptr<T>()> make) : make_(std::move(make)) {}

    T& mine() {
        static thread_local Lease lease;
        if (lease.item == nullptr) {
            lease.owner = this;
            lease.item = take();
        }
        return *lease.item;
    }

    // No thread may be using its own meanwhile.
    template <class Function>
    void forEach(Function function) {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (const auto& item : all_) function(*item);
    }

  private:
    struct Lease {
        PerThread* owner = nullptr;
        T* item = nullptr;
        ~Lease() {
            if (item == nullptr) return;
            const std::lock_guard<std::mutex> lock(owner->mutex_);
            owner->idle_.push_back(item);
        }
    };

    T* take() {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (idle_.empty()) {
            all_.push_back(make_());
            return all_.back().get();
        }
        T* item = idle_.back();
        idle_.pop_back();
        return item;
    }

    std::function<std::unique_ptr<T>()> make_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<T>> all_;
    std::vector<T*> idle_;
};

}  // namespace emu
