// What the hazard check looks for in host code: memory that it may not touch, or not yet, and
// errors that nobody looks at.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/guarded_memory.h"
#include "findings.h"
#include "global_shadow.h"
#include "host_addresses.h"
#include "instrument/record/recorder.h"
#include "unwritten_copies.h"

namespace emu {

// The calling OS thread runs a host function in stream order: kernels before it have ended.
extern thread_local bool inStreamOrder;

// What the host does at `pc`.
Act actOfHost(uintptr_t pc, const std::string& what);

// Thread-safe.
class HostCheck : public HostRecorder {
  public:
    HostCheck(Findings& findings, GlobalShadow& shadow, StreamOrder& order,
              HostAddresses& addresses)
        : findings_(findings), shadow_(shadow), order_(order), addresses_(addresses) {}
    // What nobody has looked at by now, nobody will.
    ~HostCheck() override;

    void hostAccess(const Access& access) override;
    void hostCopies(uintptr_t to, uintptr_t from, size_t bytes) override;
    // As Watcher::hostFault(): an access that no hook has announced, since it is in a library.
    bool fault(uintptr_t address, uintptr_t pc, bool writes);
    // A launch of the host's or of a kernel's begins; its kernel has printed.
    void kernelBegins(uint64_t work, const Grid& grid);
    void kernelPrinted(uint64_t work, const Grid& grid);
    // The host has waited for something.
    void waited();
    // As those of Watcher.
    void eventRecorded(uint64_t event);
    void elapsedTimeRead(uint64_t start, uint64_t end);
    void clockRead(uintptr_t pc);
    void copyReturns(const BytesSeen& written);
    void dies(const std::string& why, uintptr_t pc);
    void memoryAllocated(const void* base, size_t bytes, const void* variable);
    void memoryFreed(const void* base);
    void memoryRegistered(const void* base, size_t bytes);
    void freeRefused(const void* pointer);
    void transferRuns(const BytesSeen* read, const BytesSeen& written);
    void unwrittenCopied(const void* memory, size_t bytes);
    void copiedToHost(const void* to, const void* from, size_t bytes,
                      const std::vector<uint8_t>& unwritten);
    void pointerStored(void** where);

    // A call has failed, `what` says how, `why` may say why; and somebody has asked for the last
    // error.
    void refused(const std::string& what, const std::string& why);
    void errorRead();

    // Of a place in the host's code. The first time it is passed on at once.
    void add(Finding finding, uintptr_t pc);

  private:
    // What the host has allocated, and where; where it was freed: 0 while it was not. Its times are
    // numbers of allocations: that of the last use but by kernels, and of the second next
    // allocation of the same place, with the number of the work then; 0 while there is none.
    struct Allocated {
        size_t bytes;
        uintptr_t place, freed;
        const void* variable;  // that got the pointer
        uint64_t used, later = 0, laterWork = 0;
        bool overwritten = false;  // the next one's pointer has replaced this one's
    };

    // The kernel that began last.
    struct LastKernel {
        uint64_t work = 0;
        const char* name = nullptr;
        const void* id = nullptr;
    };

    // A thread's last reading of a clock, and which kernel had begun last.
    struct Timing {
        uintptr_t pc = 0;
        uint64_t kernel = 0;
        std::vector<Finding> wrong;  // one, until it is clear what the program measures
        bool hasWaited = false;      // since, or since a kernel has begun
    };

    // A kernel has printed, and the call that launched it: its last launch there.
    using Printer = std::pair<std::string, uintptr_t>;

    // An asynchronous copy that has returned when it was done, and nothing else has been waited
    // for.
    struct ReturnedCopy {
        BytesSeen written;
        uintptr_t place;
    };

    // Why a call that frees was refused.
    struct WrongFree {
        std::vector<Act> acts;
        std::string where;
    };

    void touchesDeviceMemory(const GuardedAllocation& allocation, uintptr_t address, uint32_t size,
                             bool writes, uintptr_t pc);
    void touchesSharedMemory(const Access& access, const std::string& name);
    void usesManaged(const GuardedAllocation& allocation, const Access& access);
    void usesUnwritten(const Access& access);
    void findStreamRace(const BytesSeen& bytes, AccessKind kind, const TransferWork& transfer,
                        const Work& work);
    void endTiming();
    void touchesCopied(const Access& access);
    void isUsed(uintptr_t address);
    bool isDead(uintptr_t base, const Allocated& allocated);
    void findLeaks();
    void touchesVariable(const Access& access);

    Findings& findings_;
    GlobalShadow& shadow_;
    StreamOrder& order_;
    HostAddresses& addresses_;

    UnwrittenCopies unwritten_;
    std::mutex mutex_;
    std::map<std::thread::id, std::vector<Finding>> unread_;  // errors, by whose last one it is
    std::map<uintptr_t, Allocated> allocated_;                // by its address
    std::map<uintptr_t, std::pair<uintptr_t, uintptr_t>> lastAt_;  // the last two, by the place
    std::atomic<uint64_t> allocations_{0};
    std::map<Printer, uint64_t> printed_;     // the work
    std::map<uint64_t, uintptr_t> recorded_;  // where, by the event
    std::vector<ReturnedCopy> returned_;
    LastKernel lastKernel_;
    std::map<std::thread::id, Timing> timings_;
    std::map<std::thread::id, WrongFree> wrongFrees_;        // the last one of each thread
    std::map<std::pair<Hazard, uintptr_t>, Finding> again_;  // by the place: found, and how often
};

}  // namespace emu
