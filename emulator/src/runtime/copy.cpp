// Copies and fills.
#include "copy.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "array.h"
#include "capture.h"
#include "emu/api/memory.h"
#include "engine/allocations.h"
#include "engine/guarded_memory.h"
#include "engine/number_text.h"
#include "engine/program_symbols.h"
#include "engine/scheduler.h"
#include "engine/watcher.h"
#include "error.h"
#include "fresh_copies.h"
#include "memory.h"
#include "stream.h"
#include "trace.h"

namespace emu {
namespace {

// Bytes from the first to behind the last byte of `box`. Returns false if no memory is that large.
bool extentOf(const Layout& layout, const Box& box, size_t* bytes) {
    size_t slices = 0, rows = 0;
    return !__builtin_mul_overflow(box.depth - 1, layout.slice, &slices) &&
           !__builtin_mul_overflow(box.height - 1, layout.pitch, &rows) &&
           !__builtin_add_overflow(slices, rows, bytes) &&
           !__builtin_add_overflow(*bytes, box.width, bytes);
}

cudaError_t checkLayout(const char* name, const Layout& layout, const Box& box,
                        bool deviceMustReach) {
    size_t bytes = 0;
    if (!extentOf(layout, box, &bytes)) {
        return because(cudaErrorInvalidValue, "no memory is as large as the call asks for");
    }
    return checkRange(name, layout.pointer, bytes, deviceMustReach);
}

BytesSeen seen(const Layout& layout, const Box& box, bool byName = false) {
    return {reinterpret_cast<uintptr_t>(layout.pointer),
            box.width,
            box.height,
            box.depth,
            layout.pitch,
            layout.slice,
            byName};
}

// The host's own memory, page-locked or not.
bool isOfHost(const void* pointer) {
    const std::optional<Allocation> allocation = findAllocation(pointer);
    return !allocation || allocation->kind == MemoryKind::Pinned ||
           allocation->kind == MemoryKind::Registered;
}

// As nsys has them.
const char* nameOf(const Copy& copy) {
    const bool fromHost = isOfHost(copy.src.pointer), toHost = isOfHost(copy.dst.pointer);
    if (fromHost) return toHost ? "[CUDA memcpy Host-to-Host]" : "[CUDA memcpy Host-to-Device]";
    return toHost ? "[CUDA memcpy Device-to-Host]" : "[CUDA memcpy Device-to-Device]";
}
const char* nameOf(const Fill&) {
    return "[CUDA memset]";
}

// Tells the hazard check of a row that is about to be copied. Returns whether none of it was
// written.
bool watchRow(const Copy& copy, const char* to, const char* from, bool toHost) {
    const size_t bytes = copy.box.width;
    const std::vector<uint8_t> unwritten = unwrittenBits(from, bytes);
    markCopied(to, bytes, unwritten);
    if (toHost) watcher->copiedToHost(to, from, bytes, unwritten);
    return countOnes(unwritten) == bytes;
}

void run(const Copy& copy) {
    const bool watched = guardAllocations && watcher != nullptr;
    const bool toHost = !copy.byKernel && isOfHost(copy.dst.pointer);
    const DeviceMemoryAccess access;  // for who watches, too
    if (watched) {
        const BytesSeen read = seen(copy.src, copy.box, copy.byName);
        watcher->transferRuns(&read, seen(copy.dst, copy.box, copy.byName));
    }
    bool noneWritten = watched && !copy.byKernel;
    for (size_t z = 0; z < copy.box.depth; ++z) {
        for (size_t y = 0; y < copy.box.height; ++y) {
            char *to = copy.dst.row(y, z), *from = copy.src.row(y, z);
            if (watched && !watchRow(copy, to, from, toHost)) noneWritten = false;
            // Overlapping ranges are undefined in CUDA, but no reason to corrupt them here.
            std::memmove(to, from, copy.box.width);
        }
    }
    if (noneWritten) {
        watcher->unwrittenCopied(copy.src.pointer,
                                 copy.box.width * copy.box.height * copy.box.depth);
    }
    if (toHost && !watched) noteFreshCopied(copy.src, copy.box);
}

void fillRow(char* row, const Fill& fill) {
    if (fill.elementSize == 1) {
        std::memset(row, static_cast<int>(fill.value), fill.box.width);
        return;
    }
    for (size_t x = 0; x < fill.box.width; x += fill.elementSize) {
        std::memcpy(row + x, &fill.value, fill.elementSize);  // the low bytes: little endian
    }
}

void run(const Fill& fill) {
    if (guardAllocations && watcher != nullptr) {
        const BytesSeen written = seen(fill.dst, fill.box);
        watcher->transferRuns(nullptr, written);
        if (fill.elementSize == 1) watcher->bytesFilled(written, fill.value & 0xff);
    }
    const DeviceMemoryAccess access;
    for (size_t z = 0; z < fill.box.depth; ++z) {
        for (size_t y = 0; y < fill.box.height; ++y) {
            char* const row = fill.dst.row(y, z);
            fillRow(row, fill);
            if (guardAllocations) markWritten(row, fill.box.width);
        }
    }
}

template <typename Transfer>
cudaError_t checkThenRun(const Transfer& transfer) {
    const cudaError_t error = check(transfer);
    if (error != cudaSuccess || transfer.box.empty()) return error;
    std::optional<TracedWork> traced;
    if (!transfer.byKernel) traced.emplace(nameOf(transfer));  // else it is a part of its kernel
    run(transfer);
    return cudaSuccess;
}

bool isPageable(const void* pointer) {
    return isOfHost(pointer) && !findAllocation(pointer);
}

void tellCopy(const Copy& copy, bool asynchronous) {
    if (watcher == nullptr || inDevice()) return;
    const void *to = copy.dst.pointer, *from = copy.src.pointer;
    watcher->copyCalled({copy.box.width * copy.box.height * copy.box.depth, isOfHost(from),
                         isOfHost(to), asynchronous, isPageable(from) || isPageable(to)});
}

// CUDA's asynchronous form returns only when a copy is complete that goes from host to host, or
// from the device to memory that is not page-locked.
cudaError_t waitIfCompleteAtReturn(cudaStream_t stream, const Copy& copy) {
    const void* to = copy.dst.pointer;
    if (!isOfHost(to)) return cudaSuccess;
    if (isOfHost(copy.src.pointer)) return waitForStream(stream);
    return findAllocation(to) ? cudaSuccess : copyReturns(stream, seen(copy.dst, copy.box));
}
cudaError_t waitIfCompleteAtReturn(cudaStream_t, const Fill&) {
    return cudaSuccess;
}

template <typename Transfer>
cudaError_t submitTransfer(cudaStream_t stream, cudaGraphNodeType type, Transfer transfer) {
    transfer.byKernel = inDevice();
    const bool later = mayRunLater();
    cudaError_t error = later ? check(transfer) : cudaSuccess;
    if (error != cudaSuccess) return error;
    error = submitNode(stream, type, [transfer] { return checkAndRun(transfer); });
    return error == cudaSuccess && !later ? waitIfCompleteAtReturn(stream, transfer) : error;
}

cudaError_t submitAsync(const Fill& fill, cudaStream_t stream) {
    return submitTransfer(stream, cudaGraphNodeTypeMemset, fill);
}

// What waits does so in the default stream, which captures may forbid.
constexpr cudaStream_t kDefaultStream = nullptr;

cudaError_t refuseSync() {
    if (!anyCapture()) return cudaSuccess;
    const std::lock_guard<std::mutex> lock(handleMutex());
    const cudaError_t error = findStream(kDefaultStream)->legacy ? refuseLegacy() : cudaSuccess;
    return error != cudaSuccess ? error : refuseUnsafe();
}

// The host waits for a fill of memory that it can reach, and for no other.
cudaError_t submitSync(const Fill& fill) {
    cudaError_t error = refuseSync();
    if (error == cudaSuccess) error = submitAsync(fill, kDefaultStream);
    if (error != cudaSuccess) return error;
    const std::optional<Allocation> allocation = findAllocation(fill.dst.pointer);
    const bool waits = allocation && (allocation->managed() || isOfHost(fill.dst.pointer));
    return waits ? waitForStream(kDefaultStream) : cudaSuccess;
}

Layout layoutOf(const void* pointer, size_t pitch = 0, size_t slice = 0) {
    return {const_cast<void*>(pointer), pitch, slice};
}

cudaError_t toCopy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                     size_t height, cudaMemcpyKind kind, Copy* copy) {
    *copy = Copy{layoutOf(dst, dpitch), layoutOf(src, spitch), {width, height, 1}, kind};
    const bool tooWide = width > dpitch || width > spitch;
    if (!tooWide || copy->box.empty()) return cudaSuccess;
    return because(cudaErrorInvalidPitchValue, [=] {
        return "rows of " + bytes(width) + ", but the " +
               (width > dpitch ? "destination's" : "source's") + " begin every " +
               bytes(width > dpitch ? dpitch : spitch) + ": width and both pitches are in bytes";
    });
}

// The part of `pointer` that begins at `position`.
cudaError_t toLayout(const cudaPitchedPtr& pointer, const cudaPos& position,
                     const cudaExtent& extent, Layout* layout) {
    if (pointer.ptr == nullptr) return cudaErrorInvalidValue;
    if (extent.width > pointer.pitch || extent.height > pointer.ysize) {
        return cudaErrorInvalidPitchValue;
    }
    size_t slice = 0, begin = 0;
    if (position.x > pointer.pitch - extent.width || position.y > pointer.ysize - extent.height ||
        __builtin_mul_overflow(pointer.pitch, pointer.ysize, &slice) ||
        __builtin_mul_overflow(position.z, slice, &begin) ||
        __builtin_add_overflow(begin, position.y * pointer.pitch + position.x, &begin)) {
        return cudaErrorInvalidValue;
    }
    *layout = layoutOf(static_cast<const char*>(pointer.ptr) + begin, pointer.pitch, slice);
    return cudaSuccess;
}

const char* nameOf(cudaMemcpyKind kind) {
    switch (kind) {
        case cudaMemcpyHostToHost:
            return "cudaMemcpyHostToHost";
        case cudaMemcpyHostToDevice:
            return "cudaMemcpyHostToDevice";
        case cudaMemcpyDeviceToHost:
            return "cudaMemcpyDeviceToHost";
        case cudaMemcpyDeviceToDevice:
            return "cudaMemcpyDeviceToDevice";
        case cudaMemcpyDefault:
            break;
    }
    return "cudaMemcpyDefault";
}

// The host's own memory, which no call of CUDA knows.
bool isPlainHost(const void* pointer) {
    return pointer != nullptr && !findAllocation(pointer) &&
           imagePartOf(pointer) == ImagePart::None;
}

// The direction of the copy names the device where a pointer is plain memory of the host.
std::string whyWrongWay(const Copy& copy) {
    const bool hostTo = isPlainHost(copy.dst.pointer), hostFrom = isPlainHost(copy.src.pointer);
    const std::string kind = std::string(nameOf(copy.kind)) + " does not fit: ";
    if (hostTo && hostFrom) return kind + "source and destination are both memory of the host";
    const char* const sides = hostTo ? "the destination is memory of the host, the source is not"
                                     : "the source is memory of the host, the destination is not";
    return kind + sides + ": swap the pointers, or use " +
           (hostTo ? "cudaMemcpyDeviceToHost" : "cudaMemcpyHostToDevice");
}

// One side of a copy with an array: that array, or a pointer.
cudaError_t toSide(cudaArray_const_t handle, const cudaPitchedPtr& pointer, cudaPos position,
                   const Box& box, size_t elementBytes, Layout* layout) {
    if (handle == nullptr) {
        return toLayout(pointer, position, {box.width, box.height, box.depth}, layout);
    }
    if (pointer.ptr != nullptr) {
        return because(cudaErrorInvalidValue, "an array and a pointer are given for one side");
    }
    position.x *= elementBytes;
    const std::optional<Array> array = findArray(handle);
    return array ? toLayout(*array, position, box, layout) : cudaErrorInvalidValue;
}

// Where an array takes part, the extent counts its elements.
cudaError_t toArrayCopy(const cudaMemcpy3DParms& params, Copy* copy) {
    const bool toArray = params.dstArray != nullptr;
    const std::optional<Array> array = findArray(toArray ? params.dstArray : params.srcArray);
    if (!array) return because(cudaErrorInvalidValue, "no array has this handle");
    const size_t elementBytes = array->image.elementBytes();
    if (__builtin_mul_overflow(copy->box.width, elementBytes, &copy->box.width)) {
        return cudaErrorInvalidValue;
    }
    const cudaError_t error =
        toSide(params.dstArray, params.dstPtr, params.dstPos, copy->box, elementBytes, &copy->dst);
    if (error != cudaSuccess) return error;
    return toSide(params.srcArray, params.srcPtr, params.srcPos, copy->box, elementBytes,
                  &copy->src);
}

Fill toFill2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
    return Fill{layoutOf(pointer, pitch), {width, height, 1}, static_cast<unsigned>(value)};
}

