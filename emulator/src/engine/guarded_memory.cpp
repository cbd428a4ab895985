#include "guarded_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>

#include "out_of_memory.h"
#include "poison.h"
#include "stacks.h"

namespace emu {

bool guardAllocations;

namespace {

constexpr size_t kSmallestGap = size_t{1} << 20;
constexpr size_t kLargestGap = size_t{256} << 20;  // address space, not memory
constexpr size_t kKeptWhenFreed = 64;

// All allocations lie in one range of addresses, so that others are told from them at once.
constexpr size_t kLargestArena = size_t{1} << 43;
constexpr size_t kSmallestArena = size_t{1} << 30;

struct Region {
    GuardedAllocation allocation;
    size_t bytes;  // with the gaps on both sides
};

struct Arena {
    uintptr_t begin = 0;
    size_t size = 0, used = 0;
};

struct Regions {
    Regions();
    std::mutex mutex;
    Arena arena;
    std::map<uintptr_t, Region> byBegin;
    std::multimap<size_t, uintptr_t> holes;       // where allocations were, by their bytes
    std::deque<uintptr_t> freed, freedByKernels;  // in that order
    unsigned count = 0;                           // without those of kernels
    int open = 0;                                 // how many DeviceMemoryAccess there are
    std::atomic<unsigned> generation{0};
};

Regions::Regions() {
    for (size_t size = kLargestArena; size >= kSmallestArena; size /= 2) {
        void* memory =
            mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) continue;
        arena = {reinterpret_cast<uintptr_t>(memory), size, 0};
        return;
    }
}

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
    const size_t page = pageSize();  // 64 KiB on some systems with AArch64
    return (bytes + page - 1) / page * page;
}

// Addresses for a region, or 0. Needs the lock.
uintptr_t takeAddresses(Regions& known, size_t bytes) {
    const auto hole = known.holes.find(bytes);
    if (hole != known.holes.end()) {
        const uintptr_t begin = hole->second;
        known.holes.erase(hole);
        return begin;
    }
    Arena& arena = known.arena;
    if (bytes > arena.size - arena.used) return 0;
    const uintptr_t begin = arena.begin + arena.used;
    arena.used += bytes;
    return begin;
}

// False where the system has no room for that: memory to write to (ulimit -d,
// vm.overcommit_memory), or one more mapping (vm.max_map_count).
[[nodiscard]] bool tryToProtect(uintptr_t begin, size_t bytes, bool open) {
    return mprotect(reinterpret_cast<void*>(begin), bytes,
                    open ? PROT_READ | PROT_WRITE : PROT_NONE) == 0;
}

// For what must not stay as it is: an access would be taken for a wrong one, or not be noticed.
void protect(uintptr_t begin, size_t bytes, bool open) {
    if (!tryToProtect(begin, bytes, open)) quitWithoutMemory("memory for the hazard check");
}

// Needs the lock.
void protectDeviceMemory(Regions& known, bool open) {
    for (const auto& [begin, region] : known.byBegin) {
        if (region.allocation.reach == Reach::DeviceOnly) protect(begin, region.bytes, open);
    }
}

size_t bytesOfBits(size_t bytes) {
    return roundedUp((bytes + 7) / 8);
}

// Zeroed, and only committed where it is written; nullptr if there is no room.
uint8_t* newBits(size_t bytes) {
    void* memory = mmap(nullptr, bytesOfBits(bytes), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<uint8_t*>(memory);
}

void setBits(uint8_t* bits, size_t first, size_t count) {
    const auto setOne = [&](size_t i) {
        const auto bit = static_cast<uint8_t>(1u << i % 8);
        if ((bits[i / 8] & bit) == 0) __atomic_fetch_or(&bits[i / 8], bit, __ATOMIC_RELAXED);
    };
    const size_t end = first + count;
    while (first < end && first % 8 != 0) setOne(first++);
    const size_t whole = (end - first) / 8;
    std::memset(bits + first / 8, 0xff, whole);
    for (first += whole * 8; first < end; ++first) setOne(first);
}

// The part of an allocation with bits that begins at an address, up to `bytes` long.
struct Part {
    uint8_t* bits = nullptr;
    size_t first = 0, count = 0;
};

Part partOf(const void* address, size_t bytes) {
    const auto allocation = guardedAround(address);
    if (!allocation || allocation->written == nullptr) return {};
    const auto offset = static_cast<size_t>(static_cast<const char*>(address) - allocation->base);
    if (offset >= allocation->size) return {};
    return {allocation->written, offset, std::min(bytes, allocation->size - offset)};
}

}  // namespace

void GuardedAllocation::markWritten(size_t first, size_t count) const {
    setBits(written, first, count);
}

