// Allocation of device memory and of page-locked host memory.
#include "memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "capacity.h"
#include "capture.h"
#include "emu/api/memory.h"
#include "engine/guarded_memory.h"
#include "engine/number_text.h"
#include "engine/poison.h"
#include "engine/program_symbols.h"
#include "engine/scheduler.h"
#include "engine/watcher.h"
#include "error.h"
#include "image_limits.h"
#include "stream.h"

namespace emu {
namespace {

// Of an allocation, which a texture may begin with, and of each row of cudaMallocPitch().
constexpr size_t kAlignment = 512;  // bytes
static_assert(kAlignment % kTextureAlignment == 0);

constexpr const char* kNotPageLocked =
    "the pointer is no page-locked memory: cudaMallocHost() gives some, cudaHostRegister() makes "
    "the host's own so";

// What cudaDeviceReset() frees.
constexpr std::initializer_list<MemoryKind> kOwned = {MemoryKind::Device, MemoryKind::Managed,
                                                      MemoryKind::Pinned, MemoryKind::Kernel};

// ---- Memory of the host -------------------------------------------------------------------------

// Bytes behind an allocation, up to the granularity that a GPU allocates with: a kernel that runs a
// little over the end does no more harm here than there, but reads garbage, and what it writes
// shows when the memory is freed. None where AddressSanitizer or the hazard check looks on.
size_t slackBehind([[maybe_unused]] size_t size) {
#ifndef EMU_ADDRESS_SANITIZER
    if (!guardAllocations) return kAlignment - size % kAlignment;
#endif
    return 0;
}

// Pages of their own, or nullptr: a kernel that uses what was freed meets an illegal address, as on
// a GPU, and does not spoil the host's heap. (AddressSanitizer knows only the heap.)
void* takePages(size_t bytes) {
#ifdef EMU_ADDRESS_SANITIZER
    void* memory = nullptr;
    return posix_memalign(&memory, kAlignment, bytes) == 0 ? memory : nullptr;
#else
    void* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
#endif
}

void giveBackPages(void* memory, [[maybe_unused]] size_t bytes) {
#ifdef EMU_ADDRESS_SANITIZER
    std::free(memory);
#else
    munmap(memory, bytes);
#endif
}

// Host memory for an allocation, or nullptr.
void* takeMemory(size_t size, MemoryKind kind) {
    if (guardAllocations) {
        const bool device = kind == MemoryKind::Device || kind == MemoryKind::Kernel;
        const Reach ofHost = kind == MemoryKind::Managed ? Reach::Managed : Reach::Both;
        return takeGuarded(size, device ? Reach::DeviceOnly : ofHost);
    }
    const size_t slack = slackBehind(size);
    void* const memory = takePages(size + slack);
    if (memory == nullptr) return nullptr;
    poison(static_cast<char*>(memory) + size, slack);
    return memory;
}

bool hostIsWatched() {
    return watcher != nullptr && !inDevice();
}

void giveBackMemory(const Allocation& allocation) {
    void* memory = const_cast<void*>(allocation.base);
    if (hostIsWatched()) watcher->memoryFreed(memory, allocation.size);
    if (guardAllocations) {
        giveBackGuarded(memory);
        return;
    }
    unsigned char expected[kAlignment];
    const size_t slack = slackBehind(allocation.size);
    poison(expected, slack);
    if (std::memcmp(static_cast<char*>(memory) + allocation.size, expected, slack) != 0) {
        std::fprintf(stderr,
                     "emulator: something wrote beyond the end of an allocation of %zu bytes; "
                     "./lab check names the line\n",
                     allocation.size);
    }
    giveBackPages(memory, allocation.size + slack);
}

// ---- How much is taken --------------------------------------------------------------------------

struct Account {
    std::mutex mutex;
    MemoryUse use;
    size_t unasked = 0;                   // allocated since the host was asked what it has
    std::map<const void*, size_t> large;  // allocations that are not poisoned to their end
};

Account& account() {
    static Account& instance = *new Account;  // never destroyed: used by static destructors
    return instance;
}

// Needs the lock.
size_t freeBytes(const Account& known) {
    size_t unwritten = 0;
    for (const auto& [base, size] : known.large) unwritten += unwrittenBytes(base, size);
    return freeMemory(unwritten);
}

// Large sizes are only reserved, the host commits pages when they are written. So it is asked
// whether they fit, before a kernel would be killed for want of memory.
bool reserve(const Allocation& allocation) {
    constexpr size_t kNotWorthAsking = size_t{1} << 20;
    Account& known = account();
    const std::lock_guard<std::mutex> lock(known.mutex);
    if (allocation.size > kNotWorthAsking - known.unasked) {
        if (allocation.size > freeBytes(known)) return false;
        known.unasked = 0;
    } else {
        known.unasked += allocation.size;
    }
    if (allocation.pooled) {
        MemoryUse& use = known.use;
        use.pooled += allocation.size;
        use.reservedHigh = std::max(use.reservedHigh, use.pooled);
        use.usedHigh = std::max(use.usedHigh, use.pooled);
    }
    return true;
}

void noteLarge(const Allocation& allocation) {
    if (allocation.size <= kPoisonedBytes) return;
    Account& known = account();
    const std::lock_guard<std::mutex> lock(known.mutex);
    known.large.emplace(allocation.base, allocation.size);
}

void unreserve(const Allocation& allocation) {
    Account& known = account();
    const std::lock_guard<std::mutex> lock(known.mutex);
    known.large.erase(allocation.base);
    if (allocation.pooled) known.use.pooled -= allocation.size;
}

// ---- Allocation ---------------------------------------------------------------------------------

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

// ---- Reasons ------------------------------------------------------------------------------------

std::string whyTooMuch(size_t bytes) {
    std::string text = emu::bytes(bytes) + " asked for";
    const auto asSigned = static_cast<int64_t>(bytes);
    if (asSigned < 0) {
        return text + ", which is -" + number(static_cast<uint64_t>(-asSigned)) +
               ": a number of type int was too large or negative; compute sizes as size_t";
    }
    Account& known = account();
    const std::lock_guard<std::mutex> lock(known.mutex);
    return text + ", " + number(freeBytes(known)) + " are free";
}

size_t offsetIn(const Allocation& allocation, const void* pointer) {
    return static_cast<size_t>(static_cast<const char*>(pointer) -
                               static_cast<const char*>(allocation.base));
}

// Where something lies that no call of CUDA has allocated.
std::string hostMemoryAt(const void* pointer) {
    if (imagePartOf(pointer) == ImagePart::None) return "memory of the host";
    return "a variable of the program: copy to and from __device__ and __constant__ ones with "
           "cudaMemcpyToSymbol() and cudaMemcpyFromSymbol()";
}

// What allocates memory of the kind, and what frees it.
std::pair<const char*, const char*> functionsFor(MemoryKind kind) {
    switch (kind) {
        case MemoryKind::Device:
            return {"cudaMalloc()", "cudaFree()"};
        case MemoryKind::Managed:
            return {"cudaMallocManaged()", "cudaFree()"};
        case MemoryKind::Pinned:
            return {"cudaMallocHost()", "cudaFreeHost()"};
        case MemoryKind::Registered:
            return {"cudaHostRegister()", "cudaHostUnregister()"};
        case MemoryKind::Kernel:
            return {"cudaMalloc() in a kernel", "cudaFree() in a kernel"};
        case MemoryKind::KernelHeap:
            return {"malloc() or new in a kernel", "free() or delete in a kernel"};
        case MemoryKind::Symbol:
        case MemoryKind::ManagedSymbol:
            break;
    }
    return {"a variable", "nothing"};
}

std::string whyNotFreed(const void* pointer) {
    const std::optional<Allocation> allocation = findAllocation(pointer);
    if (!allocation) return "no allocation begins there, or it has been freed before";
    if (allocation->base != pointer) {
        return "the pointer leads " + bytes(offsetIn(*allocation, pointer)) +
               " into its allocation: free the pointer to its begin";
    }
    const auto [allocates, frees] = functionsFor(allocation->kind);
    return std::string("this memory comes from ") + allocates + ", which goes with " + frees;
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
    if (__builtin_add_overflow(width, kAlignment - 1, &padded)) return cudaErrorInvalidValue;
    padded = padded / kAlignment * kAlignment;
    if (__builtin_mul_overflow(padded, height, &size) ||
        __builtin_mul_overflow(size, depth, &size)) {
        return cudaErrorMemoryAllocation;
    }
    const cudaError_t error = allocateUnlessCapturing(pointer, {nullptr, size, MemoryKind::Device});
    if (error == cudaSuccess) *pitch = padded;
    return error;
}

// ---- Registered host memory ---------------------------------------------------------------------

cudaError_t registerHost(void* pointer, size_t size, unsigned flags) {
    constexpr unsigned kKnown =
        cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;
    if (pointer == nullptr || size == 0 || (flags & ~kKnown) != 0) return cudaErrorInvalidValue;
    if (size > UINTPTR_MAX - reinterpret_cast<uintptr_t>(pointer)) return cudaErrorInvalidValue;
    const std::optional<Allocation> other =
        addUnlessOverlapping({pointer, size, MemoryKind::Registered, flags});
    if (!other) {
        if (hostIsWatched()) watcher->memoryRegistered(pointer, size);
        return cudaSuccess;
    }
    return other->kind == MemoryKind::Registered ? cudaErrorHostMemoryAlreadyRegistered
                                                 : cudaErrorInvalidValue;
}

cudaError_t unregisterHost(void* pointer) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    if (!findAllocation(pointer)) return cudaErrorHostMemoryNotRegistered;
    if (removeAllocation(pointer, {MemoryKind::Registered})) return cudaSuccess;
    return because(cudaErrorInvalidValue, [=] { return whyNotFreed(pointer); });
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
        case MemoryKind::KernelHeap:
            break;
    }
    return {cudaMemoryTypeDevice, 0, address, nullptr};
}

}  // namespace

