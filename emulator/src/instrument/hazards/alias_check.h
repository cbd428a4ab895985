// Finds values in dynamic shared memory that are lost since two `extern __shared__` arrays of a
// kernel are one memory: written under one name, before anyone has read them overwritten under
// another name, and then read under the first.
//
// An access does not tell its name; the line of the source does, as far as it names one array. To
// use two names for one memory in turns, or to look at it as at another type, is right. So lines
// that may mean either say nothing, nor do writes of other sizes (as of a float4 and of floats).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "instrument/record/dynamic_arrays.h"
#include "instrument/record/recorder.h"

namespace emu {

// A value is read by the name `first`, but was overwritten at `pc` by the name `second`.
struct LostValue {
    const DynamicArray* first;
    const DynamicArray* second;
    uintptr_t pc;
    unsigned rank;  // of the thread that did
};

class AliasCheck {
  public:
    void beginBlock() { words_.clear(); }

    // An access at `offset` bytes of dynamic shared memory, by a line of the user's. Returns what
    // it misses.
    std::optional<LostValue> access(size_t offset, const Access& access, uintptr_t pc,
                                    unsigned rank);

  private:
    struct Line {
        std::vector<const DynamicArray*> names;  // that it has
        const DynamicArray* assigned = nullptr;  // the only one that it stores to
    };
    struct Word {
        const DynamicArray* writer = nullptr;  // the last, if the line tells
        uint32_t size = 0;                     // of its access
        bool isRead = false;                   // since
        std::optional<LostValue> lost = {};
    };

    const Line& lineOf(uintptr_t pc);

    std::unordered_map<uintptr_t, Line> lines_;
    std::unordered_map<size_t, Word> words_;  // by offset
};

}  // namespace emu
