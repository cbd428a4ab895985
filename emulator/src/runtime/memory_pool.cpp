// Allocation in the order of a stream, and the memory pool that it takes from: the default one,
// which is the only one.
#include "memory_pool.h"

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "emu/api/memory.h"
#include "error.h"
#include "memory.h"
#include "stream.h"

namespace emu {
namespace {

// Kept to be read again: they have no effect here.
struct PoolSettings {
    std::array<int, 3> reuse{1, 1, 1};  // the three policies
    uint64_t releaseThreshold = 0;      // bytes
};

struct Pool {
    std::mutex mutex;
    PoolSettings settings;
};

Pool& thePool() {
    static Pool& instance = *new Pool;
    return instance;
}

cudaMemPool_t defaultPool() {
    return reinterpret_cast<cudaMemPool_t>(&thePool());
}

// One of the attributes that are an int; the others are 64 bits wide.
bool isReusePolicy(cudaMemPoolAttr attribute) {
    return attribute >= cudaMemPoolReuseFollowEventDependencies &&
           attribute <= cudaMemPoolReuseAllowInternalDependencies;
}
size_t reuseIndex(cudaMemPoolAttr attribute) {
    return static_cast<size_t>(attribute - cudaMemPoolReuseFollowEventDependencies);
}

cudaError_t setPoolNumber(PoolSettings& settings, cudaMemPoolAttr attribute, uint64_t value) {
    if (attribute == cudaMemPoolAttrReleaseThreshold) {
        settings.releaseThreshold = value;
        return cudaSuccess;
    }
    const bool reserved = attribute == cudaMemPoolAttrReservedMemHigh;
    const bool highMark = reserved || attribute == cudaMemPoolAttrUsedMemHigh;
    if (!highMark || value != 0) return cudaErrorInvalidValue;  // a mark can only be set back
    resetHigh(reserved ? &MemoryUse::reservedHigh : &MemoryUse::usedHigh);
    return cudaSuccess;
}

cudaError_t poolNumber(const PoolSettings& settings, cudaMemPoolAttr attribute, uint64_t* value) {
    switch (attribute) {
        case cudaMemPoolAttrReleaseThreshold:
            *value = settings.releaseThreshold;
            return cudaSuccess;
        case cudaMemPoolAttrReservedMemCurrent:
        case cudaMemPoolAttrUsedMemCurrent:
            *value = memoryUse().pooled;
            return cudaSuccess;
        case cudaMemPoolAttrReservedMemHigh:
            *value = memoryUse().reservedHigh;
            return cudaSuccess;
        case cudaMemPoolAttrUsedMemHigh:
            *value = memoryUse().usedHigh;
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
        if (found == nullptr) return noSuchHandle("stream");
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
    const cudaError_t error = checkDevice(device);
    return error == cudaSuccess && pool == nullptr ? cudaErrorInvalidValue : error;
}

}  // namespace

void resetMemoryPool() {
    Pool& pool = thePool();
    const std::lock_guard<std::mutex> lock(pool.mutex);
    pool.settings = {};
    resetHigh(&MemoryUse::reservedHigh);
    resetHigh(&MemoryUse::usedHigh);
}

}  // namespace emu

using namespace emu;

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
        const cudaError_t error = checkDevice(device);
        if (error != cudaSuccess) return error;
        return pool == defaultPool() ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    return hostApi(__func__, [&] {
        if (pool != defaultPool() || value == nullptr) return cudaErrorInvalidValue;
        Pool& known = thePool();
        const std::lock_guard<std::mutex> lock(known.mutex);
        if (!isReusePolicy(attribute)) {
            return setPoolNumber(known.settings, attribute, *static_cast<const uint64_t*>(value));
        }
        known.settings.reuse[reuseIndex(attribute)] = *static_cast<const int*>(value);
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    return hostApi(__func__, [&] {
        if (pool != defaultPool() || value == nullptr) return cudaErrorInvalidValue;
        Pool& known = thePool();
        const std::lock_guard<std::mutex> lock(known.mutex);
        if (!isReusePolicy(attribute)) {
            return poolNumber(known.settings, attribute, static_cast<uint64_t*>(value));
        }
        *static_cast<int*>(value) = known.settings.reuse[reuseIndex(attribute)];
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
    return hostApi(__func__,
                   [&] { return pool == defaultPool() ? cudaSuccess : cudaErrorInvalidValue; });
}
