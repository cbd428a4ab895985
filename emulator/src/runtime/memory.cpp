// Allocation, and the table of all memory that the runtime knows.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>

#include "capacity.h"
#include "emu/api/memory.h"
#include "engine/allocations.h"
#include "engine/guarded_memory.h"
#include "runtime.h"

// The bounds of the section in which the compiler puts __managed__ variables, if there are any.
extern "C" {
extern char __start_emu_managed[] __attribute__((weak));
extern char __stop_emu_managed[] __attribute__((weak));
}

namespace emu {
namespace {

constexpr size_t kAlignment = 256;
constexpr size_t kPitchAlignment = 512;

// The reason for the value is in emu/api/memory.h. Filling more would cost noticeable time, and
// memory for pages that the program may never touch.
constexpr uint32_t kPoison = 0xFFFACADE;
constexpr size_t kPoisonedBytes = size_t{16} << 20;

// ---- The table ----------------------------------------------------------------------------------

// The default memory pool. It hands memory back at once, so what it reserves is what is used.
struct Pool {
    std::array<int, 3> reuse{1, 1, 1};  // the three policies, which have no effect here
    uint64_t releaseThreshold = 0;
    uint64_t used = 0, usedHigh = 0;  // bytes
};

struct Table {
    std::mutex mutex;
    std::map<uintptr_t, Allocation> allocations;  // by their first byte; they do not overlap
    size_t used = 0;                              // bytes that the runtime allocated
    Pool pool;
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

bool ownedByRuntime(MemoryKind kind) {
    return kind == MemoryKind::Device || kind == MemoryKind::Managed ||
           kind == MemoryKind::Pinned || kind == MemoryKind::Kernel;
}

// The allocation that contains `pointer`, or nullptr. Needs the lock.
Allocation* find(Table& table, const void* pointer) {
    auto next = table.allocations.upper_bound(addressOf(pointer));
    if (next == table.allocations.begin()) return nullptr;
    Allocation& candidate = std::prev(next)->second;
    const uintptr_t offset = addressOf(pointer) - addressOf(candidate.base);
    return offset < candidate.size ? &candidate : nullptr;
}

// Both need the lock.
void giveBack(Table& table, const Allocation& allocation) {
    if (ownedByRuntime(allocation.kind)) table.used -= allocation.size;
    if (allocation.pooled) table.pool.used -= allocation.size;
}
void forget(Table& table, const Allocation& allocation) {
    giveBack(table, allocation);
    table.allocations.erase(addressOf(allocation.base));
}

void poison(void* memory, size_t size) {
    const size_t bytes = std::min(size, kPoisonedBytes);
    char* bytePointer = static_cast<char*>(memory);
    size_t filled = 0;
    for (; filled + sizeof(kPoison) <= bytes; filled += sizeof(kPoison)) {
        std::memcpy(bytePointer + filled, &kPoison, sizeof(kPoison));
    }
    std::memcpy(bytePointer + filled, &kPoison, bytes - filled);
}

// Host memory for an allocation, or nullptr. A kernel that runs a little over the end of a small
// allocation stays within the granularity that a GPU allocates with, and so does no more harm here
// than there. AddressSanitizer shall notice it, so it gets the exact size.
void* takeMemory(size_t size) {
    if (guardAllocations) return takeGuarded(size);
#ifndef __SANITIZE_ADDRESS__
    size = (size + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
#endif
    void* memory = nullptr;
    return posix_memalign(&memory, kAlignment, size) == 0 ? memory : nullptr;
}

void giveBackMemory(void* memory) {
    if (guardAllocations) {
        giveBackGuarded(memory);
    } else {
        std::free(memory);
    }
}

// Large sizes are only reserved, the host commits pages when they are written. So the table decides
// what fits, before a kernel would be killed for want of memory.
bool reserve(Table& table, const Allocation& allocation) {
    const std::lock_guard<std::mutex> lock(table.mutex);
    const size_t limit = capacity().free;
    if (table.used > limit || allocation.size > limit - table.used) return false;
    table.used += allocation.size;
    if (allocation.pooled) {
        table.pool.used += allocation.size;
        table.pool.usedHigh = std::max(table.pool.usedHigh, table.pool.used);
    }
    return true;
}

cudaError_t allocate(void** pointer, Allocation allocation) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    if (allocation.size == 0) {
        *pointer = nullptr;
        return cudaSuccess;
    }
    Table& known = table();
    if (!reserve(known, allocation)) return cudaErrorMemoryAllocation;
    void* memory = takeMemory(allocation.size);
    if (memory != nullptr && allocation.kind != MemoryKind::Pinned) poison(memory, allocation.size);
    const std::lock_guard<std::mutex> lock(known.mutex);
    if (memory == nullptr) {
        giveBack(known, allocation);
        return cudaErrorMemoryAllocation;
    }
    allocation.base = memory;
    known.allocations.emplace(addressOf(memory), allocation);
    *pointer = memory;
    return cudaSuccess;
}

// Frees the allocation that begins at `pointer` if its kind is one of `kinds`.
cudaError_t release(void* pointer, std::initializer_list<MemoryKind> kinds) {
    if (pointer == nullptr) return cudaSuccess;
    {
        Table& known = table();
        const std::lock_guard<std::mutex> lock(known.mutex);
        const Allocation* allocation = find(known, pointer);
        if (allocation == nullptr || allocation->base != pointer ||
            std::find(kinds.begin(), kinds.end(), allocation->kind) == kinds.end()) {
            return cudaErrorInvalidValue;
        }
        forget(known, Allocation(*allocation));
    }
    giveBackMemory(pointer);
    return cudaSuccess;
}

// Allocating may wait for the device, which captures may forbid.
cudaError_t refuseInCapture() {
    if (!anyCapture() || inDevice()) return cudaSuccess;
    const std::lock_guard<std::mutex> lock(handleMutex());
    return refuseUnsafe();
}

cudaError_t allocateUnlessCapturing(void** pointer, const Allocation& allocation) {
    const cudaError_t error = refuseInCapture();
    return error != cudaSuccess ? error : allocate(pointer, allocation);
}

MemoryKind deviceKind() {
    return inDevice() ? MemoryKind::Kernel : MemoryKind::Device;
}

// ---- Pitched memory -----------------------------------------------------------------------------

cudaError_t allocatePitched(void** pointer, size_t* pitch, size_t width, size_t height,
                            size_t depth) {
    if (pointer == nullptr || pitch == nullptr) return cudaErrorInvalidValue;
    if (width == 0 || height == 0 || depth == 0) {
        *pointer = nullptr;
        *pitch = 0;
        return cudaSuccess;
    }
    size_t padded = 0, size = 0;
    if (__builtin_add_overflow(width, kPitchAlignment - 1, &padded)) return cudaErrorInvalidValue;
    padded = padded / kPitchAlignment * kPitchAlignment;
    if (__builtin_mul_overflow(padded, height, &size) ||
        __builtin_mul_overflow(size, depth, &size)) {
        return cudaErrorMemoryAllocation;
    }
    const cudaError_t error = allocateUnlessCapturing(pointer, {nullptr, size, MemoryKind::Device});
    if (error == cudaSuccess) *pitch = padded;
    return error;
}

// ---- The memory pool ----------------------------------------------------------------------------

cudaMemPool_t defaultPool() {
    return reinterpret_cast<cudaMemPool_t>(&table().pool);
}

// One of the attributes that are an int; the others are 64 bits wide.
bool isReusePolicy(cudaMemPoolAttr attribute) {
    return attribute >= cudaMemPoolReuseFollowEventDependencies &&
           attribute <= cudaMemPoolReuseAllowInternalDependencies;
}
size_t reuseIndex(cudaMemPoolAttr attribute) {
    return static_cast<size_t>(attribute - cudaMemPoolReuseFollowEventDependencies);
}

cudaError_t setPoolNumber(Pool& pool, cudaMemPoolAttr attribute, uint64_t value) {
    if (attribute == cudaMemPoolAttrReleaseThreshold) {
        pool.releaseThreshold = value;
        return cudaSuccess;
    }
    const bool highMark =
        attribute == cudaMemPoolAttrReservedMemHigh || attribute == cudaMemPoolAttrUsedMemHigh;
    if (!highMark || value != 0) return cudaErrorInvalidValue;
    pool.usedHigh = pool.used;  // the mark can only be set back
    return cudaSuccess;
}

cudaError_t poolNumber(const Pool& pool, cudaMemPoolAttr attribute, uint64_t* value) {
    switch (attribute) {
        case cudaMemPoolAttrReleaseThreshold:
            *value = pool.releaseThreshold;
            return cudaSuccess;
        case cudaMemPoolAttrReservedMemCurrent:
        case cudaMemPoolAttrUsedMemCurrent:
            *value = pool.used;
            return cudaSuccess;
        case cudaMemPoolAttrReservedMemHigh:
        case cudaMemPoolAttrUsedMemHigh:
            *value = pool.usedHigh;
            return cudaSuccess;
        default:
            return cudaErrorInvalidValue;
    }
}

// Allocations and frees in stream order happen in order of the calls.
cudaError_t submitInOrder(cudaStream_t stream, Work work) {
    {
        const std::lock_guard<std::mutex> lock(handleMutex());
        const std::shared_ptr<Stream> found = findStream(stream);
        if (found == nullptr) return cudaErrorInvalidResourceHandle;
        // A graph would have to own the memory: not supported.
        if (found->capture) return cudaErrorNotSupported;
    }
    return submitNode(stream, cudaGraphNodeTypeEmpty, std::move(work));
}

cudaError_t allocateInOrder(void** pointer, size_t size, cudaStream_t stream) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    return submitInOrder(
        stream, [=] { return allocate(pointer, {nullptr, size, MemoryKind::Device, 0, true}); });
}

cudaError_t checkPool(int device, const cudaMemPool_t* pool) {
    if (device != 0) return cudaErrorInvalidDevice;
    return pool == nullptr ? cudaErrorInvalidValue : cudaSuccess;
}

// ---- Registered host memory ---------------------------------------------------------------------

cudaError_t registerHost(void* pointer, size_t size, unsigned flags) {
    constexpr unsigned kKnown =
        cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;
    if (pointer == nullptr || size == 0 || (flags & ~kKnown) != 0) return cudaErrorInvalidValue;
    if (size > UINTPTR_MAX - addressOf(pointer)) return cudaErrorInvalidValue;
    Table& known = table();
    const std::lock_guard<std::mutex> lock(known.mutex);
    // Overlaps the allocation that begins before its end, unless that ends before it begins.
    auto next = known.allocations.lower_bound(addressOf(pointer) + size);
    if (next != known.allocations.begin()) {
        const Allocation& last = std::prev(next)->second;
        if (addressOf(last.base) + last.size > addressOf(pointer)) {
            return last.kind == MemoryKind::Registered ? cudaErrorHostMemoryAlreadyRegistered
                                                       : cudaErrorInvalidValue;
        }
    }
    known.allocations.emplace(addressOf(pointer),
                              Allocation{pointer, size, MemoryKind::Registered, flags});
    return cudaSuccess;
}

cudaError_t unregisterHost(void* pointer) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    Table& known = table();
    const std::lock_guard<std::mutex> lock(known.mutex);
    const Allocation* allocation = find(known, pointer);
    if (allocation == nullptr) return cudaErrorHostMemoryNotRegistered;
    if (allocation->kind != MemoryKind::Registered || allocation->base != pointer) {
        return cudaErrorInvalidValue;
    }
    forget(known, Allocation(*allocation));
    return cudaSuccess;
}

std::optional<Allocation> findHostMemory(const void* pointer) {
    std::optional<Allocation> allocation = findAllocation(pointer);
    const bool host = allocation && (allocation->kind == MemoryKind::Pinned ||
                                     allocation->kind == MemoryKind::Registered);
    return host ? allocation : std::nullopt;
}

cudaPointerAttributes attributesOf(const void* pointer) {
    void* address = const_cast<void*>(pointer);
    const std::optional<Allocation> allocation = findAllocation(pointer);
    if (!allocation) return {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, address};
    switch (allocation->kind) {
        case MemoryKind::Pinned:
        case MemoryKind::Registered:
            return {cudaMemoryTypeHost, 0, address, address};
        case MemoryKind::Managed:
        case MemoryKind::ManagedSymbol:
            return {cudaMemoryTypeManaged, 0, address, address};
        case MemoryKind::Device:
        case MemoryKind::Symbol:
        case MemoryKind::Kernel:
            break;
    }
    return {cudaMemoryTypeDevice, 0, address, nullptr};
}

}  // namespace

