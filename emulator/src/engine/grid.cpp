#include "grid.h"

#include <deque>
#include <iterator>

#include "guarded_memory.h"
#include "multiprocessors.h"
#include "scheduler.h"
#include "sticky_error.h"
#include "watchdog.h"
#include "watcher.h"

namespace emu {
namespace {

void runAlone(Grid& grid) {
    const DeviceMemoryAccess access;
    const RunningGrid running(grid.call);
    if (watcher != nullptr) watcher->gridBegins(grid);
    if (grid.barrier) {
        runCooperative(grid);
    } else {
        helperPool().run(grid);
    }
    if (watcher != nullptr) watcher->gridEnded(grid);
}

// Runs a grid and what it launched, except its tail launches, which it appends to `tails`. Children
// begin when all blocks of their parent have ended, which is one of the times that CUDA allows, in
// the order in which they were launched.
cudaError_t runBeforeTails(Grid& grid, std::vector<ChildWork>& tails) {
    runAlone(grid);
    if (grid.cancelled) return stickyError();
    for (ChildWork& child : grid.children) {
        if (child.tail) {
            tails.push_back(std::move(child));
            continue;
        }
        const cudaError_t error = child.grid ? runWithChildren(*child.grid) : child.work();
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

void addChild(ChildWork child) {
    Grid& parent = *currentGrid();
    const std::lock_guard<std::mutex> lock(parent.childMutex);
    parent.children.push_back(std::move(child));
}

}  // namespace

Grid::Grid(const LaunchConfig& launchConfig, KernelCall kernelCall, int launchDepth)
    : config(launchConfig),
      call(std::move(kernelCall)),
      depth(launchDepth),
      blockCount(uint64_t{config.grid.x} * config.grid.y * config.grid.z) {
    if (config.cooperative) barrier = std::make_unique<GridBarrier>(blockCount);
}

std::mutex& deviceMutex() {
    static std::mutex* mutex = new std::mutex;
    return *mutex;
}

// A tail launch begins when its parent and all that the parent launched are complete; the tail
// launches of a tail launch come before its younger siblings. A loop, not a recursion: a chain of
// tail launches may be of any length.
cudaError_t runWithChildren(Grid& first) {
    std::vector<ChildWork> own;
    cudaError_t error = runBeforeTails(first, own);
    if (own.empty()) return error;  // a deque costs as much as an empty grid
    std::deque<ChildWork> tails(std::make_move_iterator(own.begin()),
                                std::make_move_iterator(own.end()));
    while (error == cudaSuccess && !tails.empty()) {
        const ChildWork next = std::move(tails.front());
        tails.pop_front();
        own.clear();
        error = runBeforeTails(*next.grid, own);
        tails.insert(tails.begin(), std::make_move_iterator(own.begin()),
                     std::make_move_iterator(own.end()));
    }
    return error;
}

void runAfterGrid(std::unique_ptr<Grid> child, bool tail) {
    addChild({std::move(child), nullptr, tail});
}

void runAfterGrid(std::function<cudaError_t()> work) {
    addChild({nullptr, std::move(work), false});
}

}  // namespace emu
