// The hazard check of the block that runs on one OS thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "barrier_check.h"
#include "engine/scheduler.h"
#include "findings.h"
#include "recorder.h"
#include "shared_shadow.h"

namespace emu {

class BlockChecker : public Recorder {
  public:
    explicit BlockChecker(Findings& findings) : findings_(findings) {}

    void blockBegins(const Grid& grid, uint64_t launch);
    void blockEnded(bool completed);
    void threadRuns(unsigned rank);
    void threadPauses();
    void threadEnded(unsigned rank);
    void kernelBegins(unsigned rank);
    void kernelEnds(unsigned rank);
    void barrierReached(unsigned rank, const CallSite& site);
    void barrierReleased();
    void warpMet(unsigned warp, unsigned mask, bool ordersMemory);
    void failed(const std::string& message);

    // Recorder
    void access(const Access& access) override;
    void block(uintptr_t pc) override;
    void enter(uintptr_t caller) override;
    void leave() override;

  private:
    struct Thread {
        bool inKernel = false;
        uint32_t steps = 0;              // accesses since the last barrier
        std::vector<uintptr_t> callers;  // of the functions that it is in
        uintptr_t lastPc = 0;            // of the last event
        Access lastAccess{};
        KernelPath path;
    };
    struct Uninitialised {
        size_t offset;
        uint32_t size;
        uintptr_t pc;
        unsigned rank;
    };
    struct Range {
        size_t begin, end;
    };
    struct KnownPc {
        uintptr_t pc = 0;
        uintptr_t function = 0;
    };

    uint3 indexOf(unsigned rank) const;
    // The innermost return address in the user's own code.
    uintptr_t userPc(const Thread& thread, uintptr_t pc);
    // The place in the kernel's own function that the thread is at.
    uintptr_t kernelPc(const Thread& thread);
    uintptr_t functionOf(uintptr_t pc);
    void settle();
    void confirmUninitialised();
    void reportRaces();

    void sharedAccess(const Access& access, uintptr_t pc);
    void strayAccess(const Access& access, uintptr_t pc);
    bool foundAgain(Hazard hazard, uintptr_t first, uintptr_t second, bool withinWarp);
    void report(Finding finding);
    Act act(uintptr_t pc, unsigned rank, const std::string& what) const;

    bool isPoison(size_t offset, size_t size) const;
    std::string sharedName(size_t offset, size_t size) const;
    // The shared memory that the access may use, around `offset`; 0 to 0 if none.
    Range sharedVariable(size_t offset);

    Findings& findings_;
    const Grid* grid_ = nullptr;
    uint64_t launch_ = 0;
    bool blockRuns_ = false;
    unsigned rank_ = 0;
    std::vector<Thread> threads_ = std::vector<Thread>(kMaxThreadsPerBlock);

    uintptr_t sharedBegin_ = 0;  // of this OS thread
    size_t sharedSize_ = 0, dynamicOffset_ = 0;
    bool namesKnown_ = false;
    std::unique_ptr<SharedShadow> shadow_;
    std::vector<Race> races_;
    uintptr_t unsettledPc_ = 0;  // of the writes that may not have happened yet
    std::vector<Uninitialised> uninitialised_;
    // Of this kernel: dynamic shared memory, its own variables, and what sharedVariable() has
    // found.
    std::vector<Range> variables_;
    size_t ownVariables_ = 0;

    BarrierCheck barriers_;

    std::map<std::tuple<Hazard, uintptr_t, uintptr_t>, Finding> found_;  // in this block
    uintptr_t kernelFunction_ = 0;
    std::array<KnownPc, 1024> knownPcs_{};
};

}  // namespace emu
