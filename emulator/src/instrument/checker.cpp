#include "checker.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "../guarded_memory.h"
#include "../watcher.h"
#include "block_checker.h"
#include "findings.h"
#include "kernel_heap.h"

namespace emu {
namespace {

class Checker : public Watcher {
  public:
    explicit Checker(const std::string& path) : findings_(path) {}

    void gridBegins(const Grid&) override { launch_ = findings_.addLaunch(); }
    void gridEnded(const Grid&) override {}
    void blockBegins(const Grid& grid) override { mine().blockBegins(grid, launch_); }
    void blockEnded(bool completed) override { mine().blockEnded(completed); }
    void threadRuns(unsigned rank) override { mine().threadRuns(rank); }
    void threadPauses(unsigned, bool) override { mine().threadPauses(); }
    void threadEnded(unsigned rank) override { mine().threadEnded(rank); }
    void kernelBegins(unsigned rank) override { mine().kernelBegins(rank); }
    void kernelEnds(unsigned rank) override { mine().kernelEnds(rank); }
    void barrierReached(unsigned rank, const CallSite& site) override {
        mine().barrierReached(rank, site);
    }
    void barrierReleased(const CallSite&) override { mine().barrierReleased(); }
    void warpMet(unsigned warp, unsigned mask, bool ordersMemory) override {
        mine().warpMet(warp, mask, ordersMemory);
    }
    void failed(const std::string& message) override { mine().failed(message); }

  private:
    // Gives an OS thread's checker back when that thread ends: a cooperative launch has one for
    // each of its blocks.
    struct Lease {
        Checker* owner = nullptr;
        BlockChecker* block = nullptr;
        ~Lease() {
            if (block == nullptr) return;
            const std::lock_guard<std::mutex> lock(owner->mutex_);
            owner->idle_.push_back(std::exchange(block, nullptr));
        }
    };

    // Of this OS thread.
    BlockChecker& mine() {
        static thread_local Lease lease;
        if (lease.block == nullptr) {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (idle_.empty()) {
                blocks_.push_back(std::make_unique<BlockChecker>(findings_));
                idle_.push_back(blocks_.back().get());
            }
            lease.owner = this;
            lease.block = idle_.back();
            idle_.pop_back();
        }
        return *lease.block;
    }

    Findings findings_;
    std::atomic<uint64_t> launch_{0};  // one grid runs at a time
    std::mutex mutex_;
    std::vector<std::unique_ptr<BlockChecker>> blocks_;
    std::vector<BlockChecker*> idle_;
};

}  // namespace

void startChecker(const std::string& path) {
    guardAllocations = watchKernelHeap = true;
    static Checker checker(path);  // writes the report when it is destroyed
    watcher = &checker;
}

}  // namespace emu