Fill toFill3D(const cudaPitchedPtr& pointer, int value, const cudaExtent& extent) {
    return Fill{layoutOf(pointer.ptr, pointer.pitch, pointer.pitch * pointer.ysize),
                {extent.width, extent.height, extent.depth},
                static_cast<unsigned>(value)};
}

cudaError_t checkPeers(int dstDevice, int srcDevice) {
    const cudaError_t error = checkDevice(dstDevice);
    return error == cudaSuccess ? checkDevice(srcDevice) : error;
}

}  // namespace

Copy linearCopy(void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
    return Copy{layoutOf(dst), layoutOf(src), {count, 1, 1}, kind};
}

cudaError_t toCopy(const cudaMemcpy3DParms* params, Copy* copy) {
    if (params == nullptr) return cudaErrorInvalidValue;
    const cudaExtent& extent = params->extent;
    *copy = Copy{{}, {}, {extent.width, extent.height, extent.depth}, params->kind};
    if (copy->box.empty()) return cudaSuccess;
    if (params->srcArray != nullptr || params->dstArray != nullptr) {
        return toArrayCopy(*params, copy);
    }
    const cudaError_t error = toLayout(params->dstPtr, params->dstPos, extent, &copy->dst);
    if (error != cudaSuccess) return error;
    return toLayout(params->srcPtr, params->srcPos, extent, &copy->src);
}

