#include "guarded_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>

namespace emu {

bool guardAllocations;

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kSmallestGap = size_t{1} << 20;
constexpr size_t kLargestGap = size_t{256} << 20;  // address space, not memory
constexpr size_t kKeptWhenFreed = 64;

struct Region {
    GuardedAllocation allocation;
    size_t bytes;  // with the gaps on both sides
};

struct Regions {
    std::mutex mutex;
    std::map<uintptr_t, Region> byBegin;
    std::deque<uintptr_t> freed;  // in the order of cudaFree()
    unsigned count = 0;
};

Regions& regions() {
    static Regions& instance = *new Regions;  // used by static destructors
    return instance;
}

// The region that holds `address`, or end(). Needs the lock.
std::map<uintptr_t, Region>::iterator find(Regions& known, const void* address) {
    const auto wanted = reinterpret_cast<uintptr_t>(address);
    auto next = known.byBegin.upper_bound(wanted);
    if (next == known.byBegin.begin()) return known.byBegin.end();
    --next;
    return wanted - next->first < next->second.bytes ? next : known.byBegin.end();
}

size_t roundedUp(size_t bytes) {
    return (bytes + kPage - 1) / kPage * kPage;
}

}  // namespace

void* takeGuarded(size_t size) {
    const size_t gap = roundedUp(std::clamp(size, kSmallestGap, kLargestGap));
    const size_t bytes = gap + roundedUp(size) + gap;
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    char* base = static_cast<char*>(memory) + gap;
    Regions& known = regions();
    const std::lock_guard<std::mutex> lock(known.mutex);
    known.byBegin.emplace(reinterpret_cast<uintptr_t>(memory),
                          Region{{base, size, ++known.count, false}, bytes});
    return base;
}

void giveBackGuarded(void* memory) {
    Regions& known = regions();
    const std::lock_guard<std::mutex> lock(known.mutex);
    const auto region = find(known, memory);
    if (region == known.byBegin.end()) return;
    region->second.allocation.freed = true;
    // The address stays taken, the memory does not.
    madvise(reinterpret_cast<void*>(region->first), region->second.bytes, MADV_DONTNEED);
    known.freed.push_back(region->first);
    if (known.freed.size() <= kKeptWhenFreed) return;
    const auto oldest = known.byBegin.find(known.freed.front());
    known.freed.pop_front();
    munmap(reinterpret_cast<void*>(oldest->first), oldest->second.bytes);
    known.byBegin.erase(oldest);
}

std::optional<GuardedAllocation> guardedAround(const void* address) {
    Regions& known = regions();
    const std::lock_guard<std::mutex> lock(known.mutex);
    const auto region = find(known, address);
    if (region == known.byBegin.end()) return std::nullopt;
    return region->second.allocation;
}

}  // namespace emu
