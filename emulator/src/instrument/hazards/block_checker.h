// The hazard check of the block that runs on one OS thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "alias_check.h"
#include "barrier_check.h"
#include "block_findings.h"
#include "byte_fills.h"
#include "engine/async_copies.h"
#include "engine/call_site.h"
#include "engine/failure.h"
#include "engine/grid.h"
#include "engine/textures.h"
#include "findings.h"
#include "float_sums.h"
#include "global_check.h"
#include "host_addresses.h"
#include "instrument/record/recorder.h"
#include "recent_reads.h"
#include "shared_shadow.h"
#include "shared_variables.h"
#include "stack_use.h"
#include "warp_clocks.h"
#include "warp_fences.h"

namespace emu {

class BlockChecker : public Recorder {
  public:
    BlockChecker(Findings& findings, GlobalShadow& globals, HostAddresses& addresses,
                 FloatSums& sums, ByteFills& fills)
        : findings_(findings),
          addresses_(addresses),
          sums_(sums),
          fills_(fills),
          globals_(globals, clocks_, fences_, found_) {}

    void blockBegins(const Grid& grid, uint64_t launch);
    void blockEnded(bool completed);
    void threadRuns(unsigned rank);
    void threadPauses();
    void threadEnded(unsigned rank);
    void kernelBegins(unsigned rank);
    void kernelEnds(unsigned rank);
    void barrierReached(unsigned rank, const CallSite& site);
    void barrierReleased(bool wholeGrid);
    void warpMet(unsigned warp, unsigned mask, bool ordersMemory);
    void sharedReached(const void* variable, size_t size);
    void asyncCopyBegins(unsigned rank, const AsyncCopy& copy);
    void asyncCopyBound(unsigned rank, const AsyncCopy& copy);
    void asyncCopyEnds(unsigned rank, const AsyncCopy& copy);
    void mbarrierInitialised(unsigned rank, const void* barrier);
    void mbarrierArrived(unsigned rank, const void* barrier);
    void mbarrierWaited(unsigned rank, const void* barrier);
    void mbarrierCompleted(const void* barrier);
    void texelsAccessed(const TexelAccess& texels);
    bool shuffleFromNobody(unsigned rank, unsigned lane, bool inMask, const CallSite& site);
    void shuffleMeets(unsigned warp, unsigned mask);
    // Where the running thread is, in the user's code.
    uintptr_t place();
    void kernelFrees(uintptr_t pc) { threads_[rank_].lastPc = pc; }
    void failed(Failure failure, const std::string& message);
    // The running thread is about to launch a kernel, and launches it.
    void argumentsGiven(const std::string& kernel, const KernelArgument* arguments, size_t count);
    LaunchPoint launchPoint();
    // The running thread called something that returned an error; or asked for the last one.
    void refused(const std::string& what, const std::string& why);
    void errorRead();

    // Recorder
    void access(const Access& access) override;
    void table(const Access& access) override;
    void badIndex(const BadIndex& bad) override;
    void basicBlock(uintptr_t pc) override;
    void returns(uintptr_t pc) override;
    void sum(double before, double value, bool isDouble) override;
    void fence() override;
    void proxyFence() override;
    void narrowScope() override { threads_[rank_].narrow = true; }
    void enter(uintptr_t caller) override;
    void leave(uintptr_t pc) override;

  private:
    // An asynchronous copy that its thread has not waited for: it may be carried out at any time.
    struct CopyUnderWay {
        AsyncCopy copy;
        uintptr_t pc;   // in the user's code
        uint32_t step;  // of the thread, where it began; 0: before the last barrier
        bool inBounds;
        uint16_t barrier = 0;  // the number of the mbarrier that waits for it, if any
    };
    struct MBarrier {
        const void* object;
        WarpClocks::Known arrived, completed;  // what it knows, and knew when its last phase ended
    };
    struct Thread {
        bool inKernel = false;
        bool narrow = false;             // its next atomic is one among the threads of its block
        uint32_t steps = 0;              // accesses since the last barrier
        std::vector<uintptr_t> callers;  // of the functions that it is in
        StackUse stack;
        uintptr_t lastPc = 0;  // of the last event
        Access lastAccess{};
        uintptr_t badIndex = 0;  // where the last one was
        RecentReads reads;
        std::vector<CopyUnderWay> copies;  // the oldest first
        KernelPath path;
    };
    struct Uninitialised {
        size_t offset;
        uint32_t size;
        uintptr_t pc;
        unsigned rank;
        AccessKind kind;
    };
    struct KnownPc {
        uintptr_t pc = 0;
        uintptr_t function = 0;
    };

