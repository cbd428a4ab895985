#include "dynamic_arrays.h"

#include <algorithm>

#include "emu/decisions.h"

namespace emu {
namespace {

std::vector<DynamicArray>& arrays() {
    static std::vector<DynamicArray>& all = *new std::vector<DynamicArray>;
    return all;
}

}  // namespace

const std::vector<DynamicArray>& dynamicArrays() {
    return arrays();
}

bool dynamicArray(const char* name, const char* file, int line) {
    auto known = std::find_if(arrays().begin(), arrays().end(),
                              [&](const DynamicArray& array) { return array.name == name; });
    if (known == arrays().end()) known = arrays().insert(known, {name, {}});
    known->declarations.push_back({file, line});
    return true;
}

}  // namespace emu
