#include "shared_variables.h"

#include <algorithm>

#include "emu/engine.h"
#include "engine/number_text.h"
#include "engine/program_symbols.h"

namespace emu {
namespace {

// The part of a name after the function that it belongs to.
std::string shortName(const std::string& symbol) {
    const std::string name = demangled(symbol);
    const size_t colons = name.rfind("::");
    const std::string last = colons == std::string::npos ? name : name.substr(colons + 2);
    return last.rfind("emu_", 0) == 0 ? last.substr(4) : last;  // the translator's name for it
}

// One of the engine's or the check's own, by its mangled name.
bool isEmulators(const std::string& symbol) {
    constexpr size_t kLongestHead = 6;  // "_ZGVZN", of what guards a static variable
    return symbol.find("3emu") <= kLongestHead;
}

}  // namespace

void SharedVariables::beginBlock(const Grid& grid, uintptr_t sharedBegin, size_t sharedSize) {
    if (sharedBegin_ != sharedBegin) {
        sharedBegin_ = sharedBegin;
        sharedSize_ = sharedSize;
        dynamicOffset_ = reinterpret_cast<uintptr_t>(&emu_dynamic_shared) - sharedBegin;
        namesKnown_ = threadLocalAt(dynamicOffset_).has_value();
    }
    variables_.assign(1, {dynamicOffset_, dynamicOffset_ + grid.config.dynamicShared});
    for (const ThreadLocal& variable : sharedVariablesOf(grid.call.id)) {
        variables_.push_back({variable.begin, variable.begin + variable.size});
    }
}

std::optional<SharedVariables::Range> SharedVariables::around(size_t offset) const {
    for (const Range& range : variables_) {
        if (offset >= range.begin && offset < range.end) return range;
    }
    return namesKnown_ ? std::nullopt : std::make_optional(Range{0, sharedSize_});
}

std::optional<ThreadLocal> SharedVariables::unknownAt(size_t offset) const {
    const auto variable = threadLocalAt(offset);
    const bool isEngines =
        variable && (variable->begin == dynamicOffset_ || isEmulators(variable->name));
    return isEngines ? std::nullopt : variable;
}

bool SharedVariables::unwritten(size_t offset, size_t size) const {
    const auto* memory = reinterpret_cast<const unsigned char*>(sharedBegin_ + offset);
    return std::all_of(memory, memory + size,
                       [](unsigned char byte) { return byte == kUnwrittenShared; });
}

std::string SharedVariables::nextTo(size_t offset, size_t size) const {
    const auto distance = [&](const Range& range) {
        return offset >= range.end ? offset - range.end : range.begin - offset;
    };
    const auto next =
        std::min_element(variables_.begin() + 1, variables_.end(),
                         [&](const Range& a, const Range& b) { return distance(a) < distance(b); });
    const auto variable = next == variables_.end() ? std::nullopt : threadLocalAt(next->begin);
    if (!variable) return "beyond all arrays of the kernel";
    const std::string name = shortName(variable->name);
    const auto ahead = static_cast<int64_t>(offset) - static_cast<int64_t>(next->begin);
    const auto each = static_cast<int64_t>(size);
    if (ahead % each != 0) return "beside " + name;
    return "element " + std::to_string(ahead / each) + " of " + name + ", which has " +
           number(variable->size / size) + " (of " + bytes(size) + ")";
}

std::string SharedVariables::nameOf(size_t offset) const {
    const auto variable = threadLocalAt(offset);
    if (!variable) return "shared memory";
    return variable->begin == dynamicOffset_ ? "dynamic shared memory" : shortName(variable->name);
}

std::string SharedVariables::nameOf(size_t offset, size_t size) const {
    const std::string name = nameOf(offset);
    const auto variable = threadLocalAt(offset);
    const bool dynamic = variable && variable->begin == dynamicOffset_;
    if (!variable || (!dynamic && variable->size == size)) return name;
    return name + ", " + element(offset - variable->begin, size);
}

}  // namespace emu
