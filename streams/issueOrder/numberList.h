#pragma once
// Whole numbers with commas between them: what an option such as --order=0,1,1,0 has.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "options.h"

// At most `most` numbers of min ... max; none where `text` is anything else.
inline std::vector<std::size_t> numberList(const std::string& text, std::size_t min,
                                           std::size_t max, std::size_t most) {
    std::vector<std::size_t> numbers;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        std::uint64_t number = 0;
        if (!lab::parseWhole(text.substr(begin, end - begin), &number) || number < min ||
            number > max || numbers.size() == most) {
            return {};
        }
        numbers.push_back(number);
        begin = end + 1;
    }
    return numbers;
}
