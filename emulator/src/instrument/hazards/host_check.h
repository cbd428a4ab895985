// What the hazard check looks for in host code: memory that it may not touch, or not yet, and
// errors that nobody looks at.
#pragma once

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
#include "instrument/record/recorder.h"

namespace emu {

// The calling OS thread runs a host function in stream order: kernels before it have ended.
extern thread_local bool inStreamOrder;

// Thread-safe.
class HostCheck : public HostRecorder {
  public:
    HostCheck(Findings& findings, GlobalShadow& shadow, StreamOrder& order)
        : findings_(findings), shadow_(shadow), order_(order) {}
    // What nobody has looked at by now, nobody will.
    ~HostCheck() override;

    void hostAccess(const Access& access) override;
    // As Watcher::hostFault(): an access that no hook has announced, since it is in a library.
    bool fault(uintptr_t address, uintptr_t pc, bool writes);
    // As those of Watcher.
    void memoryAllocated(const void* base, size_t bytes);
    void memoryFreed(const void* base);
    void memoryRegistered(const void* base, size_t bytes);
    void freeRefused(const void* pointer);
    void transferRuns(const BytesSeen* read, const BytesSeen& written);
    void unwrittenCopied(const void* memory, size_t bytes);
    void partlyUnwrittenCopied();

    // A call has failed, `what` says how, `why` may say why; and somebody has asked for the last
    // error.
    void refused(const std::string& what, const std::string& why);
    void errorRead();

  private:
    // What the host has allocated, and where; where it was freed: 0 while it was not.
    struct Allocated {
        size_t bytes;
        uintptr_t place, freed;
    };

    // Why a call that frees was refused.
    struct WrongFree {
        std::vector<Act> acts;
        std::string where;
    };

    void touchesDeviceMemory(const GuardedAllocation& allocation, uintptr_t address, uint32_t size,
                             bool writes, uintptr_t pc);
    void touchesSharedMemory(const Access& access, const std::string& name);
    void findStreamRace(const BytesSeen& bytes, AccessKind kind, const TransferWork& transfer,
                        const Work& work);
    void add(Finding finding, uintptr_t pc);

    Findings& findings_;
    GlobalShadow& shadow_;
    StreamOrder& order_;

    std::mutex mutex_;
    std::map<std::thread::id, std::vector<Finding>> unread_;  // errors, by whose last one it is
    std::map<uintptr_t, Allocated> allocated_;                // by its address
    std::map<std::thread::id, WrongFree> wrongFrees_;         // the last one of each thread
    std::map<std::pair<Hazard, uintptr_t>, Finding> again_;   // by the place: found, and how often
};

}  // namespace emu
