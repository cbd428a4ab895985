#include "profiler.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "emu/engine.h"
#include "emu/warp.h"
#include "engine/program_symbols.h"
#include "engine/scheduler.h"
#include "engine/symbolizer.h"
#include "engine/watcher.h"
#include "instrument/record/memory_map.h"
#include "instrument/record/per_thread.h"
#include "instrument/record/program_code.h"
#include "instrument/record/recorder.h"
#include "instrument/record/stream_order.h"
#include "line_profile.h"
#include "profile_csv.h"
#include "warp_replay.h"

extern "C" const char _end[];  // of the program, from the linker

namespace emu {
namespace {

constexpr unsigned kMaxWarps = kMaxThreadsPerBlock / kWarpSize;
constexpr uint32_t kBarrierPlace = UINT32_MAX - 1;  // just before the end of __syncthreads()

// A thread that has so many events lets the others of its block run, so that theirs can be lined
// up and forgotten: the memory that this takes does not grow with a kernel's loops.
constexpr size_t kMostPending = 512;

// The block that runs on one OS thread.
class BlockProfiler : public Recorder {
  public:
    // `withLines`: what is done is also counted by line; `close`: and looked at closely.
    void blockBegins(bool withLines, bool close) {
        memoryMap.beginBlock();
        byBarriers_ = {};
        byThread_.fill({});
        warps_ = (blockDim.x * blockDim.y * blockDim.z + kWarpSize - 1) / kWarpSize;
        for (unsigned warp = 0; warp < warps_; ++warp) {
            if (!replays_[warp]) replays_[warp] = std::make_unique<WarpReplay>();
            replays_[warp]->reset(warp, withLines ? &lines_ : nullptr);
        }
        running_.fill(kFullMask);
        inKernel_.fill(false);
        if (withLines) lines_.blockBegins({blockIdx.x, blockIdx.y, blockIdx.z}, warps_, close);
    }

    void blockEnded(bool completed) {
        recorder = nullptr;
        if (completed) replayAll();
        uint64_t inFlight = byBarriers_.most;
        for (const Copied& copied : byThread_) inFlight += copied.most;
        counts_.bytesInFlight = std::max(counts_.bytesInFlight, inFlight);
        lines_.blockEnds();
        warps_ = 0;
    }

    void threadRuns(unsigned rank) {
        const Fiber* fiber = currentFiber();
        memoryMap.setStack(fiber->stackBottom, fiber->stackSize);
        const unsigned lane = rank % kWarpSize;
        rank_ = rank;
        warp_ = rank / kWarpSize;
        trace_ = &replays_[warp_]->traceOf(lane);
        running_[warp_] |= 1u << lane;
        recorder = inKernel_[rank] ? this : nullptr;
    }
    void threadPauses(unsigned rank, bool waits) {
        recorder = nullptr;
        if (waits) running_[rank / kWarpSize] &= ~(1u << rank % kWarpSize);
    }

    void kernelBegins(unsigned rank) {
        inKernel_[rank] = true;
        recorder = this;
    }
    void kernelEnds(unsigned rank) {
        inKernel_[rank] = false;
        threadPauses(rank, true);
    }

    void barrierReached() { add(0, kBarrierPlace, EventKind::Barrier, 0); }
    void asyncCopyBegins(unsigned rank, const AsyncCopy& copy) {
        if (!copy.store) copiesOf(rank, copy).now += copy.size;
        if (copy.bulk) return;  // no instruction of the warp moves its data
        const uint32_t place = placeOf(copy.pc);
        add(inVariable(reinterpret_cast<uintptr_t>(copy.to)), place, EventKind::CopyTo, copy.size);
        add(reinterpret_cast<uintptr_t>(copy.from), place, EventKind::CopyFrom, copy.read);
    }
    void asyncCopyBound(unsigned rank, const AsyncCopy& copy) {
        byThread_[rank].now -= copy.size;
        byBarriers_.now += copy.size;
    }
    void asyncCopyEnds(unsigned rank, const AsyncCopy& copy) {
        if (!copy.store) copiesOf(rank, copy).now -= copy.size;
    }
    void texelsAccessed(const TexelAccess& access) {
        const EventKind ofSurface =
            access.isStore ? EventKind::SurfaceWrite : EventKind::SurfaceRead;
        add(0, placeOf(access.pc), access.isSurface ? ofSurface : EventKind::TextureRead, 0);
    }
    void replayAll() {
        const Quiet quiet;
        for (unsigned warp = 0; warp < warps_; ++warp) replays_[warp]->replay(0, counts_);
    }

    LaunchCounts takeCounts() { return std::exchange(counts_, {}); }
    LineCounts takeLines() { return std::exchange(lines_, {}); }

    // Recorder