    // The innermost return address in the user's own code.
    uintptr_t userPc(const Thread& thread, uintptr_t pc);
    // The place in the kernel's own function that the thread is at.
    uintptr_t kernelPc(const Thread& thread);
    uintptr_t functionOf(uintptr_t pc);
    void looksBeforeUpdate(const Access& atomic, uintptr_t pc);
    bool readsBeforeOwnAtomic(const Race& race);
    void reportRecursion();
    void settle();
    void confirmUninitialised();
    void reportUninitialised(const Uninitialised& read);
    void reportRaces();

    void sharedAccess(const Access& access, uintptr_t pc);
    SharedVariables::Range sharedAround(size_t offset, uintptr_t pc);
    void reportLost(const LostValue& lost, const Access& access, uintptr_t pc);
    bool sharedBounds(const Access& access, uintptr_t pc);
    bool isStray(const Access& access);
    void meets(const CopyUnderWay& copy, unsigned rank);
    void meetsCopiesOf(unsigned rank);
    void beforeOwnWait(const Access& access, uintptr_t pc, const char* what);
    void storesUnfenced(const Access& read, uintptr_t pc, unsigned rank);
    MBarrier& mbarrier(const void* object);
    uint16_t numberOf(const MBarrier& barrier) const;
    void touchMBarrier(unsigned rank, const void* object, AccessKind kind);
    void misaligned(const Access& access, uintptr_t pc);
    void readsFilled(const ByteFill& fill, const Access& access, uintptr_t pc);
    void reportAtOnce(Finding finding);
    void strayAccess(const Access& access, uintptr_t pc);
    void meetsHostAddress(const Access& access, uintptr_t pc);

    Findings& findings_;
    HostAddresses& addresses_;
    FloatSums& sums_;
    ByteFills& fills_;
    uintptr_t summedPc_ = 0;  // the last place of a sum that depends on its order, in this launch
    uint64_t launch_ = 0, barriersPassed_ = 0, gridBarriersPassed_ = 0;
    bool blockRuns_ = false;
    unsigned rank_ = 0;
    unsigned threadCount_ = 0;  // of the block: the others are of blocks before
    std::vector<Thread> threads_ = std::vector<Thread>(kMaxThreadsPerBlock);

    uintptr_t sharedBegin_ = 0;  // of this OS thread
    WarpClocks clocks_;
    WarpFences fences_;  // globals_ tells it of blocks, barriers and fences
    std::unique_ptr<SharedShadow> shadow_;
    std::vector<Race> races_;
    std::vector<MBarrier> mbarriers_;
    std::vector<unsigned char> copied_;  // what a copy would write
    std::set<uintptr_t> looks_;  // places that read what the same thread then updates by an atomic
    Recursion deepest_;          // that a GPU may not have the stack for
    uintptr_t unsettledPc_ = 0;  // of the writes that may not have happened yet
    std::vector<Uninitialised> uninitialised_;
    SharedVariables variables_;
    AliasCheck aliases_;
    BarrierCheck barriers_;
    std::map<unsigned, Finding> unread_;  // errors that a thread has not looked at
    BlockFindings found_;
    std::set<std::pair<Hazard, uintptr_t>> reportedAtOnce_;  // with the place
    GlobalCheck globals_;

    uintptr_t kernelFunction_ = 0;
    std::array<KnownPc, 1024> knownPcs_{};
};

}  // namespace emu