size_t totalMemory() {
    return capacity().total;
}

std::optional<Allocation> findAllocation(const void* pointer) {
    Table& known = table();
    const std::lock_guard<std::mutex> lock(known.mutex);
    const Allocation* allocation = find(known, pointer);
    return allocation == nullptr ? std::nullopt : std::make_optional(*allocation);
}

cudaError_t checkRange(const void* pointer, size_t bytes, bool deviceMustReach) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    Table& known = table();
    const std::lock_guard<std::mutex> lock(known.mutex);
    const Allocation* allocation = find(known, pointer);
    if (allocation == nullptr) return deviceMustReach ? cudaErrorInvalidValue : cudaSuccess;
    // The heap of kernels is out of reach for the calls of the host.
    if (allocation->kind == MemoryKind::Kernel && deviceMustReach) return cudaErrorInvalidValue;
    const size_t offset = addressOf(pointer) - addressOf(allocation->base);
    if (bytes <= allocation->size - offset) return cudaSuccess;
    // Registered memory goes on as ordinary host memory.
    const bool hostGoesOn = allocation->kind == MemoryKind::Registered && !deviceMustReach;
    return hostGoesOn ? cudaSuccess : cudaErrorInvalidValue;
}

void addSymbol(const void* base, size_t size, MemoryKind kind) {
    Table& known = table();
    const std::lock_guard<std::mutex> lock(known.mutex);
    known.allocations.insert_or_assign(addressOf(base), Allocation{base, size, kind});
}

