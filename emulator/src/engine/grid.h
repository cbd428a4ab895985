// One launch while it runs, and what its kernel launches in turn.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "emu/engine.h"
#include "grid_barrier.h"

namespace emu {

class Turns;
struct Grid;

// What a kernel launched: another grid, or (`grid` is null) a copy that has its place in the order
// of a device-side stream.
struct ChildWork {
    std::unique_ptr<Grid> grid;
    std::function<cudaError_t()> work;
    bool tail;
};

struct Grid {
    Grid(const LaunchConfig& config, KernelCall call);
    ~Grid();

    LaunchConfig config;
    KernelCall call;
    bool ofKernel = false;  // it launched this one, which is pending while this object is there
    uint64_t blockCount;
    std::atomic<uint64_t> nextBlock{0};
    std::atomic<bool> cancelled{false};
    std::unique_ptr<GridBarrier> barrier;  // of a cooperative launch
    Turns* turns = nullptr;                // of the OS threads that run its blocks by a schedule

    std::mutex childMutex;
    std::vector<ChildWork> children;
};

// Held while a grid of the host runs: its blocks already use all cores.
std::mutex& deviceMutex();

// Runs a grid of valid size and all that it launches, and returns when that is done. Returns the
// sticky error if a kernel failed, else the first error of the children's work. For a grid of the
// host, deviceMutex() is held.
cudaError_t runWithChildren(Grid& grid);

// Run something when the grid of the calling CUDA thread has ended, in the order of these calls;
// what is launched with `tail`, after all else that the grid launched. Only while inDevice(). A
// grid that would be one too many is dropped: false.
bool runAfterGrid(std::unique_ptr<Grid> child, bool tail);
void runAfterGrid(std::function<cudaError_t()> work, bool tail);

// Grids launched by kernels that may be pending: from the launch until the grid and all that it
// launched are complete, but for its tail launches.
constexpr size_t kDefaultPendingLaunches = 2048;
void setMostPendingLaunches(size_t grids);

}  // namespace emu
