#include "grid.h"

#include <utility>

#include "guarded_memory.h"
#include "multiprocessors.h"
#include "schedule.h"
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
    if (schedule != nullptr) {
        schedule->gridBegins(grid.call.name);
        runInTurns(grid);
    } else if (grid.barrier) {
        runCooperative(grid);
    } else {
        helperPool().run(grid);
    }
    if (watcher != nullptr) watcher->gridEnded(grid);
}

std::atomic<size_t> pending{0}, mostPending{kDefaultPendingLaunches};

// What is still to be done, the next at the end: a stack of our own, since kernels may launch one
// another as deep as they like. A grid that has run stays there until what it launched is done.
struct Step {
    ChildWork todo;
    bool hasRun = false;
};

// Children begin when all blocks of their parent have ended, which is one of the times that CUDA
// allows, in the order in which they were launched. A tail launch begins when its parent and all
// that the parent launched are complete; the tail launches of a tail launch come before its younger
// siblings.
cudaError_t run(Grid& grid, std::unique_ptr<Grid> owner, std::vector<Step>& steps) {
    runAlone(grid);
    if (grid.cancelled) return stickyError();
    std::vector<ChildWork> children = std::move(grid.children);
    const auto push = [&](bool tails) {
        for (auto child = children.rbegin(); child != children.rend(); ++child) {
            if (child->tail == tails) steps.push_back({std::move(*child)});
        }
    };
    push(true);
    if (owner) steps.push_back({{std::move(owner), nullptr, false}, true});
    push(false);
    return cudaSuccess;
}

void addChild(ChildWork child) {
    Grid& parent = *currentGrid();
    const std::lock_guard<std::mutex> lock(parent.childMutex);
    parent.children.push_back(std::move(child));
}

}  // namespace

Grid::Grid(const LaunchConfig& launchConfig, KernelCall kernelCall)
    : config(launchConfig),
      call(std::move(kernelCall)),
      blockCount(uint64_t{config.grid.x} * config.grid.y * config.grid.z) {
    if (config.cooperative) barrier = std::make_unique<GridBarrier>(blockCount);
}

Grid::~Grid() {
    if (ofKernel) --pending;
}

std::mutex& deviceMutex() {
    static std::mutex* mutex = new std::mutex;
    return *mutex;
}

cudaError_t runWithChildren(Grid& first) {
    std::vector<Step> steps;
    cudaError_t error = run(first, nullptr, steps);
    while (error == cudaSuccess && !steps.empty()) {
        Step next = std::move(steps.back());
        steps.pop_back();
        if (next.hasRun) continue;
        Grid* const grid = next.todo.grid.get();
        error = grid ? run(*grid, std::move(next.todo.grid), steps) : next.todo.work();
    }
    return error;
}

bool runAfterGrid(std::unique_ptr<Grid> child, bool tail) {
    child->ofKernel = true;
    if (++pending > mostPending) return false;
    addChild({std::move(child), nullptr, tail});
    return true;
}

void runAfterGrid(std::function<cudaError_t()> work, bool tail) {
    addChild({nullptr, std::move(work), tail});
}

void setMostPendingLaunches(size_t grids) {
    mostPending = grids;
}

}  // namespace emu