cudaError_t toFill(const cudaMemsetParams* params, Fill* fill) {
    if (params == nullptr) return cudaErrorInvalidValue;
    const unsigned size = params->elementSize;
    size_t width = 0;
    if ((size != 1 && size != 2 && size != 4) ||
        __builtin_mul_overflow(params->width, size_t{size}, &width)) {
        return cudaErrorInvalidValue;
    }
    *fill =
        Fill{layoutOf(params->dst, params->pitch), {width, params->height, 1}, params->value, size};
    return cudaSuccess;
}

cudaError_t check(const Copy& copy) {
    if (copy.box.empty()) return cudaSuccess;
    if (copy.kind < cudaMemcpyHostToHost || copy.kind > cudaMemcpyDefault) {
        return because(cudaErrorInvalidMemcpyDirection, "the last argument names no direction");
    }
    // Of a direction CUDA checks only that the device reaches what it calls the device's side.
    const bool toDevice =
        copy.kind == cudaMemcpyHostToDevice || copy.kind == cudaMemcpyDeviceToDevice;
    const bool fromDevice =
        copy.kind == cudaMemcpyDeviceToHost || copy.kind == cudaMemcpyDeviceToDevice;
    cudaError_t error =
        checkLayout("the destination", copy.dst, copy.box, toDevice && !copy.byKernel);
    if (error == cudaSuccess) {
        error = checkLayout("the source", copy.src, copy.box, fromDevice && !copy.byKernel);
    }
    const bool isWrongWay = error != cudaSuccess && !copy.byKernel &&
                            ((toDevice && isPlainHost(copy.dst.pointer)) ||
                             (fromDevice && isPlainHost(copy.src.pointer)));
    return isWrongWay ? because(error, [&] { return whyWrongWay(copy); }) : error;
}

