// Hints for managed memory. There is one memory, so they have no effect but to be read again.
#include <algorithm>
#include <optional>

#include "emu/api/memory.h"
#include "engine/allocations.h"
#include "error.h"
#include "memory.h"
#include "stream.h"

namespace emu {
namespace {

// The managed allocation that contains `count` bytes from `pointer` on.
std::optional<Allocation> findManaged(const void* pointer, size_t count) {
    const std::optional<Allocation> allocation = findAllocation(pointer);
    if (!allocation || !allocation->managed() || count == 0) {
        (void)because(cudaErrorInvalidValue, count == 0 ? "0 bytes are asked for"
                                                        : "the pointer is no managed memory, which "
                                                          "cudaMallocManaged() allocates");
        return std::nullopt;
    }
    if (checkRange("the memory", pointer, count, true) != cudaSuccess) return std::nullopt;
    return allocation;
}

// The number that stands for a location: a device, or cudaCpuDeviceId.
cudaError_t toDeviceNumber(const cudaMemLocation& location, int* device) {
    switch (location.type) {
        case cudaMemLocationTypeDevice:
            *device = 0;
            return location.id == 0 ? cudaSuccess : cudaErrorInvalidDevice;
        case cudaMemLocationTypeHost:
        case cudaMemLocationTypeHostNuma:
        case cudaMemLocationTypeHostNumaCurrent:
            *device = cudaCpuDeviceId;
            return cudaSuccess;
        default:
            return cudaErrorInvalidValue;
    }
}

cudaMemLocation toLocation(int device) {
    if (device == cudaCpuDeviceId) return {cudaMemLocationTypeHost, 0};
    return {cudaMemLocationTypeDevice, device};
}

cudaError_t prefetch(const void* pointer, size_t count, const cudaMemLocation& location,
                     cudaStream_t stream) {
    int device = 0;
    const std::optional<Allocation> allocation = findManaged(pointer, count);
    if (!allocation) return cudaErrorInvalidValue;
    const cudaError_t error = toDeviceNumber(location, &device);
    if (error != cudaSuccess) return error;
    return submitNode(stream, cudaGraphNodeTypeEmpty, [base = allocation->base, pointer, device] {
        std::optional<Allocation> current = findAllocation(pointer);
        if (!current) return cudaErrorInvalidValue;
        current->hints.lastPrefetch = device;
        setHints(base, current->hints);
        return cudaSuccess;
    });
}

cudaError_t apply(cudaMemoryAdvise advice, int device, ManagedHints* hints) {
    bool& accessed = device == cudaCpuDeviceId ? hints->accessedByHost : hints->accessedByDevice;
    switch (advice) {
        case cudaMemAdviseSetReadMostly:
        case cudaMemAdviseUnsetReadMostly:
            hints->readMostly = advice == cudaMemAdviseSetReadMostly;
            return cudaSuccess;
        case cudaMemAdviseSetPreferredLocation:
            hints->preferred = device;
            return cudaSuccess;
        case cudaMemAdviseUnsetPreferredLocation:
            hints->preferred = cudaInvalidDeviceId;
            return cudaSuccess;
        case cudaMemAdviseSetAccessedBy:
        case cudaMemAdviseUnsetAccessedBy:
            accessed = advice == cudaMemAdviseSetAccessedBy;
            return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

cudaError_t advise(const void* pointer, size_t count, cudaMemoryAdvise advice,
                   const cudaMemLocation& location) {
    std::optional<Allocation> allocation = findManaged(pointer, count);
    if (!allocation) return cudaErrorInvalidValue;
    // These ignore the location, which may then be anything.
    const bool placeless = advice == cudaMemAdviseSetReadMostly ||
                           advice == cudaMemAdviseUnsetReadMostly ||
                           advice == cudaMemAdviseUnsetPreferredLocation;
    int device = 0;
    if (!placeless && toDeviceNumber(location, &device) != cudaSuccess) {
        return cudaErrorInvalidValue;
    }
    const cudaError_t error = apply(advice, device, &allocation->hints);
    if (error == cudaSuccess) setHints(allocation->base, allocation->hints);
    return error;
}

cudaError_t rangeAttribute(int* data, size_t dataSize, cudaMemRangeAttribute attribute,
                           const void* pointer, size_t count) {
    const std::optional<Allocation> allocation = findManaged(pointer, count);
    if (data == nullptr || dataSize == 0 || dataSize % sizeof(int) != 0 || !allocation) {
        return cudaErrorInvalidValue;
    }
    const ManagedHints& hints = allocation->hints;
    if (attribute == cudaMemRangeAttributeAccessedBy) {
        // A list of devices, filled up with cudaInvalidDeviceId.
        int* const end = data + dataSize / sizeof(int);
        std::fill(data, end, cudaInvalidDeviceId);
        if (hints.accessedByDevice) *data++ = 0;
        if (hints.accessedByHost && data != end) *data = cudaCpuDeviceId;
        return cudaSuccess;
    }
    if (dataSize != sizeof(int)) return cudaErrorInvalidValue;
    switch (attribute) {
        case cudaMemRangeAttributeReadMostly:
            *data = hints.readMostly ? 1 : 0;
            return cudaSuccess;
        case cudaMemRangeAttributePreferredLocation:
            *data = hints.preferred;
            return cudaSuccess;
        case cudaMemRangeAttributeLastPrefetchLocation:
            *data = hints.lastPrefetch;
            return cudaSuccess;
        default:
            return cudaErrorInvalidValue;
    }
}

}  // namespace
}  // namespace emu

using namespace emu;

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t count, cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream) {
    return hostApi(__func__, [&] {
        return flags != 0 ? cudaErrorInvalidValue : prefetch(pointer, count, location, stream);
    });
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t count, int device,
                                 cudaStream_t stream) {
    return cudaMemPrefetchAsync(pointer, count, toLocation(device), 0, stream);
}

cudaError_t cudaMemAdvise(const void* pointer, size_t count, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
    return hostApi(__func__, [&] { return advise(pointer, count, advice, location); });
}

cudaError_t cudaMemAdvise(const void* pointer, size_t count, cudaMemoryAdvise advice, int device) {
    return cudaMemAdvise(pointer, count, advice, toLocation(device));
}

cudaError_t cudaMemRangeGetAttribute(void* data, size_t dataSize, cudaMemRangeAttribute attribute,
                                     const void* pointer, size_t count) {
    return hostApi(__func__, [&] {
        return rangeAttribute(static_cast<int*>(data), dataSize, attribute, pointer, count);
    });
}
