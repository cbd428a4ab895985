#include "mbarriers.h"

#include <algorithm>
#include <utility>

#include "emu/engine.h"
#include "messages.h"
#include "scheduler.h"
#include "watcher.h"

namespace emu {
namespace {

constexpr unsigned kMostArrivals = (1u << 20) - 1;  // PTX ISA, "mbarrier"

[[noreturn]] void refuse(const CallSite& site, const char* why) {
    failKernel(cudaErrorLaunchFailure, text(site) + ": " + why);
}

}  // namespace

MBarriers::Barrier& MBarriers::find(const void* object, const CallSite& site) {
    for (Barrier& barrier : barriers_) {
        if (barrier.object == object) return barrier;
    }
    refuse(site, isShared(object)
                     ? "nothing has initialised this barrier: one thread calls init(), and a "
                       "__syncthreads() follows"
                     : "the barrier is not in shared memory, where alone it works here");
}

void MBarriers::init(void* object, unsigned count, const CallSite& site) {
    if (!isShared(object)) refuse(site, "the barrier is not in shared memory");
    if (count == 0 || count > kMostArrivals) refuse(site, "the count must be 1 to 2^20 - 1");
    if (reinterpret_cast<uintptr_t>(object) % 8 != 0) refuse(site, "the barrier is misaligned");
    const auto same = [&](const Barrier& barrier) { return barrier.object == object; };
    barriers_.erase(std::remove_if(barriers_.begin(), barriers_.end(), same), barriers_.end());
    barriers_.push_back({object, count, count, 0, 0, 0, {}});
    if (watcher != nullptr) watcher->mbarrierInitialised(threadRankInBlock(), object);
}

void MBarriers::invalidate(void* object, const CallSite& site) {
    const Barrier* barrier = &find(object, site);
    barriers_.erase(barriers_.begin() + (barrier - barriers_.data()));
}

uint64_t MBarriers::arrive(void* object, unsigned count, bool drops, const CallSite& site) {
    Barrier& barrier = find(object, site);
    if (count > barrier.pending) {
        refuse(site, "more arrivals than the barrier was initialised for");
    }
    const uint64_t phase = barrier.phase;
    if (watcher != nullptr) watcher->mbarrierArrived(threadRankInBlock(), object);
    barrier.pending -= count;
    if (drops) barrier.count -= count;
    advance(barrier, site);
    return phase;
}

void MBarriers::expect(void* object, uint64_t bytes, const CallSite& site) {
    find(object, site).expected += bytes;
}

void MBarriers::copyBegins(unsigned rank, const AsyncCopy& copy, const CallSite& site) {
    Barrier& barrier = find(copy.barrier, site);
    copies_.begin(rank, copy, site.what, site.file, site.line);
    barrier.begun += copy.size;
    advance(barrier, site);
}

// Ends the phase if nothing is missing any more.
void MBarriers::advance(Barrier& barrier, const CallSite& site) {
    if (barrier.pending > 0) return;
    if (barrier.begun > barrier.expected) {
        refuse(site,
               "all have arrived, but bulk copies to the barrier have more bytes than it was told "
               "to expect (barrier_arrive_tx(), mbarrier_arrive_expect_tx())");
    }
    if (barrier.begun < barrier.expected) return;
    copies_.completes(barrier.object);
    if (watcher != nullptr) watcher->mbarrierCompleted(barrier.object);
    ++barrier.phase;
    barrier.pending = barrier.count;
    barrier.expected = barrier.begun = 0;
    for (Fiber* fiber : std::exchange(barrier.waiting, {})) {
        if (watcher != nullptr) watcher->mbarrierWaited(fiber->rank, barrier.object);
        ready_.wake(fiber);
    }
}

std::string MBarriers::whatIsMissing() const {
    std::string lines;
    for (const Barrier& barrier : barriers_) {
        if (barrier.waiting.empty()) continue;
        lines += format("\n  a barrier at which threads wait (%zu) lacks %u of %u arrivals",
                        barrier.waiting.size(), barrier.pending, barrier.count);
        if (barrier.begun == barrier.expected) continue;
        lines += format(" and %llu of %llu expected bytes",
                        static_cast<unsigned long long>(barrier.expected - barrier.begun),
                        static_cast<unsigned long long>(barrier.expected));
    }
    return lines;
}

}  // namespace emu
