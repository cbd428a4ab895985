#pragma once
// What is reported of repeated measurements.

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
Statistics statistics(std::vector<double> samples);

}  // namespace lab
