// The memory that the host allocates and frees: what leaks, and what a call that frees is given.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "findings.h"
#include "global_shadow.h"
#include "instrument/record/stream_order.h"

namespace emu {

// Why a call that frees was refused.
struct WrongFree {
    std::vector<Act> acts;
    std::string where;
};

// Thread-safe.
class HostAllocations {
  public:
    HostAllocations(GlobalShadow& shadow, StreamOrder& order) : shadow_(shadow), order_(order) {}

    // As memoryAllocated() and memoryFreed() of Watcher.
    void allocated(const void* base, size_t bytes, const void* variable);
    void freed(const void* base);
    // The host, or a copy, uses what is there.
    void used(uintptr_t address);

    // What a call that frees is given, which is nothing to free.
    WrongFree wrongFree(const void* pointer);
    // At the program's end.
    std::vector<Finding> leaks() const;

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

    bool isDead(uintptr_t base, const Allocated& allocated) const;

    GlobalShadow& shadow_;
    StreamOrder& order_;
    std::mutex mutex_;
    std::map<uintptr_t, Allocated> allocated_;                     // by its address
    std::map<uintptr_t, std::pair<uintptr_t, uintptr_t>> lastAt_;  // the last two, by the place
    std::atomic<uint64_t> allocations_{0};
};

}  // namespace emu
