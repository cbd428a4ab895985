// How an OS thread gets from a grid to a line of a kernel, and on to the next CUDA thread:
//
//   OS thread's stack   a fiber's stack                           another fiber's stack
//
//   run()
//    | switchFiber()
//    +----------------> runFiber()
//                        |
//                        v
//                       runThreads()  (emu/engine.h)
//                        |  do {
//                        |    kernel(args)  one CUDA thread
//                        |     |
//                        |     | has to wait: suspend()
//                        |     | switchFiber()
//                        |     +--------------------------------> goes on with the next thread
//                        |                                        in its runThreads(), or with
//                        |     +<-------------------------------- its own kernel(args)
//                        |     | may go on: suspend() returns
//                        |     v
//                        |  } while (nextThread());
//                        |    true: threadIdx is the next thread's, of this block or the next
//                        |    false: no block is left
//                        v
//    +<---------------- runFiber()
//    | switchFiber()
//    v
//   run() returns
//
// A block in which nobody waits stays in one such loop on one fiber. Where threads wait, suspend()
// and a nextThread() that finds only waiting threads ask nextRunnable() which fiber goes on:
//   1. the thread that was woken first, unless all that can run poll: a warp that has met goes on
//      before the next one begins, as far as it can without the others;
//   2. else an idle one with the next thread of the block, while some have not begun;
//   3. else one of those that wait for lanes of their warp to catch up, or else of those that asked
//      for __activemask(), which are then woken;
//   4. else the one that has polled least recently;
//   5. else none can: fail(), a deadlock.
#include "scheduler.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "async_copies.h"
#include "emu/engine.h"
#include "emu/mbarrier.h"
#include "emu/pipeline.h"
#include "emu/warp.h"
#include "fault.h"
#include "mbarriers.h"
#include "messages.h"
#include "multiprocessors.h"
#include "ready_queue.h"
#include "schedule.h"
#include "sticky_error.h"
#include "turns.h"
#include "warps.h"
#include "watchdog.h"
#include "watcher.h"

// See switchFiber().
#define EMU_INLINE __attribute__((always_inline)) inline

__thread uint3 threadIdx;
__thread uint3 blockIdx;
__thread dim3 blockDim;
__thread dim3 gridDim;
extern "C" {
alignas(1024) __thread unsigned char emu_dynamic_shared[emu::kSharedPerBlockOptin];
}

namespace emu {

__thread bool endNeedsScheduler;
__thread unsigned spinCount;
__thread unsigned volatileLoads;
Watcher* watcher;

namespace {

// A thread that yields so often while no other of its block can run is taken to poll. (A yield of
// spinHint() stands for 1031 atomics.)
constexpr unsigned kYieldsBeforeHelp = 256;

// The same with a schedule, where all but one of its OS threads wait anyway.
constexpr unsigned kYieldsBeforeTurn = 8;

// One of so many switches of a schedule is to another block.
constexpr unsigned kSwitchesPerTurn = 4;

// A lane that loads so often from one address, and stores nothing between, polls.
constexpr unsigned kLoadsBeforePoll = 64;

// A warp that goes on for so many turns may wait for what only the next warps will do.
constexpr unsigned kTurnsBeforeStart = 1 << 16;

unsigned totalThreads(const dim3& block) {
    return block.x * block.y * block.z;
}

// The state of one OS thread that runs blocks.
class Worker {
  public:
    ~Worker() {
        for (Fiber* fiber : fibers_) destroyFiber(fiber);
    }

    void run(Grid& grid, unsigned sm, uint64_t firstBlock, uint64_t endBlock);
    bool nextThread();
    EMU_INLINE BarrierCount blockBarrier(bool predicate, const CallSite& site, bool wholeGrid);
    EMU_INLINE LaneSlot collective(unsigned mask, Resolve resolve, uint64_t value, int argument,
                                   const CallSite& site);
    unsigned activeMask(const CallSite& site);
    void yield();
    void takeTurns();
    void interleave(bool plain);
    void step();
    bool load(const volatile void* address);
    void hasLoaded();
    void join(unsigned place, bool leavesLoop);
    void enterFunction(unsigned place);
    void leaveFunction(unsigned place);
    void passPlace(unsigned place);
    void sharedReached(void* variable, size_t size);
    AsyncCopies& asyncCopies() { return asyncCopies_; }
    MBarriers& mbarriers() { return mbarriers_; }
    void waitAtMBarrier(void* object, const CallSite& site);
    [[noreturn]] void fail(cudaError_t error, std::string message,
                           Failure failure = Failure::Other);
    [[noreturn]] void runFiber();

