#include "checker.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "block_checker.h"
#include "byte_fills.h"
#include "engine/fault.h"
#include "engine/guarded_memory.h"
#include "engine/kernel_limits.h"
#include "engine/messages.h"
#include "engine/number_text.h"
#include "engine/program_symbols.h"
#include "engine/reason.h"
#include "engine/scheduler.h"
#include "engine/symbolizer.h"
#include "engine/watchdog.h"
#include "engine/watcher.h"
#include "findings.h"
#include "float_sums.h"
#include "global_check.h"
#include "global_shadow.h"
#include "host_addresses.h"
#include "host_check.h"
#include "instrument/record/per_thread.h"
#include "instrument/record/program_code.h"
#include "results.h"
#include "writers.h"

namespace emu {
namespace {

class Checker : public Watcher {
  public:
    explicit Checker(const std::string& path) : findings_(path) { hostRecorder = &host_; }
    ~Checker() override {
        watcher = nullptr;
        hostRecorder = nullptr;
        if (shadow_.incomplete()) findings_.incomplete();
    }

    void gridBegins(const Grid& grid) override {
        findings_.addLaunch();
        running_ = {order_.begins(), parentsOf(grid)};
        launch_ = running_.number;
        printed_ = prints_ = 0;
        shadow_.beginLaunch(running_);
        host_.times.kernelBegins(launch_, grid);
        addresses_.gridBegins();
        const std::lock_guard<std::mutex> lock(stillMutex_);
        still_ = &grid;
    }
    void gridStillRuns(double seconds, uint3 block, uint3 thread, uintptr_t pc) override {
        const std::lock_guard<std::mutex> lock(stillMutex_);
        if (still_ == nullptr) return;
        Finding finding{Hazard::Endless, format("it had run for %.3g s", seconds), {}, ""};
        if (pc != 0) finding.acts.push_back({{pc, nullptr, 0}, thread, "was here"});
        finding.kernel = kernelName(still_->call.name, still_->call.id);
        finding.block = block;
        finding.order = launch_;
        findings_.withdraw(Hazard::Endless);  // it was elsewhere then
        findings_.add(finding);
    }
    void gridEnded(const Grid& grid) override {
        {
            const std::lock_guard<std::mutex> lock(stillMutex_);
            still_ = nullptr;
            findings_.withdraw(Hazard::Endless);
        }
        for (const GlobalRace& race : shadow_.takeRaces()) {
            if (shadow_.readsBeforeOwnAtomic(race)) continue;
            Finding finding = findingOf(race, grid.config.grid, grid.config.block);
            finding.kernel = kernelName(grid.call.name, grid.call.id);
            finding.order = launch_;
            findings_.add(finding);
        }
        for (const uint32_t place : shadow_.takeOldLooks()) {
            findings_.addOldLook({pcOf(place), nullptr, 0});
        }
        if (printed_ > printfFifoLimit) reportPrinted(grid);
        writers_.gridEnded(launch_, grid.config.grid, grid.config.block);
        if (prints_ > 0) host_.kernelPrinted(launch_, grid);
        if (grid.cancelled) order_.hostWaited();  // no call waits for anything from now on
    }
    void childLaunched(const Grid& child, bool tail) override {
        Parents parents = running_.parents;
        if (!tail) parents.emplace_back(running_.number, blocks_.mine().launchPoint());
        const std::lock_guard<std::mutex> lock(childrenMutex_);
        children_[&child] = std::move(parents);
    }
    void argumentsGiven(const std::string& kernel, const KernelArgument* arguments,
                        size_t count) override {
        if (inDevice()) {
            blocks_.mine().argumentsGiven(kernel, arguments, count);
        } else {
            addresses_.argumentsGiven(kernel, arguments, count);
        }
    }
    void blockBegins(const Grid& grid) override { blocks_.mine().blockBegins(grid, launch_); }
    void blockEnded(bool completed) override { blocks_.mine().blockEnded(completed); }
    void threadRuns(unsigned rank) override { blocks_.mine().threadRuns(rank); }
    void threadPauses(unsigned, bool) override { blocks_.mine().threadPauses(); }
    void threadEnded(unsigned rank) override { blocks_.mine().threadEnded(rank); }
    void kernelBegins(unsigned rank) override { blocks_.mine().kernelBegins(rank); }
    void kernelEnds(unsigned rank) override { blocks_.mine().kernelEnds(rank); }
    void barrierReached(unsigned rank, const CallSite& site) override {
        blocks_.mine().barrierReached(rank, site);
    }
    void barrierReleased(const CallSite&, bool wholeGrid) override {
        blocks_.mine().barrierReleased(wholeGrid);
    }
    void warpMet(unsigned warp, unsigned mask, bool ordersMemory) override {
        blocks_.mine().warpMet(warp, mask, ordersMemory);
    }
    void sharedReached(const void* variable, size_t size) override {
        blocks_.mine().sharedReached(variable, size);
    }
    void asyncCopyBegins(unsigned rank, const AsyncCopy& copy) override {
        blocks_.mine().asyncCopyBegins(rank, copy);
    }
    void asyncCopyBound(unsigned rank, const AsyncCopy& copy) override {
        blocks_.mine().asyncCopyBound(rank, copy);
    }
    void asyncCopyEnds(unsigned rank, const AsyncCopy& copy) override {
        blocks_.mine().asyncCopyEnds(rank, copy);
    }
    void mbarrierInitialised(unsigned rank, const void* barrier) override {
        blocks_.mine().mbarrierInitialised(rank, barrier);
    }
    void mbarrierArrived(unsigned rank, const void* barrier) override {
        blocks_.mine().mbarrierArrived(rank, barrier);
    }
    void mbarrierWaited(unsigned rank, const void* barrier) override {
        blocks_.mine().mbarrierWaited(rank, barrier);
    }
    void mbarrierCompleted(const void* barrier) override {
        blocks_.mine().mbarrierCompleted(barrier);
    }
    void texelsAccessed(unsigned, const TexelAccess& texels) override {
        blocks_.mine().texelsAccessed(texels);
    }
    bool shuffleFromNobody(unsigned rank, unsigned lane, bool inMask,
                           const CallSite& site) override {
        return blocks_.mine().shuffleFromNobody(rank, lane, inMask, site);
    }
    void shuffleMeets(unsigned warp, unsigned mask) override {
        blocks_.mine().shuffleMeets(warp, mask);
    }
    void kernelAllocated(const void* memory, size_t bytes) override {
        shadow_.forget(reinterpret_cast<uintptr_t>(memory), bytes);
    }
    void kernelFrees(uintptr_t pc) override { blocks_.mine().kernelFrees(pc); }
    void kernelPrinted(size_t bytes) override {
        // What an H200 keeps of a line of 70 characters with two numbers takes 138 bytes at least;
        // whether that grows with the text is not known.
        constexpr size_t kSure = 128;
        const size_t sure = std::min(bytes, kSure);
        const uint64_t before = printed_.fetch_add(sure);
        ++prints_;
        if (before <= printfFifoLimit && before + sure > printfFifoLimit) {
            printsAt_ = blocks_.mine().place();
        }
    }
    void failed(Failure failure, const std::string& message) override {
        blocks_.mine().failed(failure, message);
    }

