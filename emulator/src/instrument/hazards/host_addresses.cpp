#include "host_addresses.h"

#include <cstring>
#include <iterator>
#include <utility>

#include "access_text.h"
#include "engine/allocations.h"
#include "engine/number_text.h"
#include "engine/program_symbols.h"
#include "engine/symbolizer.h"
#include "host_check.h"
#include "instrument/record/device_variables.h"
#include "variable_text.h"

// From the linker: where the program begins and ends.
extern "C" const char __executable_start[], _end[];

namespace emu {
namespace {

constexpr size_t kPointer = sizeof(void*);
const std::string kTable = "_ZTV";  // of virtual functions, before a class's name

const void* pointerTo(uintptr_t address) {
    return reinterpret_cast<const void*>(address);
}

bool isInProgram(uintptr_t value) {
    const auto begin = reinterpret_cast<uintptr_t>(__executable_start);
    return value - begin < reinterpret_cast<uintptr_t>(_end) - begin;
}

// Calls `look(address, value)` for each pointer into the program among these bytes.
template <typename Look>
void forPointers(uintptr_t first, size_t bytes, Look look) {
    for (uintptr_t at = (first + kPointer - 1) / kPointer * kPointer;
         at + kPointer <= first + bytes; at += kPointer) {
        uintptr_t value;
        std::memcpy(&value, pointerTo(at), kPointer);
        if (isInProgram(value)) look(at, value);
    }
}

// The host's own memory, page-locked or not.
bool isOfHost(uintptr_t address) {
    const auto allocation = findAllocation(pointerTo(address));
    return !allocation || allocation->kind == MemoryKind::Pinned ||
           allocation->kind == MemoryKind::Registered;
}

bool isVariableOfDevice(uintptr_t address) {
    return isConstantVariable(address) || deviceVariableAt(address);
}

// Of the variable, the function or the class.
std::string nameOf(Hazard hazard, uintptr_t value) {
    if (hazard == Hazard::HostFunction) return functionName(pointerTo(value));
    if (hazard == Hazard::HostSymbol) return nameOfVariable(value);
    const std::string symbol = variableSymbol(pointerTo(value));
    return demangled("_Z" + symbol.substr(kTable.size()));
}

Finding describe(Hazard hazard, uintptr_t value) {
    const std::string name = nameOf(hazard, value);
    switch (hazard) {
        case Hazard::HostSymbol:
            return {hazard, "in host code '" + name + "' is the host's own copy", {}, ""};
        case Hazard::HostFunction:
            return {hazard, "in host code '" + name + "' is the host's function", {}, ""};
        default:
            return {hazard, "the virtual functions of this '" + name + "' are the host's", {}, ""};
    }
}

// What the device is given, in words.
std::string thingOf(Hazard hazard) {
    return hazard == Hazard::HostVirtual ? "the object" : "its address";
}

}  // namespace

std::optional<Hazard> HostAddresses::hazardOf(uintptr_t value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (isVariableOfDevice(value)) {
        const auto variable = variableAt(pointerTo(value));
        const uintptr_t base = variable ? number(variable->base) : value;
        return given_.count(base) > 0 ? std::nullopt : std::make_optional(Hazard::HostSymbol);
    }
    if (given_.count(value) > 0) return std::nullopt;
    if (!functionName(pointerTo(value)).empty()) return Hazard::HostFunction;
    const bool isTable = variableSymbol(pointerTo(value)).rfind(kTable, 0) == 0;
    return isTable ? std::make_optional(Hazard::HostVirtual) : std::nullopt;
}

std::optional<HostAddresses::Held> HostAddresses::heldAt(uintptr_t address) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = held_.find(address);
    return known == held_.end() ? std::nullopt : std::make_optional(known->second);
}

void HostAddresses::give(uintptr_t value) {
    const auto variable = variableAt(pointerTo(value));
    const std::lock_guard<std::mutex> lock(mutex_);
    given_.insert(value);
    if (variable) given_.insert(number(variable->base));
}

void HostAddresses::hold(uintptr_t address, const Held& held) {
    const std::lock_guard<std::mutex> lock(mutex_);
    held_[address] = held;
    begin_ = held_.begin()->first;
    end_ = std::prev(held_.end())->first + kPointer;
}

void HostAddresses::forget(uintptr_t address, size_t bytes) {
    if (unsettled_ - address < bytes) unsettled_ = 0;
    const std::lock_guard<std::mutex> lock(mutex_);
    held_.erase(held_.upper_bound(address - kPointer), held_.lower_bound(address + bytes));
    if (held_.empty()) end_ = 0;
}