    Grid* grid() { return watched_.inKernel() ? grid_ : nullptr; }
    const Fiber* current() const { return current_; }
    unsigned sm() const { return sm_; }
    cudaError_t& threadError();

  private:
    bool beginBlock();
    bool nextInPlainLoop();
    void startFibers();
    void shuffleThreads();
    EMU_INLINE void threadContinues(const Fiber* fiber);
    void threadEnded();
    void startNextThread(Fiber* fiber);
    EMU_INLINE void suspend(Wait wait, const CallSite& site);
    EMU_INLINE bool startsNext();
    EMU_INLINE Fiber* nextRunnable();
    __attribute__((noinline)) bool wakeWaiting();
    void yieldToOtherBlocks();
    void passTurn();
    bool lanesMatter();
    void waitInStep(Wait wait);
    Fiber* idleFiber();
    __attribute__((noinline)) void releaseBarrier();
    std::string deadlock() const;

    SignalStack signalStack_;
    Grid* grid_ = nullptr;
    unsigned sm_ = 0;
    unsigned launch_ = 0;
    uint64_t blockNumber_ = 0, chunkNext_ = 0, chunkEnd_ = 0;
    bool takesChunks_ = false;

    Fiber main_;  // the OS thread's own stack
    Fiber* current_ = nullptr;
    std::vector<Fiber*> fibers_;
    std::vector<Fiber*> idle_;

    // The block that runs now.
    unsigned threads_ = 0;
    std::vector<const void*> reached_;  // __shared__ variables, by some thread of the block
    AsyncCopies asyncCopies_;
    bool blockHasFibers_ = false;  // some thread had to wait; the rest is valid only then

    unsigned turnsBeforeStart_ = 0;
    unsigned unstarted_ = 0;  // rank of the first thread that has not been started
    uint3 unstartedIdx_{};
    std::vector<unsigned> order_;  // ranks in the order in which they start, with a schedule
    unsigned alive_ = 0;
    ReadyQueue ready_;
    Warps warps_{ready_};
    MBarriers mbarriers_{asyncCopies_, ready_};

    std::vector<Fiber*> atBarrier_;
    unsigned barrierTrue_ = 0;
    BarrierCount barrierResult_{};
    bool barrierWholeGrid_ = false;
    unsigned yieldsAlone_ = 0;  // of the block

