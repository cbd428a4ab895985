#pragma once
// What a program that takes times of its own makes of them: streamPriorities.

#include <vector>

#include "statistics.h"

// The median of the last `measured` of `runs`, which are those that count: a kernel runs a few
// times before to warm up (measure.cuh).
inline double medianOfMeasured(const std::vector<double>& runs, int measured) {
    return lab::statistics({runs.end() - measured, runs.end()}).median;
}
