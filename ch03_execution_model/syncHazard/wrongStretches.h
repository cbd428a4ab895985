#pragma once
// Which elements of a result are wrong, for a reader who wants to see where.

#include <cstddef>
#include <string>
#include <vector>

#include "format.h"
#include "verify.h"

// A line for each of the first `most` stretches of neighbours that are all wrong, with the values
// of its first element, and one for how many stretches more there are; "" if nothing is wrong.
// right(i) is what values[i] should be.
template <typename Right>
std::string wrongStretches(const std::vector<int>& values, const Right& right, std::size_t most) {
    std::string text;
    const auto line = [&](const std::string& words) {
        text += (text.empty() ? "    " : "\n    ") + words;
    };
    std::size_t stretches = 0;
    for (std::size_t first = 0, end; first < values.size(); first = end + 1) {
        for (end = first; end < values.size() && values[end] != right(end);) ++end;
        if (end == first || ++stretches > most) continue;
        const std::string value = lab::describeMismatch(first, values[first], right(first));
        line(lab::formatted("%zu to %zu: %s", first, end - 1, value.c_str()));
    }
    if (stretches > most) line(lab::formatted("%zu stretches more", stretches - most));
    return text;
}
