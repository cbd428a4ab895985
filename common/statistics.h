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

}  // namespace lab