void setHints(const void* base, const ManagedHints& hints) {
    Table& known = table();
    const std::lock_guard<std::mutex> lock(known.mutex);
    Allocation* allocation = find(known, base);
    if (allocation != nullptr && allocation->managed()) allocation->hints = hints;
}

void freeAllMemory() {
    Table& known = table();
    const std::lock_guard<std::mutex> lock(known.mutex);
    for (auto entry = known.allocations.begin(); entry != known.allocations.end();) {
        const Allocation allocation = (entry++)->second;
        if (ownedByRuntime(allocation.kind)) giveBackMemory(const_cast<void*>(allocation.base));
        if (ownedByRuntime(allocation.kind) || allocation.kind == MemoryKind::Registered) {
            forget(known, allocation);
        }
    }
    known.pool = Pool();
}

}  // namespace emu

using namespace emu;

// ---- Device memory ------------------------------------------------------------------------------

cudaError_t cudaMalloc(void** pointer, size_t size) {
    return api([&] { return allocateUnlessCapturing(pointer, {nullptr, size, deviceKind()}); });
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
    return hostApi(__func__, [&] { return allocatePitched(pointer, pitch, width, height, 1); });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
    return hostApi(__func__, [&] {
        if (pointer == nullptr) return cudaErrorInvalidValue;
        const cudaError_t error = allocatePitched(&pointer->ptr, &pointer->pitch, extent.width,
                                                  extent.height, extent.depth);
        if (error == cudaSuccess) {
            pointer->xsize = extent.width;
            pointer->ysize = extent.height;
        }
        return error;
    });
}

