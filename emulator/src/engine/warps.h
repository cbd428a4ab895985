// The warps of the block that an OS thread runs: which lanes wait for which others in a warp
// function, and what each of them gets once they have met.
#pragma once

#include <array>

#include "call_site.h"
#include "emu/limits.h"
#include "emu/warp.h"
#include "fiber.h"
#include "ready_queue.h"

namespace emu {

class Warps {
  public:
    // Who need not wait any longer goes into `ready`.
    explicit Warps(ReadyQueue& ready) : ready_(ready) {}

    // From now on of a block of `threads` threads, of which those before rank `first` have ended.
    void begin(unsigned threads, unsigned first);
    void threadEnded(unsigned rank);

    // The thread of `fiber` waits for the lanes in `mask`, unless all that are alive have come.
    // Fails the kernel if these lanes call different functions. Returns where the thread finds its
    // result when it goes on.
    const LaneSlot& arrive(Fiber* fiber, unsigned mask, Resolve resolve, uint64_t value,
                           int argument, const CallSite& site) {
        const unsigned lane = fiber->rank % kWarpSize;
        Warp& warp = warps_[fiber->rank / kWarpSize];
        fiber->site = site;
        if (!(mask >> lane & 1)) failUnnamed(*fiber, mask);
        warp.slots[lane] = {value, 0, argument};
        warp.resolve[lane] = resolve;
        warp.waiting[lane] = fiber;
        warp.collecting |= 1u << lane;
        fiber->mask = mask;
        fiber->wait = Wait::Collective;
        tryComplete(warp, mask);
        return warp.slots[lane];
    }
    // Lanes that the thread still waits for.
    unsigned missingLanes(const Fiber& fiber) const;

    // The thread of `fiber` waits for resolveActiveMasks(), which then leaves the answer in
    // fiber->mask.
    void askActiveMask(Fiber* fiber);
    // Returns false if no thread of the block has asked.
    bool resolveActiveMasks();

    // The thread of `fiber` waits until no lane of its warp is less far that could go on.
    void keepInStep(Fiber* fiber);
    bool anyInStep() const { return inStep_ != 0; }
    // Called when nothing else in the block can run, but for threads that yield: in each warp, the
    // waiting lanes that are least far go on. Returns false if none does.
    bool resolveInStep();

    // Around the time in which the thread of `fiber` lets others run. If lanes of its warp wait
    // for it all the while, it is taken to poll for what they have to do.
    void yields(Fiber* fiber);
    void yielded(const Fiber* fiber);

  private:
    struct Warp {
        unsigned alive = 0;       // lanes that have not ended
        unsigned collecting = 0;  // lanes that wait in a collective
        unsigned inStep = 0;      // lanes that wait for those that are less far
        unsigned yielding = 0;    // lanes that let others run
        unsigned passedOver = 0;  // turns in a row of which not all these had one
        std::array<Fiber*, kWarpSize> waiting{};
        std::array<Resolve, kWarpSize> resolve{};
        std::array<LaneSlot, kWarpSize> slots{};
    };

    static void reportNobody(Warp& warp, unsigned group);
    static unsigned leastFar(const Warp& warp);
    void tryComplete(Warp& warp, unsigned mask);
    [[noreturn]] void failUnnamed(const Fiber& fiber, unsigned mask) const;

    ReadyQueue& ready_;
    unsigned threads_ = 0;  // of the block
    unsigned activeMaskWaiters_ = 0;
    unsigned inStep_ = 0;  // lanes of the block
    std::array<Warp, kMaxThreadsPerBlock / kWarpSize> warps_;
};

}  // namespace emu
