// Lines up what the lanes of a warp did one after the other, as if they had run together.
//
// Each lane's trace is a list of events: basic blocks, calls, accesses to memory. Of the lanes'
// next events the one that comes first in the program is carried out, by all lanes that are there:
// lanes that are ahead wait for those behind, in the callee before the caller. So lanes that went
// different ways meet again where the ways join, as on a GPU, since compilers lay out blocks that
// way: what is left behind lies before what comes next, except for loops, whose bodies lie before
// what follows them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "access_pattern.h"
#include "counts.h"
#include "event_kind.h"
#include "line_counts.h"

namespace emu {

struct Event {
    Event() = default;
    // For emplace_back(). An Event that is first put together elsewhere is then copied with one
    // load of 16 bytes, which waits for the stores of its members.
    Event(uintptr_t address, uint32_t place, EventKind kind, uint8_t size)
        : address(address), place(place), kind(kind), size(size) {}

    uintptr_t address;  // of an access; of Division: whether the sign is negative; of BasicBlock:
                        // whether it is the end of a function that the lane has left
    uint32_t place;     // offset of the code in the program; of Enter: the call's
    EventKind kind;
    uint8_t size;  // bytes of an access
};

class WarpReplay {
  public:
    // Forgets everything: the warp `number` of another block follows. All lanes have not begun.
    // `lines`, if it is not null, is told of each access.
    void reset(unsigned number, LineCounts* lines);

    // The lane's events that are not carried out yet. New ones are added at the end.
    std::vector<Event>& traceOf(unsigned lane) { return lanes_[lane].events; }

    // Carries out what has been recorded, as far as possible: a lane of `running` may still add
    // events, so nobody goes past the end of its trace.
    void replay(uint32_t running, LaunchCounts& counts);

  private:
    static constexpr unsigned kLanes = 32;
    static constexpr uint32_t kNone = UINT32_MAX;

    // One execution of a basic block, until all its lanes have gone on.
    struct Execution {
        uint32_t basicBlock;
        uint32_t
            code;  // the block whose code goes on: that of the caller, where a function has ended
        unsigned open;  // lanes that have not gone on yet
        unsigned lanes;
        unsigned ways;  // different ones
        std::array<uint32_t, kLanes> successors;
    };
    // A function that the lane is in. `execution` and `stack` are the lane's at the call, to which
    // it returns when the function ends.
    struct Frame {
        uint32_t call;  // where the function was called
        uint32_t execution;
        uint64_t stack;
    };
    struct Lane {
        std::vector<Event> events;
        size_t next = 0;
        std::vector<Frame> frames;
        uint64_t stack = 0;          // hash of the calls in `frames`
        uint32_t execution = kNone;  // of the lane's basic block; kNone before the first
        uint32_t left = kNone;       // where the function was called that it left last
        Event copyTo{};              // the last such event

        bool atEnd() const { return next == events.size(); }
        const Event& event() const { return events[next]; }
        bool returns() const {
            return event().kind == EventKind::BasicBlock && event().address != 0;
        }
    };

    static uint32_t placeOf(const Lane& lane);
    bool together(const Lane& a, const Lane& b) const;
    bool before(const Lane& a, const Lane& b) const;
    void carryOut(uint32_t group, LaunchCounts& counts);
    void beginBasicBlock(uint32_t group, const Event& event, LaunchCounts& counts);
    bool inOneExecution(uint32_t group) const;
    void goOn(uint32_t number, uint32_t successor, LaunchCounts& counts);
    static void count(const Execution& execution, LaunchCounts& counts);
    void division(uint32_t group, LaunchCounts& counts);
    void barrier(uint32_t group, LaunchCounts& counts);
    void copy(uint32_t group, CopyCounts& counts);
    void access(uint32_t group, const Event& event, AccessCounts& counts, bool shared);
    void constantLoad(uint32_t group, const Event& event);
    WarpAccess accessOf(uint32_t group, const Event& event) const;
    LineCounts::Where whereOf(const Lane& lane) const;

    std::array<Lane, kLanes> lanes_;
    std::vector<Execution> executions_;
    std::vector<uint32_t> freeExecutions_;
    unsigned number_ = 0;  // of the warp in its block
    LineCounts* lines_ = nullptr;
};

}  // namespace emu