cudaError_t cudaFree(void* pointer) {
    return api([&] {
        if (inDevice()) return release(pointer, {MemoryKind::Kernel});
        const cudaError_t error = refuseInCapture();
        if (error != cudaSuccess) return error;
        return release(pointer, {MemoryKind::Device, MemoryKind::Managed});
    });
}

cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) {
    return hostApi(__func__, [&] { return allocateInOrder(pointer, size, stream); });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t size, cudaMemPool_t pool,
                                    cudaStream_t stream) {
    return hostApi(__func__, [&] {
        if (pool != defaultPool()) return cudaErrorInvalidValue;
        return allocateInOrder(pointer, size, stream);
    });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
    return hostApi(__func__, [&] {
        return submitInOrder(
            stream, [=] { return release(pointer, {MemoryKind::Device, MemoryKind::Managed}); });
    });
}

cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned int flags) {
    return hostApi(__func__, [&] {
        if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) {
            return cudaErrorInvalidValue;
        }
        return allocateUnlessCapturing(pointer, {nullptr, size, MemoryKind::Managed});
    });
}

// ---- Host memory --------------------------------------------------------------------------------

cudaError_t cudaMallocHost(void** pointer, size_t size) {
    return cudaHostAlloc(pointer, size, cudaHostAllocDefault);
}

cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned int flags) {
    return hostApi(__func__, [&] {
        constexpr unsigned kKnown =
            cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
        if ((flags & ~kKnown) != 0) return cudaErrorInvalidValue;
        return allocateUnlessCapturing(pointer, {nullptr, size, MemoryKind::Pinned, flags});
    });
}

cudaError_t cudaFreeHost(void* pointer) {
    return hostApi(__func__, [&] {
        const cudaError_t error = refuseInCapture();
        return error != cudaSuccess ? error : release(pointer, {MemoryKind::Pinned});
    });
}

cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned int flags) {
    return hostApi(__func__, [&] { return registerHost(pointer, size, flags); });
}

cudaError_t cudaHostUnregister(void* pointer) {
    return hostApi(__func__, [&] { return unregisterHost(pointer); });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags) {
    return hostApi(__func__, [&] {
        if (device == nullptr || flags != 0 || !findHostMemory(host)) return cudaErrorInvalidValue;
        *device = host;
        return cudaSuccess;
    });
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* host) {
    return hostApi(__func__, [&] {
        const std::optional<Allocation> allocation = findHostMemory(host);
        if (flags == nullptr || !allocation) return cudaErrorInvalidValue;
        // With unified addressing all host memory of the runtime is mapped.
        *flags = allocation->flags | cudaHostAllocMapped;
        return cudaSuccess;
    });
}

// ---- Questions ----------------------------------------------------------------------------------

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
    return hostApi(__func__, [&] {
        Table& known = table();
        const std::lock_guard<std::mutex> lock(known.mutex);
        if (free != nullptr) *free = capacity().free - std::min(capacity().free, known.used);
        if (total != nullptr) *total = capacity().total;
        return cudaSuccess;
    });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    return hostApi(__func__, [&] {
        if (attributes == nullptr) return cudaErrorInvalidValue;
        *attributes = attributesOf(pointer);
        return cudaSuccess;
    });
}

// ---- The memory pool ----------------------------------------------------------------------------

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
    return hostApi(__func__, [&] {
        const cudaError_t error = checkPool(device, pool);
        if (error == cudaSuccess) *pool = defaultPool();
        return error;
    });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
    return cudaDeviceGetDefaultMemPool(pool, device);
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    return hostApi(__func__, [&] {
        if (device != 0) return cudaErrorInvalidDevice;
        return pool == defaultPool() ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    return hostApi(__func__, [&] {
        if (pool != defaultPool() || value == nullptr) return cudaErrorInvalidValue;
        Table& known = table();
        const std::lock_guard<std::mutex> lock(known.mutex);
        if (!isReusePolicy(attribute)) {
            return setPoolNumber(known.pool, attribute, *static_cast<const uint64_t*>(value));
        }
        known.pool.reuse[reuseIndex(attribute)] = *static_cast<const int*>(value);
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    return hostApi(__func__, [&] {
        if (pool != defaultPool() || value == nullptr) return cudaErrorInvalidValue;
        Table& known = table();
        const std::lock_guard<std::mutex> lock(known.mutex);
        if (!isReusePolicy(attribute)) {
            return poolNumber(known.pool, attribute, static_cast<uint64_t*>(value));
        }
        *static_cast<int*>(value) = known.pool.reuse[reuseIndex(attribute)];
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
    return hostApi(__func__,
                   [&] { return pool == defaultPool() ? cudaSuccess : cudaErrorInvalidValue; });
}
