// Tells whoever waits at the terminal of a kernel that does not seem to end, and where it is.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "emu/engine.h"

namespace emu {

// From the first launch on there is a thread that looks at the grid that runs. To be called once.
void startWatchdog();

// A signal that ends the program lets that thread tell the watcher of a grid that runs, first.
void tellBeforeTheEnd();

// What that thread sees.
struct WatchedGrid {
    std::atomic<uint64_t> number{0};  // odd while a grid runs; a new one for each
    std::atomic<const char*> name{nullptr};
    std::atomic<const void*> id{nullptr};  // as in KernelCall
};
extern WatchedGrid watchedGrid;

// An OS thread that runs blocks, as long as one lives there: the watchdog asks these, and only in a
// kernel, since what asks is a signal, which ends the sleep of whoever it is sent to.
class WatchedThread {
  public:
    WatchedThread();
    ~WatchedThread();
    WatchedThread(const WatchedThread&) = delete;
    WatchedThread& operator=(const WatchedThread&) = delete;

    void setInKernel(bool value) { inKernel_.store(value, std::memory_order_relaxed); }
    bool inKernel() const { return inKernel_.load(std::memory_order_relaxed); }
    pid_t id() const { return id_; }
    const WatchedThread* next() const { return next_; }

  private:
    std::atomic<bool> inKernel_{false};
    const pid_t id_;
    // A list of them all, which needs no memory of its own.
    WatchedThread *previous_ = nullptr, *next_ = nullptr;
};

// While one lives, a grid runs. One at a time.
class RunningGrid {
  public:
    explicit RunningGrid(const KernelCall& call) {
        watchedGrid.name.store(call.name, std::memory_order_relaxed);
        watchedGrid.id.store(call.id, std::memory_order_relaxed);
        count();
    }
    ~RunningGrid() { count(); }
    RunningGrid(const RunningGrid&) = delete;
    RunningGrid& operator=(const RunningGrid&) = delete;

  private:
    static void count() {  // one thread at a time does: no atomic addition is needed
        const uint64_t number = watchedGrid.number.load(std::memory_order_relaxed);
        watchedGrid.number.store(number + 1, std::memory_order_release);
    }
};

}  // namespace emu