    void callFailed(const std::string& what, const std::string& why) override {
        if (inDevice()) {
            blocks_.mine().refused(what, why);
        } else {
            host_.refused(what, why);
        }
    }
    void errorRead() override {
        if (inDevice()) {
            blocks_.mine().errorRead();
        } else {
            host_.errorRead();
        }
    }
    void streamRuns(const StreamSeen& stream) override { order_.streamRuns(stream); }
    void graphRuns(uint64_t executable, bool now) override { order_.graphRuns(executable, now); }
    void graphNodeRuns(const void* node, const std::vector<const void*>& after) override {
        order_.graphNodeRuns(node, after);
    }
    void eventRecorded(uint64_t event) override {
        order_.eventRecorded(event);
        host_.times.eventRecorded(event);
    }
    void streamWaits(const StreamSeen& stream, uint64_t event) override {
        order_.streamWaits(stream, event);
    }
    void hostFunctionRuns(bool now) override {
        inStreamOrder = now;
        if (!now) order_.hostFunctionRan();
    }
    void hostWaited() override {
        order_.hostWaited();
        host_.waited();
    }
    void hostWaitedForStream(const StreamSeen& stream) override {
        order_.hostWaitedForStream(stream);
        host_.waited();
    }
    void hostWaitedForEvent(uint64_t event) override {
        order_.hostWaitedForEvent(event);
        host_.waited();
    }
    void copyReturns(const StreamSeen& stream, const BytesSeen& written) override {
        order_.hostWaitedForStream(stream);
        host_.copyReturns(written);
    }
    void elapsedTimeRead(uint64_t start, uint64_t end) override {
        host_.times.elapsedTimeRead(start, end);
    }
    void clockRead(uintptr_t pc) override { host_.times.clockRead(pc); }
    void memoryAllocated(const void* base, size_t bytes, const void* variable) override {
        host_.allocations.allocated(base, bytes, variable);
    }
    void memoryFreed(const void* base, size_t bytes) override {
        host_.allocations.freed(base);
        const auto memory = guardedAround(base);
        if (memory && memory->reach == Reach::Managed) results_.add(base, bytes);
        addresses_.memoryFreed(base, bytes);
        shadow_.forget(reinterpret_cast<uintptr_t>(base), bytes);
    }
    void memoryRegistered(const void* base, size_t bytes) override {
        host_.memoryRegistered(base, bytes);
    }
    void symbolAddressGiven(const void* symbol) override { addresses_.symbolAddressGiven(symbol); }
    void pointerStored(void** where) override { host_.pointerStored(where); }
    void freeRefused(const void* pointer) override { host_.freeRefused(pointer); }
    void transferRuns(const BytesSeen* read, const BytesSeen& written) override {
        findings_.addTransfer(read != nullptr);
        host_.transferRuns(read, written);
        writers_.transferRuns(read, written);
        addresses_.transferRuns(read, written);
        fills_.overwritten(written);
    }
    void bytesFilled(const BytesSeen& written, unsigned value) override {
        fills_.filled(written, value, hostPlace());
    }
    std::string writerOf(const void* value, size_t bytes) override {
        return writers_.writerOf(value, bytes);
    }
    void unwrittenCopied(const void* memory, size_t bytes) override {
        host_.unwrittenCopied(memory, bytes);
    }
    void copiedToHost(const void* to, const void* from, size_t bytes,
                      const std::vector<uint8_t>& unwritten) override {
        host_.copiedToHost(to, from, bytes, unwritten);
        results_.add(from, bytes);
    }
    void programDies(const std::string& why, uintptr_t pc) override { host_.dies(why, pc); }
    bool hostFault(uintptr_t address, uintptr_t pc, bool writes) override {
        return host_.fault(address, pc, writes);
    }

