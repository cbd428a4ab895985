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
#include "host_allocations.h"
#include "host_times.h"
#include "instrument/record/recorder.h"
#include "unwritten_copies.h"

namespace emu {

// The calling OS thread runs a host function in stream order: kernels before it have ended.
extern thread_local bool inStreamOrder;

// Thread-safe.
class HostCheck : public HostRecorder {
  public:
    HostCheck(Findings& findings, GlobalShadow& shadow, StreamOrder& order,
              HostAddresses& addresses)
        : allocations(shadow, order),
          times(order,
                [this](Finding finding, uintptr_t place) { add(std::move(finding), place); }),
          findings_(findings),
          shadow_(shadow),
          order_(order),
          addresses_(addresses) {}
    // What nobody has looked at by now, nobody will.
    ~HostCheck() override;

    void hostAccess(const Access& access) override;
    void hostCopies(uintptr_t to, uintptr_t from, size_t bytes) override;
    // As Watcher::hostFault(): an access that no hook has announced, since it is in a library.
    bool fault(uintptr_t address, uintptr_t pc, bool writes);
    // A kernel that the host has launched has printed.
    void kernelPrinted(uint64_t work, const Grid& grid);
    // The host has waited for something.
    void waited();
    // As those of Watcher.
    void copyReturns(const BytesSeen& written);
    void dies(const std::string& why, uintptr_t pc);
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

    HostAllocations allocations;
    HostTimes times;

  private:
    // A kernel has printed, and the call that launched it: its last launch there.
    using Printer = std::pair<std::string, uintptr_t>;

    // An asynchronous copy that has returned when it was done, and nothing else has been waited
    // for.
    struct ReturnedCopy {
        BytesSeen written;
        uintptr_t place;
    };

    void touchesDeviceMemory(const GuardedAllocation& allocation, uintptr_t address, uint32_t size,
                             bool writes, uintptr_t pc);
    void touchesSharedMemory(const Access& access, const std::string& name);
    void usesManaged(const GuardedAllocation& allocation, const Access& access);
    void usesUnwritten(const Access& access);
    void findStreamRace(const BytesSeen& bytes, AccessKind kind, const TransferWork& transfer,
                        const Work& work);
    void touchesCopied(const Access& access);
    void touchesVariable(const Access& access);

    Findings& findings_;
    GlobalShadow& shadow_;
    StreamOrder& order_;
    HostAddresses& addresses_;

    UnwrittenCopies unwritten_;
    std::mutex mutex_;
    std::map<std::thread::id, std::vector<Finding>> unread_;  // errors, by whose last one it is
    std::map<Printer, uint64_t> printed_;                     // the work
    std::vector<ReturnedCopy> returned_;
    std::map<std::thread::id, WrongFree> wrongFrees_;        // the last one of each thread
    std::map<std::pair<Hazard, uintptr_t>, Finding> again_;  // by the place: found, and how often
};

}  // namespace emu
