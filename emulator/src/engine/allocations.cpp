#include "allocations.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>

// The bounds of the section in which the compiler puts __managed__ variables, if there are any.
extern "C" {
extern char __start_emu_managed[] __attribute__((weak));
extern char __stop_emu_managed[] __attribute__((weak));
}

namespace emu {
namespace {

struct Table {
    std::mutex mutex;
    std::map<uintptr_t, Allocation> allocations;  // by their first byte
};

uintptr_t addressOf(const void* pointer) {
    return reinterpret_cast<uintptr_t>(pointer);
}

void addManagedSymbols(Table& table) {
    if (__start_emu_managed == nullptr) return;
    const auto size = static_cast<size_t>(__stop_emu_managed - __start_emu_managed);
    table.allocations.emplace(addressOf(__start_emu_managed),
                              Allocation{__start_emu_managed, size, MemoryKind::ManagedSymbol});
}

Table& table() {
    static Table& instance = *[] {  // never destroyed: used by static destructors
        Table* created = new Table;
        addManagedSymbols(*created);
        return created;
    }();
    return instance;
}

// The allocation that contains `pointer`, or nullptr. Needs the lock.
Allocation* find(Table& table, const void* pointer) {
    auto next = table.allocations.upper_bound(addressOf(pointer));
    if (next == table.allocations.begin()) return nullptr;
    Allocation& candidate = std::prev(next)->second;
    const uintptr_t offset = addressOf(pointer) - addressOf(candidate.base);
    return offset < candidate.size ? &candidate : nullptr;
}

bool isOneOf(MemoryKind kind, std::initializer_list<MemoryKind> kinds) {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

}  // namespace

std::atomic<unsigned> allocationsChanged{0};

std::optional<Allocation> findAllocation(const void* pointer) {
    Table& known = table();
    const std::lock_guard<std::mutex> lock(known.mutex);
    const Allocation* allocation = find(known, pointer);
    return allocation == nullptr ? std::nullopt : std::make_optional(*allocation);
}

bool isManagedVariable(uintptr_t address) {
    return address - addressOf(__start_emu_managed) <
           addressOf(__stop_emu_managed) - addressOf(__start_emu_managed);
}

void addAllocation(const Allocation& allocation) {
    Table& known = table();
    const std::lock_guard<std::mutex> lock(known.mutex);
    known.allocations.emplace(addressOf(allocation.base), allocation);
    ++allocationsChanged;
}

std::optional<Allocation> addUnlessOverlapping(const Allocation& allocation) {
    Table& known = table();
    const std::lock_guard<std::mutex> lock(known.mutex);
    // Overlaps the allocation that begins before its end, unless that ends before it begins.
    auto next = known.allocations.lower_bound(addressOf(allocation.base) + allocation.size);
    if (next != known.allocations.begin()) {
        const Allocation& last = std::prev(next)->second;
        if (addressOf(last.base) + last.size > addressOf(allocation.base)) return last;
    }
    known.allocations.emplace(addressOf(allocation.base), allocation);
    ++allocationsChanged;
    return std::nullopt;
}

std::optional<Allocation> removeAllocation(const void* base,
                                           std::initializer_list<MemoryKind> kinds) {
    Table& known = table();
    const std::lock_guard<std::mutex> lock(known.mutex);
    const auto entry = known.allocations.find(addressOf(base));
    if (entry == known.allocations.end() || !isOneOf(entry->second.kind, kinds)) {
        return std::nullopt;
    }
    const Allocation removed = entry->second;
    known.allocations.erase(entry);
    ++allocationsChanged;
    return removed;
}

std::vector<Allocation> removeAllocations(std::initializer_list<MemoryKind> kinds) {
    Table& known = table();
    const std::lock_guard<std::mutex> lock(known.mutex);
    std::vector<Allocation> removed;
    for (auto entry = known.allocations.begin(); entry != known.allocations.end();) {
        const auto next = std::next(entry);
        if (isOneOf(entry->second.kind, kinds)) {
            removed.push_back(entry->second);
            known.allocations.erase(entry);
            ++allocationsChanged;
        }
        entry = next;
    }
    return removed;
}

void setWrittenTo(const void* base, size_t bytes) {
    Table& known = table();
    const std::lock_guard<std::mutex> lock(known.mutex);
    Allocation* allocation = find(known, base);
    if (allocation != nullptr) allocation->writtenTo = bytes;
}

void setHints(const void* base, const ManagedHints& hints) {
    Table& known = table();
    const std::lock_guard<std::mutex> lock(known.mutex);
    Allocation* allocation = find(known, base);
    if (allocation != nullptr && allocation->managed()) allocation->hints = hints;
}

}  // namespace emu