cudaError_t check(const Fill& fill) {
    const Box& box = fill.box;
    if (box.empty()) return cudaSuccess;
    const bool rowsOverlap = (box.height > 1 || box.depth > 1) && box.width > fill.dst.pitch;
    const bool slicesOverlap = box.depth > 1 && box.height * fill.dst.pitch > fill.dst.slice;
    if (rowsOverlap || slicesOverlap) {
        return because(cudaErrorInvalidValue, [&] {
            return "rows of " + bytes(box.width) + " that begin every " + bytes(fill.dst.pitch) +
                   " would overlap";
        });
    }
    return checkLayout("the memory to be filled", fill.dst, box, !fill.byKernel);
}

cudaError_t checkAndRun(const Copy& copy) {
    return checkThenRun(copy);
}
cudaError_t checkAndRun(const Fill& fill) {
    return checkThenRun(fill);
}

cudaError_t submitAsync(const Copy& copy, cudaStream_t stream) {
    tellCopy(copy, true);
    return submitTransfer(stream, cudaGraphNodeTypeMemcpy, copy);
}

cudaError_t submitSync(const Copy& copy) {
    cudaError_t error = refuseSync();
    tellCopy(copy, false);
    if (error == cudaSuccess) error = submitTransfer(kDefaultStream, cudaGraphNodeTypeMemcpy, copy);
    return error == cudaSuccess ? waitForStream(kDefaultStream) : error;
}

}  // namespace emu

