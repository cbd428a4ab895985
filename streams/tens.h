#pragma once
// The values of a dial that an exercise turns up.

#include <vector>

// first, 10 * first, 100 * first ... and `most`.
inline std::vector<unsigned> tens(unsigned first, unsigned most) {
    std::vector<unsigned> values;
    for (unsigned long long value = first; value < most; value *= 10)
        values.push_back(static_cast<unsigned>(value));
    values.push_back(most);
    return values;
}
