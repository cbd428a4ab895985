// Numbers in words, for messages and for the reports of the hazard check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace emu {

// "1,056"
inline std::string number(uint64_t value) {
    std::string text = std::to_string(value);
    for (size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, ",");
    return text;
}

// "1 byte", "1,056 bytes"
inline std::string bytes(uint64_t count) {
    return number(count) + (count == 1 ? " byte" : " bytes");
}

// "element 33 (of 4 bytes)" for the access of `size` bytes at `offset` of an array.
inline std::string element(size_t offset, size_t size) {
    if (offset % size != 0) return "byte " + number(offset);
    return "element " + number(offset / size) + " (of " + bytes(size) + ")";
}

}  // namespace emu