  private:
    using Parents = decltype(LaunchWork::parents);

    // Empty for a launch of the host.
    Parents parentsOf(const Grid& grid) {
        const std::lock_guard<std::mutex> lock(childrenMutex_);
        const auto known = children_.find(&grid);
        if (known == children_.end()) return {};
        Parents parents = std::move(known->second);
        children_.erase(known);
        return parents;
    }

    void reportPrinted(const Grid& grid) {
        Finding finding{Hazard::Printed,
                        number(prints_) + " calls of printf() in one launch",
                        {{{printsAt_, nullptr, 0}, {}, "prints", "the kernel"}},
                        ""};
        finding.why = "they take " + bytes(printed_) + " at least; the buffer has " +
                      bytes(printfFifoLimit) +
                      " (cudaLimitPrintfFifoSize), and the oldest may get lost";
        finding.kernel = kernelName(grid.call.name, grid.call.id);
        finding.order = launch_;
        findings_.add(finding);
    }

    Findings findings_;
    StreamOrder order_;
    GlobalShadow shadow_{order_};
    HostAddresses addresses_{
        [this](Finding finding, uintptr_t place) { host_.add(std::move(finding), place); }};
    HostCheck host_{findings_, shadow_, order_, addresses_};
    Writers writers_{shadow_};
    Results results_;
    FloatSums sums_;
    ByteFills fills_;
    std::mutex stillMutex_;
    const Grid* still_ = nullptr;  // the grid that runs
    LaunchWork running_;           // the grid: one runs at a time
    std::mutex childrenMutex_;
    std::map<const Grid*, Parents> children_;       // that have been launched
    std::atomic<uint64_t> launch_{0};               // its number as work; one grid runs at a time
    std::atomic<uint64_t> printed_{0}, prints_{0};  // by the grid: bytes, and how often
    std::atomic<uintptr_t> printsAt_{0};            // where it was too much
    PerThread<BlockChecker> blocks_{[this] {
        return std::make_unique<BlockChecker>(findings_, shadow_, addresses_, sums_, fills_);
    }};
};

}  // namespace

void startChecker(const std::string& path) {
    guardAllocations = true;
    static Checker checker(path);  // writes the report when it is destroyed
    watcher = &checker;
    installFaultHandlers();  // the host's faults are of interest, too
    tellBeforeTheEnd();
}

}  // namespace emu
