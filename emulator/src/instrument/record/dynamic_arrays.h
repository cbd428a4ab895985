// The `extern __shared__` arrays of the program: they all begin where dynamic shared memory does.
#pragma once

#include <string>
#include <vector>

namespace emu {

struct DynamicArray {
    struct Declaration {
        const char* file;
        int line;
    };
    std::string name;
    std::vector<Declaration> declarations;
};

// One for each name. Complete when main() begins.
const std::vector<DynamicArray>& dynamicArrays();

}  // namespace emu
