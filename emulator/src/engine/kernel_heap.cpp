#include "kernel_heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "allocations.h"
#include "emu/kernel_heap_tag.h"
#include "guarded_memory.h"
#include "messages.h"
#include "out_of_memory.h"
#include "poison.h"
#include "scheduler.h"
#include "watcher.h"

#ifdef EMU_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) static_cast<void>(0)
#define ASAN_UNPOISON_MEMORY_REGION(address, size) static_cast<void>(0)
#endif

namespace emu {
namespace {

constexpr size_t kUnit = 16;  // bytes: what blocks are multiples of, and aligned to

size_t roundedUp(size_t bytes, size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

// What is free, by address and by size.
class Holes {
  public:
    void clear() {
        byAddress_.clear();
        bySize_.clear();
    }

    // Adds a hole, and makes one of it and those that it touches.
    void add(uintptr_t begin, size_t size) {
        auto next = byAddress_.lower_bound(begin);
        if (next != byAddress_.end() && next->first == begin + size) {
            size += next->second;
            next = remove(next);
        }
        if (next != byAddress_.begin()) {
            const auto before = std::prev(next);
            if (before->first + before->second == begin) {
                begin = before->first;
                size += before->second;
                remove(before);
            }
        }
        insert(begin, size);
    }

    // The address of `size` bytes of the smallest hole that has them; 0: none has.
    uintptr_t take(size_t size, size_t alignment) {
        const auto fits = bySize_.lower_bound({size + alignment - kUnit, 0});
        if (fits == bySize_.end()) return 0;
        const auto [holeSize, hole] = *fits;
        remove(byAddress_.find(hole));
        const uintptr_t begin = roundedUp(hole, alignment);
        if (begin > hole) insert(hole, begin - hole);
        if (begin + size < hole + holeSize) insert(begin + size, hole + holeSize - begin - size);
        return begin;
    }

  private:
    using ByAddress = std::map<uintptr_t, size_t>;

    void insert(uintptr_t begin, size_t size) {
        byAddress_.emplace(begin, size);
        bySize_.emplace(size, begin);
    }
    ByAddress::iterator remove(ByAddress::iterator hole) {
        bySize_.erase({hole->second, hole->first});
        return byAddress_.erase(hole);
    }

    ByAddress byAddress_;
    std::set<std::pair<size_t, uintptr_t>> bySize_;
};

// The blocks that are taken are in the table of allocations.
struct Heap {
    std::mutex mutex;
    size_t size = kDefaultKernelHeap;
    bool used = false;  // by a kernel
    bool wasFull = false;
    size_t taken = 0;                 // bytes
    std::atomic<uintptr_t> begin{0};  // of the range; 0: there is none yet
    std::atomic<size_t> rangeSize{0};
    Holes holes;
};

Heap& heap() {
    static Heap& instance = *new Heap;  // used by static destructors
    return instance;
}

bool isInRange(const void* memory) {
    const Heap& known = heap();
    return reinterpret_cast<uintptr_t>(memory) - known.begin < known.rangeSize;
}

// Needs the lock.
void makeRange(Heap& known) {
    void* memory = mmap(nullptr, known.size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) quitWithoutMemory("the heap of malloc() in kernels");
    ASAN_POISON_MEMORY_REGION(memory, known.size);
    known.begin = reinterpret_cast<uintptr_t>(memory);
    known.rangeSize = known.size;
    if (known.size >= kUnit) known.holes.add(known.begin, known.size / kUnit * kUnit);
}

// `bytes` bytes, a multiple of kUnit, for a block of `size`; nullptr: there are not so many left.
// Needs the lock.
void* takeBlock(Heap& known, size_t size, size_t bytes, size_t alignment) {
    if (bytes > known.size - known.taken) return nullptr;
    if (guardAllocations) return takeGuarded(size, Reach::DeviceOnly, Owner::Kernel);
    if (known.begin == 0) makeRange(known);
    void* const block = reinterpret_cast<void*>(known.holes.take(bytes, alignment));
    if (block != nullptr) ASAN_UNPOISON_MEMORY_REGION(block, size);
    return block;
}

// Needs the lock.
void giveBackBlock(Heap& known, const Allocation& block) {
    const size_t bytes = roundedUp(block.size, kUnit);
    known.taken -= bytes;
    if (guardAllocations) {
        giveBackGuarded(const_cast<void*>(block.base));
        return;
    }
    ASAN_POISON_MEMORY_REGION(block.base, bytes);
    known.holes.add(reinterpret_cast<uintptr_t>(block.base), bytes);
}

void* takeInKernel(size_t size, size_t alignment = kUnit) {
    size = std::max<size_t>(size, 1);
    Heap& known = heap();
    void* block = nullptr;
    {
        const std::lock_guard<std::mutex> lock(known.mutex);
        known.used = true;
        const size_t bytes = roundedUp(size, kUnit);
        if (size <= known.size) block = takeBlock(known, size, bytes, std::max(alignment, kUnit));
        if (block == nullptr) {
            known.wasFull = true;
            return nullptr;
        }
        known.taken += bytes;
    }
    fillFresh(block, size);
    addAllocation({block, size, MemoryKind::KernelHeap});
    if (watcher != nullptr) watcher->kernelAllocated(block, size);
    return block;
}

// What is wrong with an address that is not that of a block. The errors are those of an H200, which
// takes what lies inside of a block, though.
std::pair<cudaError_t, std::string> wrongAddress(const void* memory) {
    const auto around = findAllocation(memory);
    if (around && around->kind == MemoryKind::KernelHeap) {
        const auto offset =
            static_cast<const char*>(memory) - static_cast<const char*>(around->base);
        return {cudaErrorLaunchFailure,
                format("lies %td bytes behind the start of a block of %zu bytes", offset,
                       around->size)};
    }
    const auto guarded = guardAllocations ? guardedAround(memory) : std::nullopt;
    const bool wasFreed = guarded && guarded->owner == Owner::Kernel && guarded->freed;
    if (wasFreed || isInRange(memory)) {
        return {cudaErrorLaunchFailure, "is no block of the kernels' heap any more: freed before?"};
    }
    return {cudaErrorIllegalAddress, "does not come from malloc() or new in a kernel"};
}

// `pc`: where the program goes on.
void freeInKernel(void* memory, void* pc) {
    if (memory == nullptr) return;
    if (watcher != nullptr) watcher->kernelFrees(reinterpret_cast<uintptr_t>(pc));
    Heap& known = heap();
    const auto block = removeAllocation(memory, {MemoryKind::KernelHeap});
    if (!block) {
        const auto [error, what] = wrongAddress(memory);
        failKernel(error, format("free() or delete of %p, which ", memory) + what);
    }
    const std::lock_guard<std::mutex> lock(known.mutex);
    giveBackBlock(known, *block);
}

// Most pointers of the host are told at once.
bool mayBeOfKernel(const void* memory) {
    return guardAllocations ? maybeGuarded(reinterpret_cast<uintptr_t>(memory)) : isInRange(memory);
}

// What glibc would do, but with a reason.
void refuseOnHost(const void* memory) {
    if (!mayBeOfKernel(memory)) return;
    std::fflush(stdout);
    std::fprintf(stderr,
                 "emulator: the host calls free() or delete for %p, which is device memory: what "
                 "malloc() or new gave in a kernel, only a kernel can free\n",
                 memory);
    std::abort();
}

// False for what is the host's: where the host deletes it, or the engine does while a kernel runs.
bool deletedInKernel(void* memory, void* pc) {
    if (!inDevice()) {
        refuseOnHost(memory);
        return false;
    }
    if (!mayBeOfKernel(memory)) return false;
    freeInKernel(memory, pc);
    return true;
}

}  // namespace

bool setKernelHeapSize(size_t bytes) {
    Heap& known = heap();
    const std::lock_guard<std::mutex> lock(known.mutex);
    if (known.used) return false;
    known.size = bytes;
    return true;
}

size_t fullKernelHeap() {
    Heap& known = heap();
    const std::lock_guard<std::mutex> lock(known.mutex);
    return known.wasFull ? known.size : 0;
}

void resetKernelHeap() {
    Heap& known = heap();
    const std::lock_guard<std::mutex> lock(known.mutex);
    for (const Allocation& block : removeAllocations({MemoryKind::KernelHeap})) {
        giveBackBlock(known, block);
    }
    if (known.begin != 0) munmap(reinterpret_cast<void*>(known.begin.load()), known.rangeSize);
    ASAN_UNPOISON_MEMORY_REGION(reinterpret_cast<void*>(known.begin.load()), known.rangeSize);
    known.wasFull = false;
    known.begin = 0;
    known.rangeSize = 0;
    known.holes.clear();
    known.used = false;
    known.size = kDefaultKernelHeap;
}

}  // namespace emu

// ---- What a program's malloc(), new ... are -----------------------------------------------------

using namespace emu;

extern "C" {

void* emu_malloc(size_t size) {
    return inDevice() ? takeInKernel(size) : std::malloc(size);
}

void* emu_calloc(size_t count, size_t size) {
    if (!inDevice()) return std::calloc(count, size);
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
    void* const memory = takeInKernel(bytes);
    return memory == nullptr ? nullptr : std::memset(memory, 0, bytes);
}

void emu_free(void* memory) {
    if (inDevice()) return freeInKernel(memory, __builtin_return_address(0));
    refuseOnHost(memory);
    std::free(memory);
}

// (Not with a pointer of the host: the engine's may come here.)
#define EMU_DELETE(NAME, OPERATOR)                                                \
    void NAME(void* memory) {                                                     \
        if (deletedInKernel(memory, __builtin_return_address(0))) return;         \
        OPERATOR(memory);                                                         \
    }                                                                             \
    void NAME##_aligned(void* memory, std::align_val_t alignment) {               \
        if (deletedInKernel(memory, __builtin_return_address(0))) return;         \
        OPERATOR(memory, alignment);                                              \
    }                                                                             \
    void NAME##_sized_aligned(void* memory, size_t, std::align_val_t alignment) { \
        if (deletedInKernel(memory, __builtin_return_address(0))) return;         \
        OPERATOR(memory, alignment);                                              \
    }
EMU_DELETE(emu_delete, ::operator delete)
EMU_DELETE(emu_delete_array, ::operator delete[])

}  // extern "C"

void* operator new(size_t size, KernelHeap) noexcept {
    return inDevice() ? takeInKernel(size) : ::operator new(size);
}
void* operator new[](size_t size, KernelHeap) noexcept {
    return inDevice() ? takeInKernel(size) : ::operator new[](size);
}
void* operator new(size_t size, std::align_val_t alignment, KernelHeap) noexcept {
    return inDevice() ? takeInKernel(size, static_cast<size_t>(alignment))
                      : ::operator new(size, alignment);
}
void* operator new[](size_t size, std::align_val_t alignment, KernelHeap) noexcept {
    return inDevice() ? takeInKernel(size, static_cast<size_t>(alignment))
                      : ::operator new[](size, alignment);
}
