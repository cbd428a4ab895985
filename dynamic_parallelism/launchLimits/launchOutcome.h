#pragma once
// What became of launches by kernels, and whether that is right.

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <vector>

#include "lab.cuh"

// What became of a launch.
struct Launched {
    unsigned tried;     // 0 or 1
    unsigned error;     // that the launching thread has seen
    unsigned children;  // that ran
};

// What must come out: launches that are tried, and the fewest and the most of them that may be
// refused.
struct Expected {
    std::size_t tried, fewest = 0, most = 0;

    Expected& refusing(std::size_t count) { return fewestRefused(count).mostRefused(count); }
    Expected& fewestRefused(std::size_t count) { return fewest = count, *this; }
    Expected& mostRefused(std::size_t count) { return most = count, *this; }
};

// The same of a run; `wrong` says what is wrong with it, or is empty.
struct Outcome {
    std::size_t tried = 0, refused = 0;
    std::string wrong;
    bool endedEarly = false;  // as far as it went, it was right, and then a launch was refused
};

inline Outcome outcomeOf(const std::vector<Launched>& launched, const Expected& expected) {
    Outcome outcome;
    for (std::size_t i = 0; i < launched.size(); ++i) {
        const auto& [tried, error, children] = launched[i];
        const bool refused = error == cudaErrorLaunchPendingCountExceeded;
        if (tried > 1 || (error != cudaSuccess && !refused)) {
            outcome.wrong = lab::formatted("launch %zu: tried %u times, %s", i, tried,
                                           cudaGetErrorName(static_cast<cudaError_t>(error)));
        } else if (children != tried - refused) {
            outcome.wrong = lab::formatted("launch %zu: %u children ran, expected %u", i, children,
                                           tried - refused);
        }
        if (!outcome.wrong.empty()) return outcome;
        outcome.tried += tried;
        outcome.refused += refused;
    }
    const bool refusedAsExpected =
        outcome.refused >= expected.fewest && outcome.refused <= expected.most;
    if (outcome.tried != expected.tried) {
        outcome.endedEarly =
            refusedAsExpected && outcome.refused > 0 && outcome.tried < expected.tried;
        outcome.wrong =
            lab::formatted("%zu launches were tried, expected %zu", outcome.tried, expected.tried);
    } else if (!refusedAsExpected) {
        outcome.wrong = lab::formatted("%zu launches were refused, expected %zu to %zu",
                                       outcome.refused, expected.fewest, expected.most);
    }
    return outcome;
}

// The outcome of the run that found() reads. Where a chain ended early, run() makes another one, up
// to three times: while other programs use the GPU, too, CUDA now and then refuses a launch before
// the room for pending launches is used up. On an H200 with five programs at a time it did so in up
// to 6 of 1000 chains, always at the third or fourth launch, and never twice in a row.
template <typename Found, typename Run>
Outcome outcomeOfRuns(const Expected& expected, const Found& found, const Run& run) {
    Outcome outcome = outcomeOf(found(), expected);
    for (int more = 0; more < 3 && outcome.endedEarly; ++more) {
        run();
        outcome = outcomeOf(found(), expected);
    }
    return outcome;
}
