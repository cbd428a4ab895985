#pragma once
// What a step of a reduction tree costs the warps of a block, predicted from the numbers of the
// threads that add and from the words that they touch. The exercise sharedReduction compares it
// with what a profiler counts.

#include <cstddef>
#include <optional>
#include <vector>

#include "bank_conflicts.h"

namespace tree {

constexpr unsigned kWarp = 32;  // lanes

// Which thread adds which words of shared memory: sharedReduction.cu has a kernel for each.
enum class Shape { kNeighbored, kConsecutive, kSequential };

// Steps that make one number of `block` numbers, a power of two: its logarithm.
inline unsigned steps(unsigned block) {
    unsigned count = 0;
    while (block >> count > 1) ++count;
    return count;
}

// Words between the two that are added in step 1, 2 ... steps(block).
inline unsigned strideOf(Shape shape, unsigned block, unsigned step) {
    return shape == Shape::kSequential ? block >> step : 1u << (step - 1);
}

// The word to which thread t adds the one `stride` behind it; none if the thread does not add.
inline std::optional<unsigned> wordOf(Shape shape, unsigned block, unsigned stride, unsigned t) {
    const unsigned word = shape == Shape::kConsecutive ? 2 * stride * t : t;
    const bool adds =
        shape == Shape::kSequential ? word < stride : word < block && word % (2 * stride) == 0;
    return adds ? std::optional(word) : std::nullopt;
}

// Of all warps of a block.
struct Cost {
    unsigned warps = 0;   // that add: each issues the addition once, with any number of lanes
    unsigned split = 0;   // of these, warps in which other lanes do not add
    unsigned passes = 0;  // sides of the branch that warps take: two for one that splits
    unsigned loads = 0;   // wavefronts of shared memory (bank_conflicts.h) for both words
    unsigned stores = 0;  // and for the result
    unsigned turns() const { return loads + stores; }
};

inline Cost costOfStep(Shape shape, unsigned block, unsigned step) {
    const unsigned stride = strideOf(shape, block, step);
    Cost cost;
    for (unsigned first = 0; first < block; first += kWarp) {
        std::vector<std::size_t> to, from;  // addresses in bytes, of the lanes that add
        for (unsigned t = first; t < first + kWarp; ++t) {
            if (const std::optional<unsigned> word = wordOf(shape, block, stride, t)) {
                to.push_back(*word * sizeof(int));
                from.push_back((*word + stride) * sizeof(int));
            }
        }
        const bool adds = !to.empty(), splits = adds && to.size() < kWarp;
        cost.warps += adds;
        cost.split += splits;
        cost.passes += splits ? 2 : 1;
        cost.loads += banks::wavefronts(to, sizeof(int), banks::Access::kLoad) +
                      banks::wavefronts(from, sizeof(int), banks::Access::kLoad);
        cost.stores += banks::wavefronts(to, sizeof(int), banks::Access::kStore);
    }
    return cost;
}

// Of the first `last` steps together.
inline Cost costOfTree(Shape shape, unsigned block, unsigned last) {
    Cost sum;
    for (unsigned step = 1; step <= last; ++step) {
        const Cost cost = costOfStep(shape, block, step);
        sum.warps += cost.warps;
        sum.split += cost.split;
        sum.passes += cost.passes;
        sum.loads += cost.loads;
        sum.stores += cost.stores;
    }
    return sum;
}

}  // namespace tree
