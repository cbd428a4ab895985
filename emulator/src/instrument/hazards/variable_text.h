// Variables of the program, and other memory of the host, in words, for the reports of the hazard
// check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

#include "engine/number_text.h"
#include "engine/program_symbols.h"

namespace emu {

// Of the variable that holds the address: "scope::name", or "name" for one in a function.
inline std::string nameOfVariable(uintptr_t address) {
    const std::string symbol = variableSymbol(reinterpret_cast<const void*>(address));
    const std::string name = demangled(symbol);
    const size_t function = symbol.rfind("_ZZ", 0) == 0 ? name.rfind("::") : std::string::npos;
    return function == std::string::npos ? name : name.substr(function + 2);
}

// "name, element 3 (of 4 bytes)" for the access of `size` bytes at the address.
inline std::string nameOfVariable(uintptr_t address, size_t size) {
    const auto variable = variableAt(reinterpret_cast<const void*>(address));
    const std::string name = nameOfVariable(address);
    if (!variable || variable->size == size) return name;
    return name + ", " + element(address - reinterpret_cast<uintptr_t>(variable->base), size);
}

// Whether the address is in the first thread's stack, as the system knows it.
inline bool isInHostStack(uintptr_t address) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.find("[stack]") == std::string::npos) continue;
        const uintptr_t begin = std::stoull(line, nullptr, 16);
        const uintptr_t end = std::stoull(line.substr(line.find('-') + 1), nullptr, 16);
        return address >= begin && address < end;
    }
    return false;
}

// What an access of `size` bytes to the host's memory meets.
inline std::string nameOfHostMemory(uintptr_t address, size_t size) {
    if (variableAt(reinterpret_cast<const void*>(address))) {
        return "the host's variable " + nameOfVariable(address, size);
    }
    return isInHostStack(address) ? "a local variable of the host (its stack)"
                                  : "the host's heap (malloc(), new, std::vector)";
}

}  // namespace emu
