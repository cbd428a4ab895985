// Runs the blocks of a grid on one OS thread: which CUDA thread runs next, who waits for whom.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "emu/engine.h"
#include "emu/warp.h"
#include "fiber.h"

namespace emu {

// A barrier over the blocks of a cooperative launch; each block has an OS thread of its own and
// waits with it.
class GridBarrier {
  public:
    explicit GridBarrier(uint64_t blocks) : running_(blocks) {}

    // Returns false if the barrier can never complete, because a block failed or ended without
    // reaching it.
    bool wait();
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

struct Grid;

// What a kernel launched: another grid, or (`grid` is null) a copy that has its place in the order
// of a device-side stream.
struct ChildWork {
    std::unique_ptr<Grid> grid;
    std::function<cudaError_t()> work;
    bool tail;
};

// One launch while it runs.
struct Grid {
    Grid(const LaunchConfig& config, KernelCall call, int depth);

    LaunchConfig config;
    KernelCall call;
    int depth;  // 0 for a launch from the host
    uint64_t blockCount;
    std::atomic<uint64_t> nextBlock{0};
    std::atomic<bool> cancelled{false};
    std::unique_ptr<GridBarrier> barrier;  // of a cooperative launch

    std::mutex childMutex;
    std::vector<ChildWork> children;
};

// Runs blocks of `grid` on the calling OS thread until none is left (or, for a cooperative launch,
// just the one numbered `block`). `sm` is what smid() answers there.
void runBlocks(Grid& grid, unsigned sm);
void runOneBlock(Grid& grid, unsigned sm, uint64_t block);

// Blocks that are on the emulated device at the same time at most.
unsigned residentBlocks();

// Adds an OS thread to those that run the blocks of a grid, unless there are as many as blocks that
// a GPU would hold at once: so that blocks which wait for one another can all run.
void addWorker();

// The grid whose kernel is running on this OS thread, or nullptr.
Grid* currentGrid();

// The fiber that is running on this OS thread; only while inDevice().
const Fiber* currentFiber();

// Where the scheduler keeps its own state for this OS thread, which holds the values that lanes
// exchange; only while inDevice().
struct MemoryRange {
    const void* begin;
    size_t size;  // bytes
};
MemoryRange schedulerMemory();

}  // namespace emu
