// Nothing for a GPU in here.
#pragma once

#include <ostream>
#include <vector>

inline std::ostream& operator<<(std::ostream& out, const std::vector<int>& values) {
    for (const int value : values) out << value << (1 << 2) << ' ';
    return out;
}