MemoryUse memoryUse() {
    Account& known = account();
    const std::lock_guard<std::mutex> lock(known.mutex);
    return known.use;
}

void resetHigh(size_t MemoryUse::*mark) {
    Account& known = account();
    const std::lock_guard<std::mutex> lock(known.mutex);
    known.use.*mark = known.use.pooled;
}

cudaError_t allocate(void** pointer, Allocation allocation) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    if (allocation.size == 0) {
        *pointer = nullptr;
        return cudaSuccess;
    }
    if (!reserve(allocation)) {
        return because(cudaErrorMemoryAllocation, [&] { return whyTooMuch(allocation.size); });
    }
    void* memory = takeMemory(allocation.size, allocation.kind);
    if (memory != nullptr && allocation.kind != MemoryKind::Pinned) {
        const DeviceMemoryAccess access;
        fillFresh(memory, allocation.size);
    }
    if (memory == nullptr) {
        unreserve(allocation);
        return cudaErrorMemoryAllocation;
    }
    static std::atomic<unsigned> allocations{0};
    allocation.base = memory;
    allocation.number = ++allocations;
    noteLarge(allocation);
    addAllocation(allocation);
    if (hostIsWatched()) {
        watcher->memoryAllocated(memory, allocation.size, pointer);
        watcher->pointerStored(pointer);
    }
    *pointer = memory;
    return cudaSuccess;
}