    cudaError_t threadError_ = cudaSuccess;
    unsigned threadErrorLaunch_ = 0;
    uint64_t threadErrorBlock_ = 0;
    unsigned threadErrorRank_ = 0;
    std::string failure_;
    WatchedThread watched_;
};

Worker& worker() {
    thread_local Worker instance;
    return instance;
}

// A pointer that is cheaper to reach than the thread_local object with its destructor.
__thread Worker* activeWorker;

void advance(uint3& index) {
    if (++index.x < blockDim.x) return;
    index.x = 0;
    if (++index.y < blockDim.y) return;
    index.y = 0;
    ++index.z;
}

// ---- the life of a grid on this OS thread

void Worker::run(Grid& grid, unsigned sm, uint64_t firstBlock, uint64_t endBlock) {
    grid_ = &grid;
    sm_ = sm;
    takesChunks_ = firstBlock == endBlock;
    chunkNext_ = firstBlock;
    chunkEnd_ = endBlock;
    activeWorker = this;
    blockDim = grid.config.block;
    gridDim = grid.config.grid;
    threads_ = totalThreads(blockDim);
    if (!beginBlock()) return;

    ++launch_;
    watched_.setInKernel(true);
    Fiber* fiber = idleFiber();
    fiber->threadIdx = threadIdx;
    current_ = fiber;
    if (schedule != nullptr) shuffleThreads();
    const unsigned char* const sharedEnd = emu_dynamic_shared + sizeof(emu_dynamic_shared);
    forbidAccess(emu_dynamic_shared + grid.config.dynamicShared, sharedEnd);
    switchFiber(&main_, fiber);
    allowAccess(emu_dynamic_shared, sharedEnd);
    watched_.setInKernel(false);

    if (grid.cancelled) {  // fibers may have been left in the middle of the kernel
        if (watcher != nullptr) watcher->blockEnded(false);
        idle_.clear();
        for (Fiber* abandoned : fibers_) {
            resetFiber(abandoned);
            idle_.push_back(abandoned);
        }
    }
    if (grid.barrier) grid.barrier->blockEnded();
}

// Takes the next block and makes its first thread the current one.
bool Worker::beginBlock() {
    if (grid_->cancelled.load(std::memory_order_relaxed)) return false;
    if (chunkNext_ == chunkEnd_) {
        if (!takesChunks_) return false;
        // In order and in small portions: a block may wait for blocks with lower numbers, and the
        // last ones should end together. As many as a GPU holds at once go out one by one: these
        // may wait for one another.
        const uint64_t portion =
            schedule != nullptr
                ? 1
                : std::clamp<uint64_t>(grid_->blockCount / residentBlocks(), 1, 256);
        chunkNext_ = grid_->nextBlock.fetch_add(portion, std::memory_order_relaxed);
        if (chunkNext_ >= grid_->blockCount) {
            chunkNext_ = chunkEnd_;
            return false;
        }
        chunkEnd_ = std::min(chunkNext_ + portion, grid_->blockCount);
    }
    blockNumber_ = chunkNext_++;
    blockIdx.x = static_cast<unsigned>(blockNumber_ % gridDim.x);
    blockIdx.y = static_cast<unsigned>(blockNumber_ / gridDim.x % gridDim.y);
    blockIdx.z = static_cast<unsigned>(blockNumber_ / gridDim.x / gridDim.y);
    threadIdx = uint3{0, 0, 0};
    reached_.clear();
    asyncCopies_.beginBlock();
    mbarriers_.beginBlock();
    std::memset(emu_dynamic_shared, kUnwrittenShared, grid_->config.dynamicShared);
    if (watcher != nullptr) watcher->blockBegins(*grid_);
    blockHasFibers_ = false;
    endNeedsScheduler = watcher != nullptr;
    yieldsAlone_ = 0;
    spinCount = 0;
    return true;
}

void Worker::runFiber() {
    for (;;) {
        Fiber* self = current_;
        self->launch = launch_;
        self->finished = false;
        self->spins = 0;
        threadContinues(self);
        grid_->call.run(grid_->call.body.get());
        if (self->finished) {
            idle_.push_back(self);
            switchFiber(self, &main_);
        }
        // Continued to run the first thread of its share, or left the loop of an earlier launch on
        // the way to do so.
    }
}

// The current thread ran to its end. Returns true if this fiber has another one to run now.
bool Worker::nextThread() {
    if (watcher != nullptr) watcher->threadEnded(threadRankInBlock());
    if (!blockHasFibers_) {
        if (nextInPlainLoop()) {
            if (watcher != nullptr) watcher->threadRuns(threadRankInBlock());
            return true;
        }
    } else {
        threadEnded();
        if (startsNext()) {
            startNextThread(current_);
            threadContinues(current_);
            return true;
        }
        if (alive_ > 0) {
            Fiber* self = current_;
            Fiber* next = nextRunnable();
            idle_.push_back(self);
            current_ = next;
            switchFiber(self, next);
            // Continued with a new thread to run: of this launch, or of a later one with another
            // kernel.
            if (self->launch != launch_) return false;
            threadContinues(self);
            return true;
        }
    }
    asyncCopies_.blockEnds();
    if (watcher != nullptr) watcher->blockEnded(true);
    if (beginBlock()) {
        if (schedule != nullptr) shuffleThreads();
        if (watcher != nullptr) watcher->threadRuns(threadRankInBlock());
        return true;
    }
    current_->finished = true;
    return false;
}

// Steps threadIdx to the next thread of a block in which nobody waits.
bool Worker::nextInPlainLoop() {
    // Where nobody watches, nextThread() in engine.h has already stepped x past the end of the row.
    if (watcher != nullptr && ++threadIdx.x < blockDim.x) return true;
    threadIdx.x = 0;
    if (++threadIdx.y < blockDim.y) return true;
    threadIdx.y = 0;
    return ++threadIdx.z < blockDim.z;
}

// This OS thread runs the CUDA thread of `fiber` from now on.
void Worker::threadContinues(const Fiber* fiber) {
    threadIdx = fiber->threadIdx;
    spinCount = fiber->spins;
    if (__builtin_expect(watcher != nullptr, 0)) watcher->threadRuns(threadRankInBlock());
}

// ---- fibers

// A thread of this block has to wait for the first time: all before it have ended, all after it
// have not begun.
void Worker::startFibers() {
    const unsigned rank = threadRankInBlock();
    blockHasFibers_ = endNeedsScheduler = true;
    alive_ = threads_ - rank;
    unstarted_ = rank + 1;
    unstartedIdx_ = threadIdx;
    advance(unstartedIdx_);
    ready_.clear();
    atBarrier_.clear();
    barrierTrue_ = 0;
    warps_.begin(threads_, rank);
    current_->rank = rank;
    current_->threadIdx = threadIdx;
    current_->progress = {};
}

// All threads begin in an order of the schedule: the warps, and the lanes of each.
void Worker::shuffleThreads() {
    startFibers();
    order_.clear();
    std::vector<unsigned> warps((threads_ + kWarpSize - 1) / kWarpSize);
    std::iota(warps.begin(), warps.end(), 0u);
    const auto shuffle = [](auto begin, auto end) {
        for (auto size = end - begin; size > 1; --size) {
            std::swap(begin[size - 1], begin[schedule->below(static_cast<unsigned>(size))]);
        }
    };
    shuffle(warps.begin(), warps.end());
    for (const unsigned warp : warps) {
        const auto first = static_cast<std::ptrdiff_t>(order_.size());
        const unsigned end = std::min<unsigned>(threads_, (warp + 1) * kWarpSize);
        for (unsigned rank = warp * kWarpSize; rank < end; ++rank) order_.push_back(rank);
        shuffle(order_.begin() + first, order_.end());
    }
    unstarted_ = 0;
    startNextThread(current_);
}

void Worker::startNextThread(Fiber* fiber) {
    if (schedule == nullptr) {
        fiber->rank = unstarted_++;
        fiber->threadIdx = unstartedIdx_;
        advance(unstartedIdx_);
    } else {
        const unsigned rank = fiber->rank = order_[unstarted_++];
        fiber->threadIdx = {rank % blockDim.x, rank / blockDim.x % blockDim.y,
                            rank / blockDim.x / blockDim.y};
        fiber->polls = false;
    }
    fiber->wait = Wait::None;
    fiber->spins = 0;
    fiber->progress = {};
    if (fiber == current_) threadIdx = fiber->threadIdx;
}

Fiber* Worker::idleFiber() {
    if (idle_.empty()) {
        fibers_.push_back(createFiber(static_cast<unsigned>(fibers_.size())));
        return fibers_.back();
    }
    Fiber* fiber = idle_.back();
    idle_.pop_back();
    return fiber;
}

// Whether it is the turn of a thread that has not begun. (Each warp begins as a whole.)
bool Worker::startsNext() {
    if (unstarted_ == threads_) return false;
    if (__builtin_expect(schedule != nullptr, 0)) {
        return ready_.onlyPollers() || schedule->below(2) == 0;
    }
    if (unstarted_ % kWarpSize == 0 && !ready_.onlyPollers()) {
        if (++turnsBeforeStart_ < kTurnsBeforeStart) return false;
    }
    turnsBeforeStart_ = 0;
    return true;
}

Fiber* Worker::nextRunnable() {
    if (startsNext()) {
        Fiber* fiber = idleFiber();
        startNextThread(fiber);
        return fiber;
    }
    if (ready_.onlyPollers() && !wakeWaiting() && ready_.empty()) {
        fail(cudaErrorLaunchFailure, deadlock());
    }
    if (__builtin_expect(schedule != nullptr, 0)) {
        ready_.bringForward(schedule->below(static_cast<unsigned>(ready_.size())));
    }
    return ready_.pop();
}

// Wakes those who wait until nothing else can run. Returns false if there are none.
bool Worker::wakeWaiting() {
    return warps_.resolveInStep() || warps_.resolveActiveMasks();
}

// Lets others run until the current thread is woken.
void Worker::suspend(Wait wait, const CallSite& site) {
    Fiber* self = current_;
    self->wait = wait;
    self->site = site;
    self->spins = spinCount;
    if (watcher != nullptr)
        watcher->threadPauses(self->rank,
                              wait != Wait::None && wait != Wait::InStep && wait != Wait::AtLoad);
    Fiber* next = nextRunnable();
    if (next != self) {
        current_ = next;
        switchFiber(self, next);
    }
    threadContinues(self);
}

void Worker::threadEnded() {
    --alive_;
    warps_.threadEnded(current_->rank);
    if (!atBarrier_.empty() && atBarrier_.size() == alive_) releaseBarrier();
}

void Worker::yield() {
    if (threads_ == 1) {
        yieldToOtherBlocks();
        return;
    }
    if (!blockHasFibers_) startFibers();
    Fiber* self = current_;
    self->polls = true;
    warps_.yields(self);
    const bool alone = unstarted_ == threads_ && ready_.onlyPollers() && !wakeWaiting();
    if (alone) yieldToOtherBlocks();
    if (!alone || !ready_.empty()) {
        ready_.pushPoller(self);
        suspend(Wait::None, CallSite{});
        ready_.pollerRuns();
    }
    warps_.yielded(self);
}

// Whoever this thread polls for is in another block, perhaps in one that nobody runs yet.
void Worker::yieldToOtherBlocks() {
    if (grid_->turns) {
        if (++yieldsAlone_ % kYieldsBeforeTurn == 0) grid_->turns->add();
        passTurn();
        return;
    }
    if (++yieldsAlone_ % kYieldsBeforeHelp == 0) helperPool().addHelper();
    sched_yield();
}

// Lets other blocks run, which may have failed.
void Worker::passTurn() {
    const unsigned rank = threadRankInBlock();
    if (watcher != nullptr) watcher->threadPauses(rank, false);
    watched_.setInKernel(false);
    grid_->turns->pass();
    watched_.setInKernel(true);
    if (grid_->cancelled) abandonFiber(current_, &main_);
    if (watcher != nullptr) watcher->threadRuns(rank);
}

void Worker::interleave(bool plain) {
    if (plain) current_->polls = false;
    if (!schedule->switches()) return;
    const bool alone = !blockHasFibers_ || (ready_.empty() && unstarted_ == threads_);
    if (grid_->turns && (alone || schedule->below(kSwitchesPerTurn) == 0)) {
        passTurn();
    } else if (alone) {
        return;
    } else if (current_->polls) {
        yield();
    } else {
        takeTurns();
    }
}

void Worker::takeTurns() {
    if (threads_ == 1) return;
    if (!blockHasFibers_) startFibers();
    ready_.push(current_);
    suspend(Wait::None, CallSite{});
}

// ---- lanes in step

// False for a thread without others in its block. Else the block has fibers from now on.
bool Worker::lanesMatter() {
    if (threads_ == 1) return false;
    if (!blockHasFibers_) startFibers();
    return true;
}

// Waits until nothing in the block can run but lanes that have come as far and lanes that poll.
void Worker::waitInStep(Wait wait) {
    if (unstarted_ == threads_ && ready_.empty() && !warps_.anyInStep()) return;  // all others wait
    warps_.keepInStep(current_);
    suspend(wait, CallSite{});
}

void Worker::step() {
    if (!lanesMatter()) return;
    ++current_->progress.steps;
    current_->progress.loads = 0;
    waitInStep(Wait::InStep);
}

// Whether it waits.
bool Worker::load(const volatile void* address) {
    if (!lanesMatter()) return false;
    Progress& progress = current_->progress;
    if (progress.loaded != address) progress.loads = 0;
    progress.loaded = address;
    if (progress.loads == kLoadsBeforePoll) return false;
    ++progress.loads;
    waitInStep(Wait::AtLoad);
    return true;
}

void Worker::hasLoaded() {
    waitInStep(Wait::AtLoad);
}

void Worker::passPlace(unsigned place) {
    if (!lanesMatter()) return;
    current_->progress.place = place;
    current_->progress.steps = 0;
}

void Worker::join(unsigned place, bool leavesLoop) {
    if (!lanesMatter()) return;
    passPlace(place);
    if (leavesLoop) current_->progress.polls = false;
    waitInStep(Wait::InStep);
}

void Worker::enterFunction(unsigned place) {
    if (!lanesMatter()) return;
    ++current_->progress.depth;
    passPlace(place);
}

void Worker::leaveFunction(unsigned place) {
    if (!lanesMatter()) return;
    join(place, false);
    --current_->progress.depth;
}

// ---- shared memory

void Worker::sharedReached(void* variable, size_t size) {
    if (std::find(reached_.begin(), reached_.end(), variable) != reached_.end()) return;
    reached_.push_back(variable);
    std::memset(variable, kUnwrittenShared, size);
    if (watcher != nullptr) watcher->sharedReached(variable, size);
}

// ---- block barriers

BarrierCount Worker::blockBarrier(bool predicate, const CallSite& site, bool wholeGrid) {
    if (!blockHasFibers_) startFibers();
    if (watcher != nullptr) watcher->barrierReached(current_->rank, site);
    if (!atBarrier_.empty() && !sameSite(atBarrier_.front()->site, site)) {
        const Fiber& other = *atBarrier_.front();
        std::string message = format(
            "barrier in divergent code: this thread is at %s while thread %s of the same block "
            "waits at %s. All threads of a block "
            "must reach the same barrier.",
            text(site).c_str(), text(other.threadIdx).c_str(), text(other.site).c_str());
        fail(cudaErrorLaunchFailure, std::move(message), Failure::DivergentBarrier);
    }
    barrierTrue_ += predicate ? 1 : 0;
    barrierWholeGrid_ = wholeGrid;
    atBarrier_.push_back(current_);
    current_->site = site;
    if (atBarrier_.size() < alive_) {
        suspend(Wait::BlockBarrier, site);
    } else {
        releaseBarrier();
        // This thread goes on at once; the others were queued in the order in which they came.
    }
    return barrierResult_;
}

void Worker::releaseBarrier() {
    const CallSite site = atBarrier_.front()->site;
    if (alive_ < threads_) noteEndedThreads(grid_->call.name, threads_ - alive_, site);
    const auto passTurn = [this] { this->passTurn(); };
    const bool together = !barrierWholeGrid_ ||
                          (grid_->turns ? grid_->barrier->wait(passTurn) : grid_->barrier->wait());
    if (!together) {
        std::string message =
            text(site) + " can never complete: another block of the grid ended without reaching it";
        fail(cudaErrorLaunchFailure, std::move(message));
    }
    barrierResult_ = {barrierTrue_, static_cast<unsigned>(atBarrier_.size())};
    barrierTrue_ = 0;
    if (watcher != nullptr) watcher->barrierReleased(site, barrierWholeGrid_);
    for (Fiber* fiber : atBarrier_) {
        if (fiber != current_) ready_.wake(fiber);
    }
    atBarrier_.clear();
}

// Until the phase that runs has ended.
void Worker::waitAtMBarrier(void* object, const CallSite& site) {
    if (!blockHasFibers_) startFibers();
    mbarriers_.addWaiting(object, current_, site);
    suspend(Wait::MBarrier, site);
}

// ---- warp collectives

LaneSlot Worker::collective(unsigned mask, Resolve resolve, uint64_t value, int argument,
                            const CallSite& site) {
    if (!blockHasFibers_) startFibers();
    const LaneSlot& slot = warps_.arrive(current_, mask, resolve, value, argument, site);
    suspend(current_->wait, site);
    return slot;
}

unsigned Worker::activeMask(const CallSite& site) {
    if (!blockHasFibers_) startFibers();
    Fiber* self = current_;
    warps_.askActiveMask(self);
    suspend(Wait::ActiveMask, site);
    return self->mask;
}

// ---- failures

std::string Worker::deadlock() const {
    std::vector<const Fiber*> waiting;
    for (const Fiber* fiber : fibers_) {
        if (fiber->wait != Wait::None && fiber->launch == launch_) waiting.push_back(fiber);
    }
    return deadlockMessage(std::move(waiting), warps_, threads_ - alive_) +
           mbarriers_.whatIsMissing();
}

// The frames of the abandoned fibers are never unwound, so callers hand over all that they own.
void Worker::fail(cudaError_t error, std::string message, Failure failure) {
    std::string().swap(failure_);  // (a move might hand an old buffer back)
    failure_ = std::move(message);
    if (!grid_->cancelled.exchange(true)) {
        std::fprintf(stderr, "emulator: kernel %s, block %s, thread %s: %s\n", grid_->call.name,
                     text(blockIdx).c_str(), text(threadIdx).c_str(), failure_.c_str());
        if (watcher != nullptr) watcher->failed(failure, failure_);
        setStickyError(error);
    }
    if (grid_->barrier) grid_->barrier->cancel();
    abandonFiber(current_, &main_);
}

cudaError_t& Worker::threadError() {
    const unsigned rank = threadRankInBlock();
    const bool sameThread = threadErrorLaunch_ == launch_ && threadErrorBlock_ == blockNumber_ &&
                            threadErrorRank_ == rank;
    if (!sameThread) threadError_ = cudaSuccess;
    threadErrorLaunch_ = launch_;
    threadErrorBlock_ = blockNumber_;
    threadErrorRank_ = rank;
    return threadError_;
}

}  // namespace

void runBlocks(Grid& grid, unsigned sm) {
    worker().run(grid, sm, 0, 0);
}
void runOneBlock(Grid& grid, unsigned sm, uint64_t block) {
    worker().run(grid, sm, block, block + 1);
}

Grid* currentGrid() {
    return activeWorker == nullptr ? nullptr : activeWorker->grid();
}
const Fiber* currentFiber() {
    return activeWorker->current();
}
MemoryRange schedulerMemory() {
    return {activeWorker, sizeof(Worker)};
}

void takeTurns() {
    activeWorker->takeTurns();
}

void interleave(bool plain) {
    activeWorker->interleave(plain);
}

// ---- called by kernels

void fiberMain() {
    activeWorker->runFiber();
}

bool nextThreadSlow() {
    return activeWorker->nextThread();
}

BarrierCount blockBarrier(bool predicate, const char* what, const char* file, int line) {
    return activeWorker->blockBarrier(predicate, {what, file, line}, false);
}

void gridBarrier(const char* file, int line) {
    if (!gridIsCooperative()) {
        failKernel(cudaErrorLaunchFailure,
                   "grid.sync() needs a launch through cudaLaunchCooperativeKernel()");
    }
    activeWorker->blockBarrier(false, {"grid.sync()", file, line}, true);
}

bool gridIsCooperative() {
    return currentGrid()->config.cooperative;
}

LaneSlot collective(unsigned mask, Resolve resolve, uint64_t value, int argument, const char* what,
                    const char* file, int line) {
    return activeWorker->collective(mask, resolve, value, argument, {what, file, line});
}

unsigned activeMask(const char* file, int line) {
    return activeWorker->activeMask({"__activemask()", file, line});
}

void yieldThread() {
    if (inDevice()) activeWorker->yield();
}

void laneStep() {
    if (inDevice()) activeWorker->step();
}
bool laneLoads(const volatile void* address) {
    return inDevice() && activeWorker->load(address);
}
void laneHasLoaded() {
    activeWorker->hasLoaded();
}
void laneJoin(unsigned place) {
    if (inDevice()) activeWorker->join(place, false);
}
void laneLeavesLoop(unsigned place) {
    if (inDevice()) activeWorker->join(place, true);
}
void lanePasses(unsigned place) {
    if (inDevice()) activeWorker->passPlace(place);
}
void laneEnters(unsigned place) {
    if (inDevice()) activeWorker->enterFunction(place);
}
void laneLeaves(unsigned place) {
    if (inDevice()) activeWorker->leaveFunction(place);
}

void sharedReached(void* variable, size_t size) noexcept {
    activeWorker->sharedReached(variable, size);
}

// `read` bytes of the source, and zeros up to `size`. `caller` is the return address of the
// function that kernels call.
static AsyncCopy copyOf(void* to, const void* from, size_t size, size_t read, void* caller) {
    return {static_cast<unsigned char*>(to),
            static_cast<const unsigned char*>(from),
            size,
            read,
            reinterpret_cast<uintptr_t>(caller),
            0,
            0};
}

void asyncCopy(void* to, const void* from, size_t size, size_t zeros, const char* file, int line) {
    const AsyncCopy copy = copyOf(to, from, size, size - zeros, __builtin_return_address(0));
    activeWorker->asyncCopies().begin(threadRankInBlock(), copy, "__pipeline_memcpy_async()", file,
                                      line);
}
void asyncCommit() {
    activeWorker->asyncCopies().commit(threadRankInBlock());
}
void asyncWait(size_t prior) {
    activeWorker->asyncCopies().wait(threadRankInBlock(), prior);
}

namespace {

CallSite siteOf(const At& at) {
    return {at.what, at.file, at.line};
}

void mbarrierHasWaited(void* barrier) {
    if (watcher != nullptr) watcher->mbarrierWaited(threadRankInBlock(), barrier);
}

}  // namespace

void mbarrierInit(void* barrier, unsigned count, At at) {
    activeWorker->mbarriers().init(barrier, count, siteOf(at));
}
void mbarrierInvalidate(void* barrier, At at) {
    activeWorker->mbarriers().invalidate(barrier, siteOf(at));
}
uint64_t mbarrierArrive(void* barrier, unsigned count, bool drops, At at) {
    return activeWorker->mbarriers().arrive(barrier, count, drops, siteOf(at));
}
uint64_t mbarrierPhase(void* barrier, At at) {
    return activeWorker->mbarriers().phase(barrier, siteOf(at));
}
void mbarrierExpect(void* barrier, uint64_t bytes, At at) {
    activeWorker->mbarriers().expect(barrier, bytes, siteOf(at));
}
void mbarrierWait(void* barrier, uint64_t phase, At at) {
    if (mbarrierPhase(barrier, at) == phase) {
        activeWorker->waitAtMBarrier(barrier, siteOf(at));
    } else {
        mbarrierHasWaited(barrier);
    }
}
void mbarrierWaitParity(void* barrier, bool parity, At at) {
    const uint64_t phase = mbarrierPhase(barrier, at);
    mbarrierWait(barrier, phase % 2 == static_cast<uint64_t>(parity) ? phase : phase - 1, at);
}
bool mbarrierTest(void* barrier, uint64_t phase, At at) {
    yieldThread();
    const bool ended = mbarrierPhase(barrier, at) != phase;
    if (ended) mbarrierHasWaited(barrier);
    return ended;
}
bool mbarrierTestParity(void* barrier, bool parity, At at) {
    const uint64_t phase = mbarrierPhase(barrier, at);
    return mbarrierTest(barrier, phase % 2 == static_cast<uint64_t>(parity) ? phase : phase - 1,
                        at);
}

void asyncArriveOn(void* barrier, At at) {
    mbarrierPhase(barrier, at);
    activeWorker->asyncCopies().bind(threadRankInBlock(), barrier);
}
void bulkCopy(void* to, const void* from, size_t size, void* barrier, At at) {
    AsyncCopy copy = copyOf(to, from, size, size, __builtin_return_address(0));
    copy.barrier = barrier;
    copy.bulk = true;
    activeWorker->mbarriers().copyBegins(threadRankInBlock(), copy, siteOf(at));
}
void bulkStore(void* to, const void* from, size_t size, At at) {
    AsyncCopy copy = copyOf(to, from, size, size, __builtin_return_address(0));
    copy.bulk = copy.store = true;
    activeWorker->asyncCopies().begin(threadRankInBlock(), copy, at.what, at.file, at.line);
}
void bulkCommit() {
    activeWorker->asyncCopies().commitStores(threadRankInBlock());
}
void bulkWait(size_t prior) {
    activeWorker->asyncCopies().waitForStores(threadRankInBlock(), prior);
}
bool pointsToShared(const void* address) {
    return isShared(address);
}

bool inDevice() {
    return currentGrid() != nullptr;
}

cudaError_t& deviceThreadError() {
    return activeWorker->threadError();
}

unsigned smid() {
    return inDevice() ? activeWorker->sm() : 0;
}

unsigned long long globaltimer() {
    spinHint();  // threads that pass time by looking at the clock do so together
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<unsigned long long>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

void failKernel(cudaError_t error, std::string message, Failure failure) {
    activeWorker->fail(error, std::move(message), failure);
}

void trap() {
    failKernel(cudaErrorLaunchFailure, "__trap() was called");
}

void refuse(const char* what) {
    failKernel(cudaErrorNotSupported, what);
}

}  // namespace emu