void* takeGuarded(size_t size, Reach reach, Owner owner) {
    const size_t gap = roundedUp(std::clamp(size, kSmallestGap, kLargestGap));
    const size_t bytes = gap + roundedUp(size) + gap;
    Regions& known = regions();
    const std::lock_guard<std::mutex> lock(known.mutex);
    const uintptr_t begin = takeAddresses(known, bytes);
    if (begin == 0) return nullptr;
    if (!tryToProtect(begin, bytes, reach != Reach::DeviceOnly || known.open > 0)) {
        known.holes.emplace(bytes, begin);
        return nullptr;
    }
    char* base = reinterpret_cast<char*>(begin + gap);
    uint8_t* const written = reach == Reach::Both ? nullptr : newBits(size);
    const unsigned number = owner == Owner::Program ? ++known.count : 0;
    known.byBegin.emplace(begin, Region{{base, size, number, false, reach, owner, written}, bytes});
    ++known.generation;
    return base;
}

void giveBackGuarded(void* memory) {
    Regions& known = regions();
    const std::lock_guard<std::mutex> lock(known.mutex);
    const auto region = find(known, memory);
    if (region == known.byBegin.end()) return;
    GuardedAllocation& allocation = region->second.allocation;
    allocation.freed = true;
    if (allocation.written != nullptr) munmap(allocation.written, bytesOfBits(allocation.size));
    allocation.written = nullptr;
    // The address stays taken, the memory does not.
    madvise(reinterpret_cast<void*>(region->first), region->second.bytes, MADV_DONTNEED);
    auto& freed = allocation.owner == Owner::Kernel ? known.freedByKernels : known.freed;
    freed.push_back(region->first);
    ++known.generation;
    if (freed.size() <= kKeptWhenFreed) return;
    const auto oldest = known.byBegin.find(freed.front());
    freed.pop_front();
    protect(oldest->first, oldest->second.bytes, false);
    known.holes.emplace(oldest->second.bytes, oldest->first);
    known.byBegin.erase(oldest);
}

std::optional<GuardedAllocation> guardedAround(const void* address) {
    Regions& known = regions();
    const std::lock_guard<std::mutex> lock(known.mutex);
    const auto region = find(known, address);
    if (region == known.byBegin.end()) return std::nullopt;
    return region->second.allocation;
}

void forEachManaged(const std::function<void(const GuardedAllocation&)>& visit) {
    Regions& known = regions();
    const std::lock_guard<std::mutex> lock(known.mutex);
    for (const auto& [begin, region] : known.byBegin) {
        const GuardedAllocation& allocation = region.allocation;
        if (allocation.reach == Reach::Managed && !allocation.freed) visit(allocation);
    }
}

bool maybeGuarded(uintptr_t address) {
    static const Arena& arena = regions().arena;
    return address - arena.begin < arena.size;
}

unsigned guardedGeneration() {
    return regions().generation.load(std::memory_order_relaxed);
}

void markWritten(const void* to, size_t bytes) {
    const Part part = partOf(to, bytes);
    if (part.bits != nullptr) setBits(part.bits, part.first, part.count);
}

void markCopied(const void* to, size_t bytes, const std::vector<uint8_t>& unwritten) {
    const Part part = partOf(to, bytes);
    if (part.bits == nullptr) return;
    setBits(part.bits, part.first, part.count);
    for (size_t i = 0; i < unwritten.size() * 8 && i < part.count; ++i) {
        if ((unwritten[i / 8] >> i % 8 & 1) == 0) continue;
        const size_t bit = part.first + i;
        __atomic_fetch_and(&part.bits[bit / 8], static_cast<uint8_t>(~(1u << bit % 8)),
                           __ATOMIC_RELAXED);
    }
}

std::vector<uint8_t> unwrittenBits(const void* memory, size_t bytes) {
    const Part part = partOf(memory, bytes);
    if (part.bits == nullptr) return {};
    const auto* const first = static_cast<const char*>(memory);
    std::vector<uint8_t> unwritten;
    for (size_t i = 0; i < part.count; ++i) {
        const size_t bit = part.first + i;
        if (bit % 8 == 0 && part.count - i >= 8 && part.bits[bit / 8] == 0xff) {
            i += 7;
        } else if ((part.bits[bit / 8] >> bit % 8 & 1) == 0 && isFresh(first + i, bit, 1)) {
            unwritten.resize((bytes + 7) / 8);
            unwritten[i / 8] = static_cast<uint8_t>(unwritten[i / 8] | 1u << i % 8);
        }
    }
    return unwritten;
}

size_t countOnes(const std::vector<uint8_t>& bits) {
    size_t count = 0;
    for (const uint8_t byte : bits) count += static_cast<size_t>(__builtin_popcount(byte));
    return count;
}

DeviceMemoryAccess::DeviceMemoryAccess() {
    if (!guardAllocations) return;
    Regions& known = regions();
    const std::lock_guard<std::mutex> lock(known.mutex);
    if (known.open++ == 0) protectDeviceMemory(known, true);
}

DeviceMemoryAccess::~DeviceMemoryAccess() {
    if (!guardAllocations) return;
    Regions& known = regions();
    const std::lock_guard<std::mutex> lock(known.mutex);
    if (--known.open == 0) protectDeviceMemory(known, false);
}

void openGuarded(const void* address) {
    Regions& known = regions();
    const std::lock_guard<std::mutex> lock(known.mutex);
    const auto region = find(known, address);
    if (region != known.byBegin.end()) protect(region->first, region->second.bytes, true);
}

}  // namespace emu