using namespace emu;

cudaError_t cudaMemcpy(void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
    return hostApi(__func__, [&] { return submitSync(linearCopy(dst, src, count, kind)); });
}

cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t count, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    return api([&] { return submitAsync(linearCopy(dst, src, count, kind), stream); });
}

cudaError_t cudaMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                         size_t height, cudaMemcpyKind kind) {
    return hostApi(__func__, [&] {
        Copy copy;
        const cudaError_t error = toCopy2D(dst, dpitch, src, spitch, width, height, kind, &copy);
        return error != cudaSuccess ? error : submitSync(copy);
    });
}

cudaError_t cudaMemcpy2DAsync(void* dst, size_t dpitch, const void* src, size_t spitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
    return api([&] {
        Copy copy;
        const cudaError_t error = toCopy2D(dst, dpitch, src, spitch, width, height, kind, &copy);
        return error != cudaSuccess ? error : submitAsync(copy, stream);
    });
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* params) {
    return hostApi(__func__, [&] {
        Copy copy;
        const cudaError_t error = toCopy(params, &copy);
        return error != cudaSuccess ? error : submitSync(copy);
    });
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* params, cudaStream_t stream) {
    return api([&] {
        Copy copy;
        const cudaError_t error = toCopy(params, &copy);
        return error != cudaSuccess ? error : submitAsync(copy, stream);
    });
}

cudaError_t cudaMemcpyPeer(void* dst, int dstDevice, const void* src, int srcDevice, size_t count) {
    return hostApi(__func__, [&] {
        const cudaError_t error = checkPeers(dstDevice, srcDevice);
        if (error != cudaSuccess) return error;
        return submitSync(linearCopy(dst, src, count, cudaMemcpyDeviceToDevice));
    });
}

cudaError_t cudaMemcpyPeerAsync(void* dst, int dstDevice, const void* src, int srcDevice,
                                size_t count, cudaStream_t stream) {
    return hostApi(__func__, [&] {
        const cudaError_t error = checkPeers(dstDevice, srcDevice);
        if (error != cudaSuccess) return error;
        return submitAsync(linearCopy(dst, src, count, cudaMemcpyDeviceToDevice), stream);
    });
}

cudaError_t cudaMemset(void* pointer, int value, size_t count) {
    return hostApi(__func__, [&] { return submitSync(toFill2D(pointer, 0, value, count, 1)); });
}

cudaError_t cudaMemsetAsync(void* pointer, int value, size_t count, cudaStream_t stream) {
    return api([&] { return submitAsync(toFill2D(pointer, 0, value, count, 1), stream); });
}

cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
    return hostApi(__func__,
                   [&] { return submitSync(toFill2D(pointer, pitch, value, width, height)); });
}

cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
    return api([&] { return submitAsync(toFill2D(pointer, pitch, value, width, height), stream); });
}

cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent) {
    return hostApi(__func__, [&] { return submitSync(toFill3D(pointer, value, extent)); });
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr pointer, int value, cudaExtent extent,
                              cudaStream_t stream) {
    return api([&] { return submitAsync(toFill3D(pointer, value, extent), stream); });
}
