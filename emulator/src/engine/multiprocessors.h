// The emulated multiprocessors (SMs): OS threads that share the blocks of a grid.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "grid.h"
#include "scheduler.h"

namespace emu {

// SMs of the emulated device: as many as the environment variable CUDA_EMULATOR_SMS says, else the
// cores that this process may use.
int smCount();

// Blocks that are on the emulated device at the same time at most.
unsigned residentBlocks();

// OS threads that help the launching one. They live as long as the process: a grid may be run from
// a static destructor.
class HelperPool {
  public:
    explicit HelperPool(int helpers);

    // One more, unless there are as many as blocks that a GPU would hold at once: so that blocks
    // which wait for one another can all run.
    void addHelper();

    // Runs the blocks of `grid` on the calling thread and on every helper that wakes up in time.
    // In line: the processor mispredicts every return after the switches between fibers in here.
    void run(Grid& grid) {
        if (grid.blockCount == 1) {
            runBlocks(grid, 0);
            return;
        }
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            grid_ = &grid;
            ++generation_;
            wakeUp_.notify_all();
        }
        runBlocks(grid, 0);
        std::unique_lock<std::mutex> lock(mutex_);
        grid_ = nullptr;
        done_.wait(lock, [this] { return busy_ == 0; });
    }

  private:
    void serve(unsigned sm);

    std::mutex mutex_;
    std::condition_variable wakeUp_, done_;
    Grid* grid_ = nullptr;
    uint64_t generation_ = 0;
    int busy_ = 0;
    unsigned helpers_ = 0;
};

HelperPool& helperPool();

// With a schedule. A few OS threads have blocks, which run in turns, and more where blocks wait for
// others.
void runInTurns(Grid& grid);

// Blocks of a cooperative launch wait for one another, so each gets an OS thread of its own.
void runCooperative(Grid& grid);

}  // namespace emu