    void access(const Access& access) override {
        if (access.space == Space::Other) return;
        const bool shared = access.space == Space::Shared;
        if (shared && access.kind == AccessKind::Load) {
            for (Copied* copied : {&byThread_[rank_], &byBarriers_}) {
                copied->most = std::max(copied->most, copied->now);
            }
        }
        EventKind kind = EventKind::GlobalLoad;
        switch (access.kind) {
            case AccessKind::Load:
                kind = shared ? EventKind::SharedLoad : EventKind::GlobalLoad;
                break;
            case AccessKind::Store:
                kind = shared ? EventKind::SharedStore : EventKind::GlobalStore;
                break;
            case AccessKind::Atomic:
                if (access.onlyStores) {
                    kind = shared ? EventKind::SharedStore : EventKind::GlobalStore;
                } else {
                    kind = shared ? EventKind::SharedAtomic : EventKind::GlobalAtomic;
                }
                break;
        }
        const uintptr_t address = shared ? access.address : inSectors(access.address);
        const uint32_t place = placeOf(access.pc);
        if (!access.bytewise) return add(address, place, kind, access.size);
        for (uint32_t i = 0; i < access.size; ++i) add(address + i, place, kind, 1);
    }
    void constant(const Access& access) override {
        add(access.address, placeOf(access.pc), EventKind::ConstantLoad, access.size);
    }
    // Small functions of the emulator's headers have blocks, but no hook that says where they begin
    // and end: their blocks would be taken for the caller's.
    // GCC makes the return behind the hook of a function's end a block of its own.
    void basicBlock(uintptr_t pc) override {
        if (isOfUser(pc)) add(pc == afterLeaving_, placeOf(pc), EventKind::BasicBlock, 0);
    }
    void division(bool negative, uintptr_t pc) override {
        add(negative, placeOf(pc), EventKind::Division, 0);
    }
    void loopStep(uintptr_t pc) override { add(0, placeOf(pc), EventKind::LoopStep, 0); }
    void enter(uintptr_t caller) override { add(0, placeOf(caller), EventKind::Enter, 0); }
    void leave(uintptr_t pc) override {
        afterLeaving_ = afterCallAt(pc);
        add(0, 0, EventKind::Leave, 0);
    }

  private:
    // Where in its variable an address of shared memory lies. On a GPU variables begin with a line,
    // at least the first one of a kernel; here they lie anywhere.
    uintptr_t inVariable(uintptr_t address) {
        const uintptr_t offset = address - memoryMap.sharedBegin();
        if (offset - variable_.begin >= variable_.size) {
            variable_ = threadLocalAt(offset).value_or(ThreadLocal{"", 0, memoryMap.sharedSize()});
        }
        return offset - variable_.begin;
    }

    // Where an access to global memory lies, if large variables of the program begin with a sector,
    // as on a GPU: the compiler aligns them less.
    uintptr_t inSectors(uintptr_t address) {
        if (address - pcOf(0) >= reinterpret_cast<uintptr_t>(&_end) - pcOf(0)) return address;
        const auto* pointer = reinterpret_cast<const char*>(address);
        if (static_cast<size_t>(pointer - static_cast<const char*>(global_.base)) >= global_.size) {
            global_ = variableAt(pointer).value_or(Variable{pointer, 1});
        }
        if (global_.size < kSectorSize) return address;
        return address - reinterpret_cast<uintptr_t>(global_.base) % kSectorSize;
    }

    static bool isOfUser(uintptr_t pc) {
        const Quiet quiet;
        return isUserCode(pc);
    }

    void add(uintptr_t address, uint32_t place, EventKind kind, uint32_t size) {
        trace_->emplace_back(address, place, kind, static_cast<uint8_t>(size));
        if (__builtin_expect(trace_->size() >= kMostPending, 0)) makeRoom();
    }

    void makeRoom() {
        const unsigned warp = warp_;
        takeTurns();
        const Quiet quiet;
        replays_[warp]->replay(running_[warp], counts_);
    }

    std::array<std::unique_ptr<WarpReplay>, kMaxWarps> replays_;
    // Where the call of a hook right behind the last end of a function returns to.
    uintptr_t afterLeaving_ = 0;
    std::array<uint32_t, kMaxWarps> running_{};  // lanes that neither wait nor have ended
    std::array<bool, kMaxThreadsPerBlock> inKernel_{};
    unsigned warps_ = 0;
    unsigned warp_ = 0;                    // of the thread that runs
    std::vector<Event>* trace_ = nullptr;  // its events
    ThreadLocal variable_{"", 0, 0};       // that was copied to last
    Variable global_{nullptr, 0};          // that was accessed last
    // Bytes of copies to shared memory that are under way; and at most, while the thread, or any
    // thread, reads there.
    struct Copied {
        uint64_t now = 0, most = 0;
    };
    Copied& copiesOf(unsigned rank, const AsyncCopy& copy) {
        return copy.barrier != nullptr ? byBarriers_ : byThread_[rank];
    }
    Copied byBarriers_;                                   // for which an mbarrier waits
    std::array<Copied, kMaxThreadsPerBlock> byThread_{};  // for which their thread does
    unsigned rank_ = 0;                                   // of the thread that runs
    LaunchCounts counts_;
    LineCounts lines_;
};

class Profiler : public Watcher {
  public:
    Profiler(const char* totals, const char* lines) {
        if (totals != nullptr) csv_.emplace(totals);
        if (lines != nullptr) lines_.emplace(lines);
        recordsConstants = lines != nullptr;
    }

