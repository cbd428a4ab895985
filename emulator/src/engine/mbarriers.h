// The mbarriers of a block: objects in its shared memory at which threads and asynchronous copies
// arrive (emu/mbarrier.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "async_copies.h"
#include "call_site.h"
#include "fiber.h"
#include "ready_queue.h"

namespace emu {

// Of the block that runs on an OS thread.
class MBarriers {
  public:
    MBarriers(AsyncCopies& copies, ReadyQueue& ready) : copies_(copies), ready_(ready) {}

    void beginBlock() { barriers_.clear(); }

    // Each ends the kernel where a GPU leaves undefined what happens.
    void init(void* object, unsigned count, const CallSite& site);
    void invalidate(void* object, const CallSite& site);
    // Returns the phase that it is an arrival of. `drops`: the following phases have fewer.
    uint64_t arrive(void* object, unsigned count, bool drops, const CallSite& site);
    // The phase that runs ends only when so many bytes more have come by bulk copies.
    void expect(void* object, uint64_t bytes, const CallSite& site);
    // A bulk copy that the barrier waits for begins.
    void copyBegins(unsigned rank, const AsyncCopy& copy, const CallSite& site);

    // The number of the phase that runs.
    uint64_t phase(void* object, const CallSite& site) { return find(object, site).phase; }
    // The fiber waits for the end of the phase that runs; it is woken then.
    void addWaiting(void* object, Fiber* fiber, const CallSite& site) {
        find(object, site).waiting.push_back(fiber);
    }
    // Of those that threads wait at, what they lack: lines for the message of a deadlock.
    std::string whatIsMissing() const;

  private:
    struct Barrier {
        const void* object;
        unsigned count;         // arrivals of a phase
        unsigned pending;       // that have not come in this one
        uint64_t phase = 0;     // that runs
        uint64_t expected = 0;  // bytes of bulk copies in this phase
        uint64_t begun = 0;     // of these, such as have begun
        std::vector<Fiber*> waiting;
    };

    Barrier& find(const void* object, const CallSite& site);
    void advance(Barrier& barrier, const CallSite& site);

    AsyncCopies& copies_;
    ReadyQueue& ready_;
    std::vector<Barrier> barriers_;
};

}  // namespace emu
