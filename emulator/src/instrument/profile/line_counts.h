// What the profiler counts for each place in the program, for who asks where a kernel's costs come
// from: every access by itself, with the calls that led to it, and the first steps of some warps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "access_pattern.h"
#include "event_kind.h"

namespace emu {

constexpr int64_t kIrregular = INT64_MIN;  // a stride: the lanes' addresses have none

// One access of the program, over all warps.
struct LineAccess {
    uint32_t place = 0;           // offset of the code in the program
    std::vector<uint32_t> calls;  // of the functions that it is in, the innermost last
    EventKind kind = EventKind::GlobalLoad;
    uint8_t size = 0;       // bytes of a lane
    uint64_t requests = 0;  // by warps; of Barrier: arrivals
    uint64_t lanes = 0;     // active in these
    uint64_t bytes = 0;     // that the lanes of a request asked for, each counted once
    uint64_t units = 0;     // sectors of global memory, wavefronts of shared memory, or words
    uint64_t least = 0;     // units that the same bytes would take at best
    // Of shared memory; the latter of copies. Of Division, `conflicts` are those that split a warp.
    uint64_t conflicts = 0, wavefronts = 0;
    uint64_t alike = 0;  // lanes of a request's largest group with one address
    std::vector<std::pair<int64_t, uint64_t>> strides;  // from lane to lane [bytes], and requests
    std::vector<uintptr_t> addresses;                   // of atomics, different ones
    bool hasMoreAddresses = false;                      // than are kept
    // In the blocks that are looked at closely: accesses of lanes; different addresses, of each
    // block by itself; and accesses to where the same lane was the time before.
    uint64_t closeLanes = 0, closeAddresses = 0, repeats = 0;

    void add(const LineAccess& other);
};

// An array that a sampled access goes to.
struct LineMemory {
    std::string name;  // of a variable; empty for allocations
    bool shared;
    uintptr_t begin;  // of a __shared__ variable: within those of the program
    size_t size;
    unsigned shift;  // bytes that a __shared__ variable begins behind bank 0
};

// What a warp did next. `access` and `memory` are numbers in a LineCounts; kNone: it came to a
// basic block.
struct LineStep {
    static constexpr uint32_t kNone = UINT32_MAX;
    uint32_t lanes;
    uint32_t place;
    uint32_t access = kNone, memory = kNone;
    std::vector<int64_t> offsets = {};  // in the memory, of the active lanes
};

struct LineSample {
    std::array<uint32_t, 3> block;
    unsigned warp;
    std::vector<LineStep> steps;
};

// Of what the blocks on one OS thread did, then of a launch.
class LineCounts {
  public:
    // A block begins. `close`: it is looked at closely.
    void blockBegins(const std::array<uint32_t, 3>& block, unsigned warps, bool close);
    void blockEnds();

    // The lanes in `lanes` of a warp come to a basic block.
    void basicBlock(unsigned warp, uint32_t lanes, uint32_t place);

    // Where an access is: `stack` stands for the calls, of which frames tell when they are new.
    struct Where {
        uint32_t place;
        uint64_t stack;
        EventKind kind;
        unsigned warp;
    };
    template <class Frames>
    void access(const Where& where, const WarpAccess& access, const SharedCost& cost,
                const Frames& frames) {
        const uint32_t number = numberOf(where, static_cast<uint8_t>(access.size), frames);
        count(number, where, access, cost);
    }
    template <class Frames>
    void copy(const Where& where, const WarpCopy& copy, const CopyCost& cost,
              const Frames& frames) {
        count(accesses_[numberOf(where, static_cast<uint8_t>(copy.size), frames)], copy, cost);
    }
    template <class Frames>
    void event(const Where& where, bool split, const Frames& frames) {
        LineAccess& found = accesses_[numberOf(where, 0, frames)];
        ++found.requests;
        found.conflicts += split;
    }

    void add(const LineCounts& other);
    void forgetCloseLook();

    const std::vector<LineAccess>& accesses() const { return accesses_; }
    const std::vector<LineMemory>& memories() const { return memories_; }
    const std::vector<LineSample>& samples() const { return samples_; }

  private:
    struct Key {
        uint64_t stack;
        uint32_t place;
        EventKind kind;
        uint8_t size;
        bool operator==(const Key& other) const {
            return stack == other.stack && place == other.place && kind == other.kind &&
                   size == other.size;
        }
    };
    struct Hash {
        size_t operator()(const Key& key) const {
            const uint64_t text = key.stack ^ (uint64_t{key.place} << 16) ^
                                  (uint64_t{key.size} << 8) ^ static_cast<uint64_t>(key.kind);
            return text * 0x9e3779b97f4a7c15u >> 8;
        }
    };
    // What is known of an access within the block that is looked at closely.
    struct Close {
        std::unordered_set<uintptr_t> addresses;
        std::unordered_map<unsigned, std::array<uintptr_t, 32>> last;  // by warp
    };

    template <class Frames>
    uint32_t numberOf(const Where& where, uint8_t size, const Frames& frames) {
        const Key key{where.stack, where.place, where.kind, size};
        const auto [found, isNew] =
            numbers_.try_emplace(key, static_cast<uint32_t>(accesses_.size()));
        if (isNew) {
            LineAccess access;
            access.place = where.place;
            access.kind = where.kind;
            access.size = size;
            for (size_t i = 1; i < frames.size(); ++i) access.calls.push_back(frames[i].call);
            accesses_.push_back(std::move(access));
        }
        return found->second;
    }
    void count(uint32_t number, const Where& where, const WarpAccess& access,
               const SharedCost& cost);
    static void count(LineAccess& to, const WarpCopy& copy, const CopyCost& cost);
    void lookClosely(uint32_t number, const Where& where, const WarpAccess& access);
    void sample(uint32_t number, const Where& where, const WarpAccess& access);
    LineSample* sampleOf(unsigned warp);
    uint32_t memoryAt(uintptr_t address, bool shared);

    std::vector<LineAccess> accesses_;
    std::vector<LineMemory> memories_;
    std::vector<LineSample> samples_;
    std::unordered_map<Key, uint32_t, Hash> numbers_;
    // Of the block that is looked at closely:
    bool close_ = false;
    unsigned warps_ = 0;
    std::vector<Close> closely_;                    // by access
    std::unordered_map<unsigned, size_t> sampled_;  // by warp
    std::unordered_map<uint64_t, unsigned> times_;  // by warp and access
};

}  // namespace emu
