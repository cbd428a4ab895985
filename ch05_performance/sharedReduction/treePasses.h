#pragma once
// Predicts what a step of a reduction tree costs the warps of a block. The prediction follows from
// the numbers of the threads that add and from the words that they touch. sharedReduction compares
// it with the counts of a profiler.

#include <cstddef>
#include <optional>
#include <vector>

#include "bank_conflicts.h"

namespace tree {

constexpr unsigned kWarp = 32;  // lanes

// Which thread adds which words of shared memory. sharedReduction.cu has a kernel for each shape.
enum class Shape { kNeighbored, kConsecutive, kSequential };

// Number of steps that reduce `block` numbers to one. `block` is a power of two, and this is its
// logarithm.
inline unsigned steps(unsigned block) {
    unsigned count = 0;
    while (block >> count > 1) ++count;
    return count;
}

// Distance between the two words that an addition of this step touches. The steps are 1, 2 ...
// steps(block).
inline unsigned strideOf(Shape shape, unsigned block, unsigned step) {
    return shape == Shape::kSequential ? block >> step : 1u << (step - 1);
}

// The word to which thread t adds the word `stride` behind it. There is none if the thread does not
// add.
inline std::optional<unsigned> wordOf(Shape shape, unsigned block, unsigned stride, unsigned t) {
    const unsigned word = shape == Shape::kConsecutive ? 2 * stride * t : t;
    const bool adds =
        shape == Shape::kSequential ? word < stride : word < block && word % (2 * stride) == 0;
    return adds ? std::optional(word) : std::nullopt;
}

// The sums over all warps of a block.
struct Cost {
    unsigned warps = 0;   // warps with at least one lane that adds
    unsigned split = 0;   // warps with lanes that add and lanes that do not
    unsigned passes = 0;  // sides of the branch that the warps take: two for a warp that splits
    unsigned loads = 0;   // wavefronts of the loads of both words (bank_conflicts.h)
    unsigned stores = 0;  // wavefronts of the stores of the results
    unsigned wavefronts() const { return loads + stores; }
};

inline Cost costOfStep(Shape shape, unsigned block, unsigned step) {
    const unsigned stride = strideOf(shape, block, step);
    Cost cost;
    for (unsigned first = 0; first < block; first += kWarp) {
        std::vector<std::size_t> to, from;  // byte addresses, of the lanes that add
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

// The cost of the first `last` steps together.
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
