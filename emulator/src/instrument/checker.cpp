#include "checker.h"

#include <atomic>
#include <memory>

#include "block_checker.h"
#include "engine/guarded_memory.h"
#include "engine/watcher.h"
#include "findings.h"
#include "kernel_heap.h"
#include "per_thread.h"

namespace emu {
namespace {

class Checker : public Watcher {
  public:
    explicit Checker(const std::string& path) : findings_(path) {}

    void gridBegins(const Grid&) override { launch_ = findings_.addLaunch(); }
    void gridEnded(const Grid&) override {}
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
    void barrierReleased(const CallSite&) override { blocks_.mine().barrierReleased(); }
    void warpMet(unsigned warp, unsigned mask, bool ordersMemory) override {
        blocks_.mine().warpMet(warp, mask, ordersMemory);
    }
    void failed(const std::string& message) override { blocks_.mine().failed(message); }

  private:
    Findings findings_;
    std::atomic<uint64_t> launch_{0};  // one grid runs at a time
    PerThread<BlockChecker> blocks_{[this] { return std::make_unique<BlockChecker>(findings_); }};
};

}  // namespace

void startChecker(const std::string& path) {
    guardAllocations = watchKernelHeap = true;
    static Checker checker(path);  // writes the report when it is destroyed
    watcher = &checker;
}

}  // namespace emu
