// Launches: validation, the pool of OS threads that share a grid's blocks, and the grids that
// kernels launch themselves.
#include <sched.h>

#include <chrono>
#include <cstdio>
#include <deque>
#include <string>
#include <thread>

#include "engine/internal.h"
#include "engine/scheduler.h"
#include "engine/watcher.h"

namespace emu {
namespace {

// ---- OS threads

// OS threads that help the launching one. They live as long as the process: a grid may be run from
// a static destructor.
class Pool {
  public:
    explicit Pool(int helpers) {
        for (int i = 0; i < helpers; ++i) addHelper();
    }

    void addHelper() {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (helpers_ + 1 >= residentBlocks()) return;
        const unsigned sm = ++helpers_ % static_cast<unsigned>(smCount());
        std::thread([this, sm] { serve(sm); }).detach();
    }

    // Runs the blocks of `grid` on the calling thread and on every helper that wakes up in time.
    void run(Grid& grid) {
        if (grid.blockCount > 1) {
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
    void serve(unsigned sm) {
        uint64_t seen = 0;
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            wakeUp_.wait(lock, [&] { return grid_ != nullptr && generation_ != seen; });
            seen = generation_;
            Grid& grid = *grid_;
            ++busy_;
            lock.unlock();
            runBlocks(grid, sm);
            lock.lock();
            if (--busy_ == 0) done_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable wakeUp_, done_;
    Grid* grid_ = nullptr;
    uint64_t generation_ = 0;
    int busy_ = 0;
    unsigned helpers_ = 0;
};

Pool& pool() {
    static Pool* instance = new Pool(smCount() - 1);  // never deleted: its threads never end
    return *instance;
}

// Blocks of a cooperative launch wait for one another, so each needs an OS thread of its own.
void runCooperative(Grid& grid) {
    std::vector<std::thread> threads;
    for (uint64_t block = 1; block < grid.blockCount; ++block) {
        const unsigned sm = static_cast<unsigned>(block % static_cast<unsigned>(smCount()));
        threads.emplace_back([&grid, sm, block] { runOneBlock(grid, sm, block); });
    }
    runOneBlock(grid, 0, 0);
    for (std::thread& thread : threads) thread.join();
}

// ---- grids and their children

void runAlone(Grid& grid) {
    if (watcher != nullptr) watcher->gridBegins(grid);
    if (grid.barrier) {
        runCooperative(grid);
    } else {
        pool().run(grid);
    }
    if (watcher != nullptr) watcher->gridEnded(grid);
}

cudaError_t runWithTails(Grid& first);

// Runs a grid and what it launched, except its tail launches, which it appends to `tails`. Children
// begin when all blocks of their parent have ended, which is one of the times that CUDA allows, in
// the order in which they were launched.
cudaError_t runWithChildren(Grid& grid, std::vector<ChildWork>& tails) {
    runAlone(grid);
    if (grid.cancelled) return stickyError();
    for (ChildWork& child : grid.children) {
        if (child.tail) {
            tails.push_back(std::move(child));
            continue;
        }
        const cudaError_t error = child.grid ? runWithTails(*child.grid) : child.work();
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

// A tail launch begins when its parent and all that the parent launched are complete; the tail
// launches of a tail launch come before its younger siblings. A loop, not a recursion: a chain of
// tail launches may be of any length.
cudaError_t runWithTails(Grid& first) {
    std::vector<ChildWork> own;
    cudaError_t error = runWithChildren(first, own);
    std::deque<ChildWork> tails(std::make_move_iterator(own.begin()),
                                std::make_move_iterator(own.end()));
    while (error == cudaSuccess && !tails.empty()) {
        const ChildWork next = std::move(tails.front());
        tails.pop_front();
        own.clear();
        error = runWithChildren(*next.grid, own);
        tails.insert(tails.begin(), std::make_move_iterator(own.begin()),
                     std::make_move_iterator(own.end()));
    }
    return error;
}

// One grid at a time; its blocks already use all cores.
std::mutex& deviceMutex() {
    static std::mutex* mutex = new std::mutex;
    return *mutex;
}

cudaError_t validate(const LaunchConfig& config, const KernelCall& call) {
    const dim3 &grid = config.grid, &block = config.block;
    const auto inside = [](unsigned value, int limit) {
        return value >= 1 && value <= static_cast<unsigned>(limit);
    };
    const bool blockFits =
        inside(block.x, kMaxBlockDim[0]) && inside(block.y, kMaxBlockDim[1]) &&
        inside(block.z, kMaxBlockDim[2]) &&
        uint64_t{block.x} * block.y * block.z <= static_cast<uint64_t>(kMaxThreadsPerBlock);
    const bool gridFits = inside(grid.x, kMaxGridDim[0]) && inside(grid.y, kMaxGridDim[1]) &&
                          inside(grid.z, kMaxGridDim[2]);
    if (!blockFits || !gridFits) return cudaErrorInvalidConfiguration;
    if (config.dynamicShared > maxDynamicShared(call.id)) return cudaErrorInvalidValue;
    if (config.cooperative) {
        const int blockSize = static_cast<int>(block.x * block.y * block.z);
        const auto resident =
            static_cast<uint64_t>(maxBlocksPerSm(blockSize, config.dynamicShared)) *
            static_cast<uint64_t>(smCount());
        if (uint64_t{grid.x} * grid.y * grid.z > resident)
            return cudaErrorCooperativeLaunchTooLarge;
    }
    return cudaSuccess;
}

cudaError_t launchFromKernel(const LaunchConfig& config, KernelCall call) {
    Grid& parent = *currentGrid();
    const bool tail = config.stream == cudaStreamTailLaunch;
    cudaError_t error = validate(config, call);
    if (config.cooperative) error = cudaErrorNotSupported;
    const int depth = tail ? parent.depth : parent.depth + 1;
    if (error == cudaSuccess && depth > kMaxLaunchDepth) error = cudaErrorLaunchMaxDepthExceeded;
    if (error != cudaSuccess) return deviceThreadError() = error;
    auto child = std::make_unique<Grid>(config, std::move(call), depth);
    const std::lock_guard<std::mutex> lock(parent.childMutex);
    parent.children.push_back({std::move(child), nullptr, tail});
    return cudaSuccess;
}

}  // namespace

cudaError_t launch(const LaunchConfig& config, KernelCall call) {
    if (inDevice()) return launchFromKernel(config, std::move(call));
    cudaError_t error = stickyError();
    if (error == cudaSuccess) error = validate(config, call);
    if (error == cudaSuccess) {
        installFaultHandlers();
        error = submit(config.stream, [config, call] {
            const std::lock_guard<std::mutex> lock(deviceMutex());
            Grid grid(config, call, 0);
            return runWithTails(grid);
        });
    }
    return setLastError(error);
}

void runAfterGrid(std::function<cudaError_t()> work) {
    Grid& parent = *currentGrid();
    const std::lock_guard<std::mutex> lock(parent.childMutex);
    parent.children.push_back({nullptr, std::move(work), false});
}

unsigned residentBlocks() {
    return static_cast<unsigned>(smCount() * kMaxBlocksPerSm);
}

void addWorker() {
    pool().addHelper();
}

int smCount() {
    static const int count = [] {
        cpu_set_t allowed;
        if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) return CPU_COUNT(&allowed);
        return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    }();
    return count;
}

unsigned long long globaltimer() {
    spinHint();  // threads that pass time by looking at the clock do so together
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<unsigned long long>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace emu