// ---- what the host does

void HostAddresses::argumentsGiven(const std::string& kernel, const KernelArgument* arguments,
                                   size_t count) {
    for (size_t i = 0; i < count; ++i) {
        const uintptr_t first = number(arguments[i].value);
        forPointers(first, arguments[i].size, [&](uintptr_t, uintptr_t value) {
            const auto hazard = hazardOf(value);
            if (!hazard) return;
            const uintptr_t place = hostPlace();
            Finding finding = describe(*hazard, value);
            finding.acts = {actOfHost(place, "passes " + thingOf(*hazard) + " to " + kernel +
                                                 ", in argument " + emu::number(i + 1))};
            report_(std::move(finding), place);
        });
    }
}

void HostAddresses::transferRuns(const BytesSeen* read, const BytesSeen& written) {
    settle();
    const bool toHost = isOfHost(written.first);
    const bool fromHost = read != nullptr && isOfHost(read->first);
    findPlainCopy(written);
    if (read != nullptr) findPlainCopy(*read);
    for (size_t z = 0; z < written.depth; ++z) {
        for (size_t y = 0; y < written.height; ++y) {
            const auto row = [z, y](const BytesSeen& bytes) {
                return bytes.first + z * bytes.slice + y * bytes.pitch;
            };
            if (!toHost) forget(row(written), written.width);
            if (read != nullptr && !(fromHost && toHost)) {
                copyRow(row(*read), row(written), written.width, fromHost, toHost);
            }
        }
    }
}

// A variable is copied by its address in host code, as if that were the device's.
void HostAddresses::findPlainCopy(const BytesSeen& bytes) {
    if (bytes.byName || !isVariableOfDevice(bytes.first) || !hazardOf(bytes.first)) return;
    const uintptr_t place = hostPlace();
    Finding finding = describe(Hazard::HostSymbol, bytes.first);
    finding.acts = {actOfHost(place, kCopyByAddress)};
    report_(std::move(finding), place);
}

void HostAddresses::copyRow(uintptr_t from, uintptr_t to, size_t bytes, bool fromHost,
                            bool toHost) {
    forPointers(from, bytes, [&](uintptr_t at, uintptr_t value) {
        const uintptr_t target = to + (at - from);
        if (!fromHost) {
            const auto held = heldAt(at);
            const bool isHosts = held && held->value == value;
            if (isHosts && !toHost) hold(target, *held);
            if (!isHosts && toHost) give(value);
            return;
        }
        const auto hazard = hazardOf(value);
        if (!hazard) return;
        const uintptr_t place = hostPlace();
        if (isConstantVariable(target)) {  // nobody tells of reads there
            Finding finding = describe(*hazard, value);
            finding.acts = {actOfHost(place, "copies " + thingOf(*hazard) + " to the device")};
            report_(std::move(finding), place);
        } else {
            hold(target, {value, place, "copies"});
        }
    });
}

void HostAddresses::hostUses(const Access& access) {
    const size_t bytes = access.allBytes();
    if (bytes < kPointer) return;
    settle();
    if (access.kind != AccessKind::Load) {
        unsettledBytes_ = bytes;
        unsettledPc_ = access.pc;
        unsettled_ = access.address;
        return;
    }
    forPointers(access.address, bytes, [&](uintptr_t at, uintptr_t value) {
        const auto held = heldAt(at);
        if (!held || held->value != value) give(value);
    });
}

// The host has written what it was about to write.
void HostAddresses::settle() {
    const uintptr_t address = unsettled_.exchange(0);
    if (address == 0) return;
    const size_t bytes = unsettledBytes_;
    if (mayHold(address, bytes)) forget(address, bytes);
    forPointers(address, bytes, [&](uintptr_t at, uintptr_t value) {
        if (hazardOf(value)) hold(at, {value, hostPlace(unsettledPc_), "writes"});
    });
}

// ---- what kernels do

std::optional<Finding> HostAddresses::readByDevice(uintptr_t address, size_t bytes) {
    std::optional<Finding> finding;
    forPointers(address, bytes, [&](uintptr_t at, uintptr_t value) {
        const auto held = heldAt(at);
        const auto hazard = held && held->value == value ? hazardOf(value) : std::nullopt;
        if (!hazard) return;
        finding = describe(*hazard, value);
        finding->acts = {
            actOfHost(held->place, held->verb + (" " + thingOf(*hazard)) + " to the device")};
    });
    return finding;
}

}  // namespace emu
