#pragma once
// What launchCost prints of a chain of kernels besides its time.

#include <vector>

#include "result_table.h"

inline std::vector<lab::OwnColumn> chainColumns() {
    constexpr auto kOnGpu = lab::OwnColumn::kOnGpu;
    return {{"kernels", 7, "kernels"},        {"each", 7, "each_us", kOnGpu},
            {"issue", 6, "issue_us", kOnGpu}, {"prepare", 8, "prepare_us", kOnGpu},
            {"", 0, "saved_us", kOnGpu},      {"pays", 6, "pays_after", kOnGpu}};
}

// Milliseconds of a whole chain.
struct ChainTimes {
    double done;          // until its last step is
    double issue;         // of the host, for the calls
    double prepare = 0;   // of a graph, before its first launch
    double launched = 0;  // what the same chain takes without a graph; 0 where that did not run
};

inline std::vector<lab::Cell> chainCells(unsigned kernels, const ChainTimes& times) {
    std::vector<lab::Cell> cells = {
        kernels, {1e3 * times.done / kernels, 3}, {1e3 * times.issue / kernels, 3}};
    if (times.prepare == 0) return cells;
    cells.emplace_back(1e3 * times.prepare, 1);
    const double saved = times.launched - times.done;
    if (saved > 0) {
        cells.emplace_back(1e3 * saved, 3);
        cells.emplace_back(times.prepare / saved, 1);
    }
    return cells;
}
