#include "warp_replay.h"

#include <algorithm>
#include <utility>

namespace emu {
namespace {

template <class Function>
void forEachLane(uint32_t lanes, Function function) {
    for (; lanes != 0; lanes &= lanes - 1) function(static_cast<unsigned>(__builtin_ctz(lanes)));
}

// Lanes have gone on from the block to `successor` in so many executions.
void addWay(BasicBlockCounts& block, uint32_t successor, uint64_t times) {
    const auto known = std::find_if(block.successors.begin(), block.successors.end(),
                                    [=](const auto& way) { return way.first == successor; });
    if (known != block.successors.end()) {
        known->second += times;
    } else {
        block.successors.emplace_back(successor, times);
    }
}

uint64_t hashOfCall(uint64_t stack, uint32_t call) {
    return (stack ^ call) * 0x9e3779b97f4a7c15u + 1;
}

}  // namespace

void WarpReplay::reset(unsigned number, LineCounts* lines) {
    number_ = number;
    lines_ = lines;
    for (Lane& lane : lanes_) {
        lane.events.clear();
        lane.next = 0;
        lane.frames.clear();
        lane.stack = 0;
        lane.execution = kNone;
        lane.left = kNone;
    }
    executions_.clear();
    freeExecutions_.clear();
}

// Of the lane's next event. The end of a function lies behind all of it. What is behind that is in
// the caller's frame already: it is where the call is, wherever the function's code may be.
uint32_t WarpReplay::placeOf(const Lane& lane) {
    if (lane.event().kind == EventKind::Leave) return UINT32_MAX;
    return lane.returns() ? lane.left : lane.event().place;
}

// The lanes' next events are the same.
bool WarpReplay::together(const Lane& a, const Lane& b) const {
    return a.event().place == b.event().place && a.event().kind == b.event().kind &&
           a.stack == b.stack;
}

// The program's order of the lanes' next events.
bool WarpReplay::before(const Lane& a, const Lane& b) const {
    const size_t depth = std::min(a.frames.size(), b.frames.size());
    for (size_t i = 0; i < depth; ++i) {
        if (a.frames[i].call != b.frames[i].call) return a.frames[i].call < b.frames[i].call;
    }
    const uint32_t placeA = a.frames.size() > depth ? a.frames[depth].call : placeOf(a);
    const uint32_t placeB = b.frames.size() > depth ? b.frames[depth].call : placeOf(b);
    if (placeA != placeB) return placeA < placeB;
    if (a.returns() != b.returns()) return b.returns();  // the others have still to come there
    return a.frames.size() < b.frames.size();  // it is about to enter where the other one is
}

void WarpReplay::replay(uint32_t running, LaunchCounts& counts) {
    for (;;) {
        uint32_t waiting = 0;
        bool stuck = false;
        for (unsigned i = 0; i < kLanes; ++i) {
            if (!lanes_[i].atEnd()) {
                waiting |= 1u << i;
            } else if (running >> i & 1) {
                stuck = true;
            }
        }
        if (waiting == 0 || stuck) break;

        unsigned leader = static_cast<unsigned>(__builtin_ctz(waiting));
        forEachLane(waiting, [&](unsigned i) {
            if (before(lanes_[i], lanes_[leader])) leader = i;
        });
        uint32_t group = 0;
        forEachLane(waiting, [&](unsigned i) {
            if (together(lanes_[i], lanes_[leader])) group |= 1u << i;
        });
        const uint32_t others = waiting & ~group;
        unsigned nextOfOthers = kLanes;
        forEachLane(others, [&](unsigned i) {
            if (nextOfOthers == kLanes || before(lanes_[i], lanes_[nextOfOthers])) nextOfOthers = i;
        });

        // The group goes on until it splits or comes to where others wait.
        const Lane& first = lanes_[leader];
        for (bool goesOn = true; goesOn;) {
            carryOut(group, counts);
            goesOn = !first.atEnd();
            forEachLane(group, [&](unsigned i) {
                goesOn = goesOn && !lanes_[i].atEnd() && together(lanes_[i], first);
            });
            if (goesOn && others != 0) goesOn = before(first, lanes_[nextOfOthers]);
        }
    }
    for (Lane& lane : lanes_) {
        lane.events.erase(lane.events.begin(),
                          lane.events.begin() + static_cast<std::ptrdiff_t>(lane.next));
        lane.next = 0;
    }
}

void WarpReplay::carryOut(uint32_t group, LaunchCounts& counts) {
    const Event event = lanes_[__builtin_ctz(group)].event();
    switch (event.kind) {
        case EventKind::BasicBlock:
            beginBasicBlock(group, event, counts);
            break;
        case EventKind::Enter:
            forEachLane(group, [&](unsigned i) {
                Lane& lane = lanes_[i];
                lane.frames.push_back({event.place, lane.execution, lane.stack});
                lane.stack = hashOfCall(lane.stack, event.place);
                lane.execution = kNone;
            });
            break;
        case EventKind::Leave:
            forEachLane(group, [&](unsigned i) {
                Lane& lane = lanes_[i];
                if (lane.frames.empty()) return;
                goOn(lane.execution, 0, counts);
                lane.left = lane.frames.back().call;
                lane.execution = lane.frames.back().execution;
                lane.stack = lane.frames.back().stack;
                lane.frames.pop_back();
            });
            break;
        case EventKind::LoopStep:
            ++counts.loopSteps;
            break;
        case EventKind::Division:
            division(group, counts);
            break;
        case EventKind::Barrier:
            barrier(group, counts);
            break;
        case EventKind::GlobalLoad:
            access(group, event, counts.globalLoads, false);
            break;
        case EventKind::GlobalStore:
            access(group, event, counts.globalStores, false);
            break;
        case EventKind::GlobalAtomic:
            access(group, event, counts.globalAtomics, false);
            break;
        case EventKind::SharedLoad:
            access(group, event, counts.sharedLoads, true);
            break;
        case EventKind::SharedStore:
            access(group, event, counts.sharedStores, true);
            break;
        case EventKind::SharedAtomic:
            access(group, event, counts.sharedAtomics, true);
            break;
        case EventKind::ConstantLoad:
            constantLoad(group, event);
            break;
        case EventKind::CopyTo:
            forEachLane(group, [&](unsigned i) { lanes_[i].copyTo = lanes_[i].event(); });
            break;
        case EventKind::CopyFrom:
            copy(group, counts.copies);
            break;
        case EventKind::TextureRead:
            ++counts.textureReads;
            break;
        case EventKind::SurfaceRead:
            ++counts.surfaceReads;
            break;
        case EventKind::SurfaceWrite:
            ++counts.surfaceWrites;
            break;
    }
    forEachLane(group, [&](unsigned i) { ++lanes_[i].next; });
}

void WarpReplay::beginBasicBlock(uint32_t group, const Event& event, LaunchCounts& counts) {
    const uint32_t block = event.place;
    const uint32_t before = lanes_[__builtin_ctz(group)].execution;
    const bool returned = event.address != 0 && before != kNone;
    const uint32_t code = returned ? executions_[before].code : block;
    if (lines_ != nullptr) lines_->basicBlock(number_, group, block);
    const auto lanes = static_cast<unsigned>(__builtin_popcount(group));
    if (inOneExecution(group)) {  // It ends here. Its record serves for the new block.
        Execution& execution = executions_[lanes_[__builtin_ctz(group)].execution];
        execution.successors[execution.ways++] = block;
        count(execution, counts);
        execution.basicBlock = block;
        execution.code = code;
        execution.ways = 0;
        return;
    }
    uint32_t number;
    if (freeExecutions_.empty()) {
        number = static_cast<uint32_t>(executions_.size());
        executions_.emplace_back();
    } else {
        number = freeExecutions_.back();
        freeExecutions_.pop_back();
    }
    Execution& begun = executions_[number];
    begun.basicBlock = block;
    begun.code = code;
    begun.open = begun.lanes = lanes;
    begun.ways = 0;
    forEachLane(group, [&](unsigned i) {
        Lane& lane = lanes_[i];
        if (lane.frames.empty()) {  // around the kernel
            if (--executions_[number].open == 0) freeExecutions_.push_back(number);
            return;
        }
        goOn(lane.execution, block, counts);
        lane.execution = number;
    });
}

// All lanes of the group are in the same execution. No other lane is in it, and none has left it.
bool WarpReplay::inOneExecution(uint32_t group) const {
    const uint32_t number = lanes_[__builtin_ctz(group)].execution;
    if (number == kNone) return false;
    const Execution& execution = executions_[number];
    if (execution.ways != 0 || execution.open != static_cast<unsigned>(__builtin_popcount(group)))
        return false;
    bool all = true;
    forEachLane(group, [&](unsigned i) { all = all && lanes_[i].execution == number; });
    return all;
}

// A lane leaves the block that it was in.
void WarpReplay::goOn(uint32_t number, uint32_t successor, LaunchCounts& counts) {
    if (number == kNone) return;
    Execution& execution = executions_[number];
    const auto end = execution.successors.begin() + execution.ways;
    if (std::find(execution.successors.begin(), end, successor) == end) {
        execution.successors[execution.ways++] = successor;
    }
    if (--execution.open > 0) return;
    count(execution, counts);
    freeExecutions_.push_back(number);
}

// Adds an execution to the counts, once all its lanes have gone on.
void WarpReplay::count(const Execution& execution, LaunchCounts& counts) {
    BasicBlockCounts& block = counts.basicBlocks[execution.basicBlock];
    ++block.executions;
    block.lanes += execution.lanes;
    block.divergent += execution.ways - 1;
    if (execution.ways > 1) counts.basicBlocks[execution.code].splits += execution.ways - 1;
    for (unsigned i = 0; i < execution.ways; ++i) addWay(block, execution.successors[i], 1);
}

void WarpReplay::division(uint32_t group, LaunchCounts& counts) {
    unsigned negative = 0;
    forEachLane(group, [&](unsigned i) { negative += lanes_[i].event().address != 0; });
    const auto lanes = static_cast<unsigned>(__builtin_popcount(group));
    const bool splits = negative != 0 && negative != lanes;
    ++counts.divisions;
    counts.divergentDivisions += splits;
    if (lines_ != nullptr) {
        const Lane& first = lanes_[__builtin_ctz(group)];
        lines_->event(whereOf(first), splits, first.frames);
    }
}

void WarpReplay::barrier(uint32_t group, LaunchCounts& counts) {
    ++counts.barriers;
    if (lines_ != nullptr) {
        const Lane& first = lanes_[__builtin_ctz(group)];
        lines_->event(whereOf(first), false, first.frames);
    }
}

WarpAccess WarpReplay::accessOf(uint32_t group, const Event& event) const {
    WarpAccess access;
    access.lanes = group;
    access.size = event.size;
    access.store = event.kind == EventKind::SharedStore;
    unsigned count = 0;
    forEachLane(group, [&](unsigned i) { access.address[count++] = lanes_[i].event().address; });
    return access;
}

// Of the lane's next event.
LineCounts::Where WarpReplay::whereOf(const Lane& lane) const {
    return {lane.event().place, lane.stack, lane.event().kind, number_};
}

void WarpReplay::access(uint32_t group, const Event& event, AccessCounts& counts, bool shared) {
    const WarpAccess access = accessOf(group, event);
    SharedCost cost;
    ++counts.requests;
    if (shared) {
        cost = sharedCostOf(access);
        counts.bytes += cost.bytes;
        counts.wavefronts += cost.wavefronts;
        counts.conflicts += cost.conflicts;
    } else {
        counts.bytes += bytesOf(access);
        const bool isAtomic = event.kind == EventKind::GlobalAtomic;
        counts.sectors += isAtomic ? atomicSectorsOf(access) : sectorsOf(access);
    }
    if (lines_ != nullptr) {
        const Lane& first = lanes_[__builtin_ctz(group)];
        lines_->access(whereOf(first), access, cost, first.frames);
    }
}

void WarpReplay::constantLoad(uint32_t group, const Event& event) {
    const Lane& first = lanes_[__builtin_ctz(group)];
    lines_->access(whereOf(first), accessOf(group, event), {}, first.frames);
}

// Lanes that copy different numbers of bytes, or fill up different numbers, do so one after the
// other.
void WarpReplay::copy(uint32_t group, CopyCounts& counts) {
    const auto sizesOf = [&](unsigned i) {
        return std::make_pair(lanes_[i].copyTo.size, lanes_[i].event().size);
    };
    const Lane& first = lanes_[__builtin_ctz(group)];
    const LineCounts::Where where = whereOf(first);
    while (group != 0) {
        const auto sizes = sizesOf(static_cast<unsigned>(__builtin_ctz(group)));
        WarpCopy copy;
        copy.size = sizes.first;
        copy.read = sizes.second;
        unsigned count = 0;
        forEachLane(group, [&](unsigned i) {
            if (sizesOf(i) != sizes) return;
            copy.lanes |= 1u << i;
            copy.from[count] = lanes_[i].event().address;
            copy.to[count++] = lanes_[i].copyTo.address;
        });
        group &= ~copy.lanes;
        const CopyCost cost = copyCostOf(copy);
        ++counts.instructions;
        counts.requests += copy.read > 0;
        counts.requested += cost.requested;
        counts.sectors += cost.sectors;
        counts.bytes += cost.bytes;
        counts.wavefronts += cost.wavefronts;
        counts.conflicts += cost.conflicts;
        counts.sharedBytes += cost.sharedBytes;
        if (lines_ != nullptr) lines_->copy(where, copy, cost, first.frames);
    }
}

void CopyCounts::add(const CopyCounts& other) {
    instructions += other.instructions;
    requests += other.requests;
    requested += other.requested;
    sectors += other.sectors;
    bytes += other.bytes;
    wavefronts += other.wavefronts;
    conflicts += other.conflicts;
    sharedBytes += other.sharedBytes;
}

void AccessCounts::add(const AccessCounts& other) {
    requests += other.requests;
    bytes += other.bytes;
    sectors += other.sectors;
    wavefronts += other.wavefronts;
    conflicts += other.conflicts;
}

void LaunchCounts::add(const LaunchCounts& other) {
    globalLoads.add(other.globalLoads);
    globalStores.add(other.globalStores);
    globalAtomics.add(other.globalAtomics);
    sharedLoads.add(other.sharedLoads);
    sharedStores.add(other.sharedStores);
    sharedAtomics.add(other.sharedAtomics);
    copies.add(other.copies);
    textureReads += other.textureReads;
    surfaceReads += other.surfaceReads;
    surfaceWrites += other.surfaceWrites;
    barriers += other.barriers;
    bytesInFlight = std::max(bytesInFlight, other.bytesInFlight);
    loopSteps += other.loopSteps;
    divisions += other.divisions;
    divergentDivisions += other.divergentDivisions;
    for (const auto& [place, from] : other.basicBlocks) {
        BasicBlockCounts& to = basicBlocks[place];
        to.executions += from.executions;
        to.lanes += from.lanes;
        to.divergent += from.divergent;
        to.splits += from.splits;
        for (const auto& [successor, times] : from.successors) addWay(to, successor, times);
    }
}

}  // namespace emu