cudaError_t release(void* pointer, std::initializer_list<MemoryKind> kinds) {
    if (pointer == nullptr) return cudaSuccess;
    const std::optional<Allocation> allocation = removeAllocation(pointer, kinds);
    if (!allocation) {
        if (hostIsWatched()) watcher->freeRefused(pointer);
        return because(cudaErrorInvalidValue, [=] { return whyNotFreed(pointer); });
    }
    unreserve(*allocation);
    giveBackMemory(*allocation);
    return cudaSuccess;
}

cudaError_t checkRange(const char* name, const void* pointer, size_t bytes, bool deviceMustReach) {
    if (pointer == nullptr) {
        return because(cudaErrorInvalidValue,
                       [&] { return std::string(name) + " is a null pointer"; });
    }
    const std::optional<Allocation> allocation = findAllocation(pointer);
    if (!allocation && !deviceMustReach) return cudaSuccess;
    if (!allocation) {
        return because(cudaErrorInvalidValue,
                       [&] { return std::string(name) + " is " + hostMemoryAt(pointer); });
    }
    // The heap of kernels is out of reach for the calls of the host.
    const bool ofKernel =
        allocation->kind == MemoryKind::Kernel || allocation->kind == MemoryKind::KernelHeap;
    if (ofKernel && deviceMustReach) {
        return because(cudaErrorInvalidValue, [&] {
            return std::string(name) +
                   " was allocated by a kernel, which the calls of the host cannot reach";
        });
    }
    const size_t offset = offsetIn(*allocation, pointer);
    if (bytes <= allocation->size - offset) return cudaSuccess;
    // Registered memory goes on as ordinary host memory.
    if (allocation->kind == MemoryKind::Registered && !deviceMustReach) return cudaSuccess;
    return because(cudaErrorInvalidValue, [&] {
        return std::string(name) + " has " + emu::bytes(allocation->size - offset) +
               (offset == 0 ? "" : " from this pointer to its end") + "; the call asks for " +
               number(bytes);
    });
}

void freeAllMemory() {
    for (const Allocation& allocation : removeAllocations(kOwned)) {
        unreserve(allocation);
        giveBackMemory(allocation);
    }
    removeAllocations({MemoryKind::Registered});
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
        cudaError_t error = refuseInCapture();
        if (error == cudaSuccess) error = waitedFailure();
        if (error != cudaSuccess) return error;
        return hostWaited(release(pointer, {MemoryKind::Device, MemoryKind::Managed}));
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
        if (device == nullptr || flags != 0) return cudaErrorInvalidValue;
        if (!findHostMemory(host)) return because(cudaErrorInvalidValue, kNotPageLocked);
        *device = host;
        return cudaSuccess;
    });
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* host) {
    return hostApi(__func__, [&] {
        const std::optional<Allocation> allocation = findHostMemory(host);
        if (flags == nullptr) return cudaErrorInvalidValue;
        if (!allocation) return because(cudaErrorInvalidValue, kNotPageLocked);
        // With unified addressing all host memory of the runtime is mapped.
        *flags = allocation->flags | cudaHostAllocMapped;
        return cudaSuccess;
    });
}

// ---- Questions ----------------------------------------------------------------------------------

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
    return hostApi(__func__, [&] {
        Account& known = account();
        const std::lock_guard<std::mutex> lock(known.mutex);
        if (free != nullptr) *free = std::min(freeBytes(known), totalMemory());
        if (total != nullptr) *total = totalMemory();
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
