// Warp-level functions: shuffles, votes, match, reduce, __syncwarp, __activemask.
//
// Each is a rendezvous of the lanes named in its mask: a lane deposits its value and waits; the
// last one to arrive computes every lane's result. Lanes that have ended are not waited for.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "emu/engine.h"

namespace emu {

constexpr unsigned kFullMask = 0xffffffffu;

// What one lane brings to a collective and takes away from it.
struct LaneSlot {
    uint64_t value;
    uint64_t result;
    int argument;
};

// Computes `result` of every lane in `group` (a bit per lane) from the slots of these lanes.
using Resolve = void (*)(LaneSlot* slots, unsigned group);

// Waits for the lanes in `mask`; all of them must bring the same `resolve`. `what` names the call
// in error messages.
LaneSlot collective(unsigned mask, Resolve resolve, uint64_t value, int argument, const char* what,
                    const char* file, int line);

// Lanes of the calling warp that are at the same call together.
unsigned activeMask(const char* file, int line);

inline unsigned laneId() {
    return threadRankInBlock() % kWarpSize;
}

// Visits the lanes of `group` in ascending order.
template <class F>
void forEachLane(unsigned group, F f) {
    for (unsigned rest = group; rest != 0; rest &= rest - 1) f(__builtin_ctz(rest));
}

template <class T>
uint64_t toBits(T value) {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable<T>::value,
                  "warp functions take values of up to 8 bytes");
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
}

template <class T>
T fromBits(uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}

// Shuffles are resolved alike, and so are votes and matches. But lanes must not meet in different
// ones: each has a function of its own, by which collective() tells them apart.
enum class Shuffle { Index, Up, Down, Xor };
enum class Vote { Ballot, Any, All };
enum class Match { Any, All };

// Every lane takes the value of the lane in `argument`. A lane outside the group has nothing to
// give (undefined on a GPU): the reader keeps its own value.
template <Shuffle>
void resolveShuffle(LaneSlot* slots, unsigned group) {
    forEachLane(group, [&](int lane) {
        const int source = slots[lane].argument;
        slots[lane].result = slots[(group >> source & 1) ? source : lane].value;
    });
}

template <Shuffle kind, class T>
T shuffle(unsigned mask, T value, int sourceLane, const char* what, const char* file, int line) {
    static_assert(std::is_arithmetic<T>::value, "shuffles take the built-in arithmetic types");
    return fromBits<T>(
        collective(mask, &resolveShuffle<kind>, toBits(value), sourceLane, what, file, line)
            .result);
}

template <Vote>
void resolveBallot(LaneSlot* slots, unsigned group) {
    unsigned ballot = 0;
    forEachLane(group, [&](int lane) { ballot |= (slots[lane].value != 0 ? 1u : 0u) << lane; });
    forEachLane(group, [&](int lane) {
        slots[lane].result = ballot;
        slots[lane].argument = static_cast<int>(group);
    });
}

template <Match>
void resolveMatch(LaneSlot* slots, unsigned group) {
    forEachLane(group, [&](int lane) {
        unsigned same = 0;
        forEachLane(group, [&](int other) {
            same |= (slots[other].value == slots[lane].value ? 1u : 0u) << other;
        });
        slots[lane].result = same;
        slots[lane].argument = static_cast<int>(group);
    });
}

inline void resolveSync(LaneSlot*, unsigned) {}

template <class T, class Op>
void resolveReduce(LaneSlot* slots, unsigned group) {
    T total = fromBits<T>(slots[__builtin_ctz(group)].value);
    forEachLane(group & (group - 1),
                [&](int lane) { total = Op::apply(total, fromBits<T>(slots[lane].value)); });
    forEachLane(group, [&](int lane) { slots[lane].result = toBits(total); });
}

struct Add {
    template <class T>
    static T apply(T a, T b) {
        using Unsigned = std::make_unsigned_t<T>;  // wraps around as on a GPU
        return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
    }
};
struct Min {
    template <class T>
    static T apply(T a, T b) {
        return b < a ? b : a;
    }
};
struct Max {
    template <class T>
    static T apply(T a, T b) {
        return a < b ? b : a;
    }
};
struct And {
    static unsigned apply(unsigned a, unsigned b) { return a & b; }
};
struct Or {
    static unsigned apply(unsigned a, unsigned b) { return a | b; }
};
struct Xor {
    static unsigned apply(unsigned a, unsigned b) { return a ^ b; }
};

template <class Op, class T>
T reduce(unsigned mask, T value, const char* what, const char* file, int line) {
    return fromBits<T>(
        collective(mask, &resolveReduce<T, Op>, toBits(value), 0, what, file, line).result);
}

}  // namespace emu