    void gridBegins(const Grid& grid) override {
        if (grid.ofKernel) return;
        criticalPath_ = order_.begins().before.chain;
        if (!lines_) return;
        isNew_ = !lines_->knows(grid);
        lines_->hostLaunches(grid);
    }
    void gridEnded(const Grid& grid) override {
        LaunchCounts counts;
        LineCounts lines;
        counts.criticalPath = criticalPath_;
        blocks_.forEach([&](BlockProfiler& block) {
            counts.add(block.takeCounts());
            if (lines_) lines.add(block.takeLines());
        });
        // Like ncu, which does not see what kernels launch.
        if (grid.ofKernel || grid.cancelled) return;
        if (csv_) csv_->add(grid, counts);
        if (lines_) lines_->add(grid, counts, std::move(lines));
    }
    void argumentsGiven(const std::string& kernel, const KernelArgument* arguments,
                        size_t count) override {
        if (lines_ && !inDevice()) lines_->argumentsGiven(kernel, arguments, count);
    }

    void blockBegins(const Grid& grid) override {
        const uint64_t number =
            blockIdx.x + gridDim.x * (blockIdx.y + uint64_t{gridDim.y} * blockIdx.z);
        const bool close = isNew_ && (number <= 1 || number + 1 == grid.blockCount);
        blocks_.mine().blockBegins(lines_.has_value(), close);
    }
    void blockEnded(bool completed) override { blocks_.mine().blockEnded(completed); }
    void threadRuns(unsigned rank) override { blocks_.mine().threadRuns(rank); }
    void threadPauses(unsigned rank, bool waits) override {
        blocks_.mine().threadPauses(rank, waits);
    }
    void threadEnded(unsigned) override {}
    void kernelBegins(unsigned rank) override { blocks_.mine().kernelBegins(rank); }
    void kernelEnds(unsigned rank) override { blocks_.mine().kernelEnds(rank); }
    void barrierReached(unsigned, const CallSite&) override { blocks_.mine().barrierReached(); }
    void barrierReleased(const CallSite&, bool) override { blocks_.mine().replayAll(); }
    void warpMet(unsigned, unsigned, bool) override {}
    void asyncCopyBegins(unsigned rank, const AsyncCopy& copy) override {
        blocks_.mine().asyncCopyBegins(rank, copy);
    }
    void asyncCopyBound(unsigned rank, const AsyncCopy& copy) override {
        blocks_.mine().asyncCopyBound(rank, copy);
    }
    void texelsAccessed(unsigned, const TexelAccess& access) override {
        blocks_.mine().texelsAccessed(access);
    }

    void asyncCopyEnds(unsigned rank, const AsyncCopy& copy) override {
        blocks_.mine().asyncCopyEnds(rank, copy);
    }

    // Of what streams run, kernels alone are work that is counted.
    void streamRuns(const StreamSeen& stream) override { order_.streamRuns(stream); }
    void graphRuns(uint64_t executable, bool now) override { order_.graphRuns(executable, now); }
    void graphNodeRuns(const void* node, const std::vector<const void*>& after) override {
        order_.graphNodeRuns(node, after);
    }
    void eventRecorded(uint64_t event) override { order_.eventRecorded(event); }
    void streamWaits(const StreamSeen& stream, uint64_t event) override {
        order_.streamWaits(stream, event);
    }
    void hostFunctionRuns(bool now) override {
        if (!now) order_.hostFunctionRan();
    }
    void hostWaited() override {
        order_.hostWaited();
        if (lines_) lines_->hostWaits();
    }
    void hostWaitedForStream(const StreamSeen& stream) override {
        order_.hostWaitedForStream(stream);
        if (lines_) lines_->hostWaits();
    }
    void hostWaitedForEvent(uint64_t event) override {
        order_.hostWaitedForEvent(event);
        if (lines_) lines_->hostWaits();
    }
    void copyCalled(const CopySeen& copy) override {
        if (lines_) lines_->hostCopies(copy);
    }

  private:
    StreamOrder order_;
    uint64_t criticalPath_ = 0;  // up to the grid of the host that runs: one at a time
    PerThread<BlockProfiler> blocks_{[] { return std::make_unique<BlockProfiler>(); }};
    std::optional<ProfileCsv> csv_;
    std::optional<LineProfile> lines_;
    bool isNew_ = false;  // the grid that runs is the first of its kind
};

}  // namespace

void startProfiler(const char* totals, const char* lines) {
    static Profiler profiler(totals, lines);  // writes the files when it is destroyed
    watcher = &profiler;
}

}  // namespace emu
