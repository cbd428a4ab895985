#pragma once
// Says which elements of a result are wrong.

#include <cstddef>
#include <string>
#include <vector>

#include "format.h"
#include "verify.h"

// A line for each of the first `most` stretches of wrong neighbours, with the value of its first
// element. A last line says how many more stretches there are. The text is empty if nothing is
// wrong. right(i) is the right value of values[i].
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