// Source lanes as the CUDA C++ Programming Guide defines them ("Warp Shuffle Functions"): the warp
// is split into segments of `width` lanes; a source outside the own segment leaves the value as it
// is.
template <class T>
T __shfl_sync(unsigned mask, T value, int sourceLane, int width = warpSize,
              const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    const int lane = static_cast<int>(emu::laneId());
    const int source = (lane & ~(width - 1)) + (sourceLane & (width - 1));
    return emu::shuffle<emu::Shuffle::Index>(mask, value, source, "__shfl_sync()", file, line);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                 const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    const int lane = static_cast<int>(emu::laneId());
    const bool inside = delta <= static_cast<unsigned>(lane & (width - 1));
    return emu::shuffle<emu::Shuffle::Up>(mask, value,
                                          inside ? lane - static_cast<int>(delta) : lane,
                                          "__shfl_up_sync()", file, line);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                   const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    const int lane = static_cast<int>(emu::laneId());
    const bool inside = delta < static_cast<unsigned>(width - (lane & (width - 1)));
    return emu::shuffle<emu::Shuffle::Down>(mask, value,
                                            inside ? lane + static_cast<int>(delta) : lane,
                                            "__shfl_down_sync()", file, line);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int laneMask, int width = warpSize,
                  const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    const int lane = static_cast<int>(emu::laneId());
    const int source = (lane ^ laneMask) & (warpSize - 1);
    const int segmentEnd = (lane & ~(width - 1)) + width;
    return emu::shuffle<emu::Shuffle::Xor>(mask, value, source < segmentEnd ? source : lane,
                                           "__shfl_xor_sync()", file, line);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, const char* file = __builtin_FILE(),
                              int line = __builtin_LINE()) {
    const auto slot = emu::collective(mask, &emu::resolveBallot<emu::Vote::Ballot>, predicate != 0,
                                      0, "__ballot_sync()", file, line);
    return static_cast<unsigned>(slot.result);
}
inline int __any_sync(unsigned mask, int predicate, const char* file = __builtin_FILE(),
                      int line = __builtin_LINE()) {
    return emu::collective(mask, &emu::resolveBallot<emu::Vote::Any>, predicate != 0, 0,
                           "__any_sync()", file, line)
               .result != 0;
}
inline int __all_sync(unsigned mask, int predicate, const char* file = __builtin_FILE(),
                      int line = __builtin_LINE()) {
    const auto slot = emu::collective(mask, &emu::resolveBallot<emu::Vote::All>, predicate != 0, 0,
                                      "__all_sync()", file, line);
    return static_cast<unsigned>(slot.result) == static_cast<unsigned>(slot.argument);
}

template <class T>
unsigned __match_any_sync(unsigned mask, T value, const char* file = __builtin_FILE(),
                          int line = __builtin_LINE()) {
    const auto slot = emu::collective(mask, &emu::resolveMatch<emu::Match::Any>, emu::toBits(value),
                                      0, "__match_any_sync()", file, line);
    return static_cast<unsigned>(slot.result);
}
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* predicate,
                          const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    const auto slot = emu::collective(mask, &emu::resolveMatch<emu::Match::All>, emu::toBits(value),
                                      0, "__match_all_sync()", file, line);
    const unsigned same = static_cast<unsigned>(slot.result);
    *predicate = same == static_cast<unsigned>(slot.argument);
    return *predicate ? same : 0;
}

inline unsigned __reduce_add_sync(unsigned mask, unsigned value,
                                  const char* file = __builtin_FILE(),
                                  int line = __builtin_LINE()) {
    return emu::reduce<emu::Add>(mask, value, "__reduce_add_sync()", file, line);
}
inline int __reduce_add_sync(unsigned mask, int value, const char* file = __builtin_FILE(),
                             int line = __builtin_LINE()) {
    return emu::reduce<emu::Add>(mask, value, "__reduce_add_sync()", file, line);
}
inline unsigned __reduce_min_sync(unsigned mask, unsigned value,
                                  const char* file = __builtin_FILE(),
                                  int line = __builtin_LINE()) {
    return emu::reduce<emu::Min>(mask, value, "__reduce_min_sync()", file, line);
}
inline int __reduce_min_sync(unsigned mask, int value, const char* file = __builtin_FILE(),
                             int line = __builtin_LINE()) {
    return emu::reduce<emu::Min>(mask, value, "__reduce_min_sync()", file, line);
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned value,
                                  const char* file = __builtin_FILE(),
                                  int line = __builtin_LINE()) {
    return emu::reduce<emu::Max>(mask, value, "__reduce_max_sync()", file, line);
}
inline int __reduce_max_sync(unsigned mask, int value, const char* file = __builtin_FILE(),
                             int line = __builtin_LINE()) {
    return emu::reduce<emu::Max>(mask, value, "__reduce_max_sync()", file, line);
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned value,
                                  const char* file = __builtin_FILE(),
                                  int line = __builtin_LINE()) {
    return emu::reduce<emu::And>(mask, value, "__reduce_and_sync()", file, line);
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value, const char* file = __builtin_FILE(),
                                 int line = __builtin_LINE()) {
    return emu::reduce<emu::Or>(mask, value, "__reduce_or_sync()", file, line);
}
inline unsigned __reduce_xor_sync(unsigned mask, unsigned value,
                                  const char* file = __builtin_FILE(),
                                  int line = __builtin_LINE()) {
    return emu::reduce<emu::Xor>(mask, value, "__reduce_xor_sync()", file, line);
}

inline void __syncwarp(unsigned mask = emu::kFullMask, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE()) {
    emu::collective(mask, &emu::resolveSync, 0, 0, "__syncwarp()", file, line);
}

inline unsigned __activemask(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return emu::activeMask(file, line);
}
