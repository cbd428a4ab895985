#include "device_variables.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>

#include "emu/device_variables.h"
#include "engine/allocations.h"

namespace emu {

DeviceVariableRange deviceVariableRange;

namespace {

// Filled in before main(), and not changed after that.
std::map<uintptr_t, uintptr_t>& deviceVariables() {  // ends by begins
    static auto& variables = *new std::map<uintptr_t, uintptr_t>;
    return variables;
}
std::set<std::string>& deviceNames() {
    static auto& names = *new std::set<std::string>;
    return names;
}

// `x` of the mangled "_ZN2ns1xE", or of the name `x`; empty for what the program does not declare
// itself, such as the tables of virtual functions, and for members of templates.
std::string lastName(const std::string& symbol) {
    if (symbol.rfind("_ZG", 0) == 0 || symbol.rfind("_ZT", 0) == 0) return "";
    const std::string name = demangled(symbol);
    if (name.find_first_of("<(") != std::string::npos && symbol.rfind("_ZZ", 0) != 0) return "";
    if (name.rfind("emu::", 0) == 0 || name.rfind("std::", 0) == 0) return "";
    const size_t colons = name.rfind("::");
    return colons == std::string::npos ? name : name.substr(colons + 2);
}

}  // namespace

void noteDeviceVariable(const volatile void* variable, size_t size) {
    const auto begin = reinterpret_cast<uintptr_t>(variable);
    if (isManagedVariable(begin)) return;  // `__device__ __managed__ int x;`
    deviceVariables()[begin] = begin + size;
    DeviceVariableRange& range = deviceVariableRange;
    const uintptr_t first = range.size == 0 ? begin : std::min(range.begin, begin);
    const uintptr_t end = std::max(range.begin + range.size, begin + size);
    range = {first, end - first};
}

void noteDeviceNames(const char* names) {
    std::istringstream stream(names);
    for (std::string name; stream >> name;) deviceNames().insert(name);
}

std::optional<Variable> deviceVariableAt(uintptr_t address) {
    const auto& variables = deviceVariables();
    const auto next = variables.upper_bound(address);
    if (next == variables.begin()) return std::nullopt;
    const auto& [begin, end] = *std::prev(next);
    if (address >= end) return std::nullopt;
    return Variable{reinterpret_cast<const void*>(begin), end - begin};
}

bool isHostVariable(uintptr_t address) {
    static std::mutex& mutex = *new std::mutex;
    static auto& known = *new std::map<const void*, bool>;
    if (deviceVariableAt(address) || isConstantVariable(address)) return false;
    const auto* pointer = reinterpret_cast<const void*>(address);
    const auto variable = variableAt(pointer);
    if (!variable || imagePartOf(pointer) != ImagePart::Writable) return false;
    const std::lock_guard<std::mutex> lock(mutex);
    const auto [entry, isNew] = known.emplace(variable->base, false);
    if (isNew) {
        const std::string name = lastName(variableSymbol(pointer));
        const auto& others = deviceNames();
        entry->second = !name.empty() && others.count("*") == 0 && others.count(name) == 0;
    }
    return entry->second;
}

}  // namespace emu
