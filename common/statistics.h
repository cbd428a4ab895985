#pragma once
// What is reported of repeated measurements.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lab {

struct Statistics {
    double median = 0;
    double min = 0;
    double max = 0;
    std::size_t count = 0;
};

// Of an even number of samples the median is the mean of the middle two. No samples: all zero.
inline Statistics statistics(std::vector<double> samples) {
    if (samples.empty()) return {};
    std::sort(samples.begin(), samples.end());
    const std::size_t middle = samples.size() / 2;
    const double median =
        samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
    return {median, samples.front(), samples.back(), samples.size()};
}

// The median of the last `measured` of `runs`, which are those that count: a kernel runs a few
// times before to warm up (measure.cuh).
inline double medianOfMeasured(const std::vector<double>& runs, std::size_t measured) {
    const std::size_t before = runs.size() - std::min(measured, runs.size());
    return statistics({runs.begin() + static_cast<std::ptrdiff_t>(before), runs.end()}).median;
}

}  // namespace lab
