#pragma once
// Each block records when and where it ran. The functions below compute from that which slot of its
// SM each block had.

#include <algorithm>
#include <climits>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "format.h"
#include "memory.h"
#include "span.cuh"
#include "statistics.h"

// A BlockSpan says when and where a block ran. `runs` must be 1, because each block runs once.
struct BlockSpan : lab::Span {
    unsigned runs;
};

// A Stay is a block in its slot. An SM that holds two blocks has slots 0 and 1. `wave` is 1 for the
// first block of a slot, and 2 for the next.
struct Stay {
    std::size_t block;
    BlockSpan span;
    unsigned slot, wave;
};

// Returns the stays in the order of the block numbers. The hardware does not number slots. Here a
// block gets the lowest slot of its SM that is free when the block begins.
inline std::vector<Stay> staysOf(const std::vector<BlockSpan>& spans) {
    std::vector<Stay> stays = lab::hostVector<Stay>(spans.size());
    for (std::size_t block = 0; block < spans.size(); ++block)
        stays[block] = {block, spans[block], 0, 0};
    // The clock advances in steps. Among blocks that begin in the same step, the blocks that end in
    // it come first.
    std::sort(stays.begin(), stays.end(), [](const Stay& a, const Stay& b) {
        return std::tie(a.span.begin, a.span.end, a.block) <
               std::tie(b.span.begin, b.span.end, b.block);
    });
    struct Slot {
        unsigned long long freeFrom;
        unsigned blocks;
    };
    std::map<unsigned, std::vector<Slot>> slotsOfSm;
    for (Stay& stay : stays) {
        std::vector<Slot>& slots = slotsOfSm[stay.span.sm];
        auto slot = std::find_if(slots.begin(), slots.end(), [&](const Slot& candidate) {
            return candidate.freeFrom <= stay.span.begin;
        });
        if (slot == slots.end()) slot = slots.insert(slot, Slot{0, 0});
        slot->freeFrom = stay.span.end;
        stay.slot = static_cast<unsigned>(slot - slots.begin());
        stay.wave = ++slot->blocks;
    }
    std::sort(stays.begin(), stays.end(),
              [](const Stay& a, const Stay& b) { return a.block < b.block; });
    return stays;
}

inline std::string wrongSpans(const std::vector<Stay>& stays, unsigned perSm) {
    for (const Stay& stay : stays) {
        if (stay.span.runs != 1)
            return lab::formatted("block %zu ran %u times", stay.block, stay.span.runs);
        if (stay.span.begin > stay.span.end)
            return lab::formatted("block %zu ended before it began", stay.block);
        if (stay.slot >= perSm) {
            return lab::formatted(
                "block %zu began on SM %u while %u others were there, but that SM "
                "has room for %u",
                stay.block, stay.span.sm, stay.slot, perSm);
        }
    }
    return "";
}

inline unsigned long long firstBegin(const std::vector<Stay>& stays) {
    unsigned long long first = ULLONG_MAX;
    for (const Stay& stay : stays) first = std::min(first, stay.span.begin);
    return first;
}

struct Summary {
    std::size_t mostAtOnce;  // blocks on one SM
    std::size_t smsUsed;
    double blockMs;      // the median run time of a block
    double idlePercent;  // of the time of all slots, from the first begin to the last end
};

// `slots` is the number of slots on all SMs of the GPU together.
inline Summary summaryOf(const std::vector<Stay>& stays, double slots) {
    std::set<unsigned> sms;
    std::vector<double> durations;
    unsigned mostAtOnce = 0;
    unsigned long long lastEnd = 0;
    double busy = 0;
    for (const Stay& stay : stays) {
        sms.insert(stay.span.sm);
        mostAtOnce = std::max(mostAtOnce, stay.slot + 1);
        lastEnd = std::max(lastEnd, stay.span.end);
        durations.push_back(lab::milliseconds(stay.span.end - stay.span.begin));
        busy += durations.back();
    }
    const double all = slots * lab::milliseconds(lastEnd - firstBegin(stays));
    const double idle = all > 0 ? 1 - busy / all : 0;
    return {mostAtOnce, sms.size(), lab::statistics(durations).median, 100 * idle};
}
