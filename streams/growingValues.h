#pragma once
// Values of an option that grow by a factor: 1, 2, 4 ... or 1, 10, 100 ...

#include <vector>

// first, factor * first, factor * factor * first ... and `most`.
inline std::vector<unsigned> growing(unsigned first, unsigned factor, unsigned most) {
    std::vector<unsigned> values;
    for (unsigned long long value = first; value < most; value *= factor)
        values.push_back(static_cast<unsigned>(value));
    values.push_back(most);
    return values;
}

// first, 10 * first, 100 * first ... and `most`.
inline std::vector<unsigned> tens(unsigned first, unsigned most) {
    return growing(first, 10, most);
}

// 1, 2, 4 ... and `most`, if any.
inline std::vector<unsigned> doublings(unsigned most) {
    return most > 0 ? growing(1, 2, most) : std::vector<unsigned>();
}
