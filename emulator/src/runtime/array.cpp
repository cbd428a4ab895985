// CUDA arrays: their allocation, and copies to and from them.
#include "array.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>

#include "emu/api/textures.h"
#include "engine/number_text.h"
#include "error.h"
#include "handles.h"
#include "image_limits.h"
#include "memory.h"

namespace emu {
namespace {

struct Arrays {
    std::mutex mutex;
    HandleTable<cudaArray_t, const Array> known;
};

Arrays& arrays() {
    static Arrays& instance = *new Arrays;  // never destroyed: used by static destructors
    return instance;
}

cudaError_t noSuchArray() {
    return because(cudaErrorInvalidResourceHandle, "no array has this handle");
}

// ---- Allocation ---------------------------------------------------------------------------------

bool fits(const cudaExtent& extent, const ImageLimits& limits) {
    return extent.width <= limits.width && extent.height <= limits.height &&
           extent.depth <= limits.depth;
}

cudaError_t checkExtent(const cudaExtent& extent, unsigned flags) {
    const bool layered = (flags & cudaArrayLayered) != 0;
    const bool noPlane = extent.height == 0 && extent.depth != 0 && !layered;
    if (extent.width == 0 || noPlane || (layered && extent.depth == 0)) {
        return because(cudaErrorInvalidValue,
                       "an array has a width, a height if it has a depth, and a depth if it has "
                       "layers");
    }
    const bool gathers = (flags & cudaArrayTextureGather) != 0;
    if (gathers && (extent.height == 0 || extent.depth != 0)) {
        return because(cudaErrorInvalidValue, "tex2Dgather() is for arrays of two dimensions");
    }
    const ImageLimits& limits = limitsOf(extent, flags);
    if (fits(extent, limits)) return cudaSuccess;
    return because(cudaErrorInvalidValue, [&] {
        return "an array of " + number(extent.width) + " x " + number(extent.height) + " x " +
               number(extent.depth) + "; the most is " + number(limits.width) + " x " +
               number(limits.height) + " x " + number(limits.depth);
    });
}

cudaError_t describe(const cudaChannelFormatDesc& format, const cudaExtent& extent, unsigned flags,
                     Array* array) {
    constexpr unsigned kKnown =
        cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayTextureGather;
    if ((flags & ~kKnown) != 0) {
        return because(cudaErrorInvalidValue,
                       "the flags must be of cudaArrayLayered, cudaArraySurfaceLoadStore and "
                       "cudaArrayTextureGather: there are no others here");
    }
    cudaError_t error = checkFormat(format);
    if (error == cudaSuccess) error = checkExtent(extent, flags);
    if (error != cudaSuccess) return error;
    Image& image = array->image;
    image.format = format;
    image.width = extent.width;
    image.height = extent.height;
    ((flags & cudaArrayLayered) != 0 ? image.layers : image.depth) = extent.depth;
    image.pitch = extent.width * image.elementBytes();
    image.slice = image.pitch * std::max<size_t>(extent.height, 1);
    array->extent = extent;
    array->flags = flags;
    return cudaSuccess;
}

cudaError_t allocateArray(cudaArray_t* handle, const cudaChannelFormatDesc* format,
                          const cudaExtent& extent, unsigned flags) {
    if (handle == nullptr || format == nullptr) return cudaErrorInvalidValue;
    Array array;
    cudaError_t error = describe(*format, extent, flags, &array);
    if (error != cudaSuccess) return error;
    void* memory = nullptr;
    const size_t bytes = array.image.slice * std::max<size_t>(extent.depth, 1);
    error = allocate(&memory, {nullptr, bytes, MemoryKind::Device});
    if (error != cudaSuccess) return error;
    array.image.base = static_cast<unsigned char*>(memory);
    Arrays& all = arrays();
    const std::lock_guard<std::mutex> lock(all.mutex);
    *handle = all.known.insert(std::make_shared<const Array>(array));
    return cudaSuccess;
}

cudaError_t freeArray(cudaArray_t handle) {
    if (handle == nullptr) return cudaSuccess;
    Arrays& all = arrays();
    std::shared_ptr<const Array> array;
    {
        const std::lock_guard<std::mutex> lock(all.mutex);
        array = all.known.remove(handle);
    }
    return array ? release(array->image.base, {MemoryKind::Device}) : noSuchArray();
}

// ---- Copies -------------------------------------------------------------------------------------

cudaError_t layoutIn(cudaArray_const_t handle, size_t x, size_t y, const Box& box, Layout* layout) {
    const std::optional<Array> array = findArray(handle);
    if (!array) return noSuchArray();
    return toLayout(*array, {x, y, 0}, box, layout);
}

// `away`: the directions that do not go where the array is.
cudaError_t checkWay(cudaMemcpyKind kind, cudaMemcpyKind away) {
    if (kind != cudaMemcpyHostToHost && kind != away) return cudaSuccess;
    return because(cudaErrorInvalidMemcpyDirection, "an array is memory of the device");
}

cudaError_t tooWide(size_t width, size_t pitch) {
    return because(cudaErrorInvalidPitchValue, [=] {
        return "rows of " + bytes(width) + " that begin every " + bytes(pitch) +
               ": width and pitch are in bytes";
    });
}

Layout rows(const void* pointer, size_t pitch) {
    return {const_cast<void*>(pointer), pitch, 0};
}

cudaError_t toArray(cudaArray_t dst, size_t x, size_t y, const void* src, size_t pitch,
                    const Box& box, cudaMemcpyKind kind, Copy* copy) {
    *copy = Copy{{}, rows(src, pitch), box, kind};
    if (box.width > pitch && !box.empty()) return tooWide(box.width, pitch);
    const cudaError_t error = checkWay(kind, cudaMemcpyDeviceToHost);
    return error != cudaSuccess ? error : layoutIn(dst, x, y, box, &copy->dst);
}

cudaError_t fromArray(void* dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y,
                      const Box& box, cudaMemcpyKind kind, Copy* copy) {
    *copy = Copy{rows(dst, pitch), {}, box, kind};
    if (box.width > pitch && !box.empty()) return tooWide(box.width, pitch);
    const cudaError_t error = checkWay(kind, cudaMemcpyHostToDevice);
    return error != cudaSuccess ? error : layoutIn(src, x, y, box, &copy->src);
}

// The place from which `count` bytes lie row after row. (Rows follow each other without a gap.)
cudaError_t lineIn(cudaArray_const_t handle, size_t x, size_t y, size_t count, void** place) {
    const std::optional<Array> array = findArray(handle);
    if (!array) return noSuchArray();
    const Image& image = array->image;
    const size_t begin = y * image.pitch + x;
    if (x >= image.pitch || begin > image.slice || count > image.slice - begin) {
        return because(cudaErrorInvalidValue, [&] {
            return bytes(count) + " from byte " + number(x) + " of row " + number(y) +
                   " on do not fit into an array of " + bytes(image.slice);
        });
    }
    *place = image.base + begin;
    return cudaSuccess;
}

}  // namespace

std::optional<Array> findArray(cudaArray_const_t handle) {
    Arrays& all = arrays();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.known.find(const_cast<cudaArray_t>(handle));
    return found ? std::optional<Array>(*found) : std::nullopt;
}

cudaError_t checkFormat(const cudaChannelFormatDesc& format) {
    const int bits[] = {format.x, format.y, format.z, format.w};
    const auto channels = std::count_if(bits, bits + 4, [](int b) { return b != 0; });
    const bool inFront = std::all_of(bits, bits + channels, [&](int b) { return b == format.x; });
    const bool isFloat = format.f == cudaChannelFormatKindFloat;
    const bool sizeFits = (format.x == 8 && !isFloat) || format.x == 16 || format.x == 32;
    const bool kindFits = isFloat || format.f == cudaChannelFormatKindSigned ||
                          format.f == cudaChannelFormatKindUnsigned;
    if ((channels == 1 || channels == 2 || channels == 4) && inFront && sizeFits && kindFits) {
        return cudaSuccess;
    }
    return because(
        cudaErrorInvalidChannelDescriptor,
        "an element has 1, 2 or 4 channels, all of 8, 16 or 32 bits (a float: 16 or 32)");
}

cudaError_t toLayout(const Array& array, const cudaPos& position, const Box& box, Layout* layout) {
    const Image& image = array.image;
    if (box.empty()) return cudaSuccess;
    const size_t height = std::max<size_t>(image.height, 1);
    const size_t depth = std::max<size_t>(array.extent.depth, 1);
    const auto inside = [](size_t from, size_t count, size_t limit) {
        return count <= limit && from <= limit - count;
    };
    if (!inside(position.x, box.width, image.pitch) || !inside(position.y, box.height, height) ||
        !inside(position.z, box.depth, depth)) {
        return because(cudaErrorInvalidValue, [&] {
            return "the copy reaches beyond the array, which has " + number(height) + " rows of " +
                   bytes(image.pitch);
        });
    }
    *layout = {image.base + position.x + position.y * image.pitch + position.z * image.slice,
               image.pitch, image.slice};
    return cudaSuccess;
}

void forgetArrays() {
    Arrays& all = arrays();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.known.clear();
}

}  // namespace emu

using namespace emu;

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, size_t width,
                            size_t height, unsigned int flags) {
    return hostApi(__func__, [&] { return allocateArray(array, desc, {width, height, 0}, flags); });
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc,
                              cudaExtent extent, unsigned int flags) {
    return hostApi(__func__, [&] { return allocateArray(array, desc, extent, flags); });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
    return hostApi(__func__, [&] { return freeArray(array); });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned int* flags,
                             cudaArray_t array) {
    return hostApi(__func__, [&] {
        const std::optional<Array> found = findArray(array);
        if (!found) return noSuchArray();
        if (desc != nullptr) *desc = found->image.format;
        if (extent != nullptr) *extent = found->extent;
        if (flags != nullptr) *flags = found->flags;
        return cudaSuccess;
    });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t array) {
    return hostApi(__func__, [&] {
        const std::optional<Array> found = findArray(array);
        if (!found) return noSuchArray();
        if (desc == nullptr) return cudaErrorInvalidValue;
        *desc = found->image.format;
        return cudaSuccess;
    });
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src,
                                size_t spitch, size_t width, size_t height, cudaMemcpyKind kind) {
    return hostApi(__func__, [&] {
        Copy copy;
        const cudaError_t error =
            toArray(dst, wOffset, hOffset, src, spitch, {width, height, 1}, kind, &copy);
        return error != cudaSuccess ? error : submitSync(copy);
    });
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset,
                                     const void* src, size_t spitch, size_t width, size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
    return hostApi(__func__, [&] {
        Copy copy;
        const cudaError_t error =
            toArray(dst, wOffset, hOffset, src, spitch, {width, height, 1}, kind, &copy);
        return error != cudaSuccess ? error : submitAsync(copy, stream);
    });
}

cudaError_t cudaMemcpy2DFromArray(void* dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                                  size_t hOffset, size_t width, size_t height,
                                  cudaMemcpyKind kind) {
    return hostApi(__func__, [&] {
        Copy copy;
        const cudaError_t error =
            fromArray(dst, dpitch, src, wOffset, hOffset, {width, height, 1}, kind, &copy);
        return error != cudaSuccess ? error : submitSync(copy);
    });
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* dst, size_t dpitch, cudaArray_const_t src,
                                       size_t wOffset, size_t hOffset, size_t width, size_t height,
                                       cudaMemcpyKind kind, cudaStream_t stream) {
    return hostApi(__func__, [&] {
        Copy copy;
        const cudaError_t error =
            fromArray(dst, dpitch, src, wOffset, hOffset, {width, height, 1}, kind, &copy);
        return error != cudaSuccess ? error : submitAsync(copy, stream);
    });
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                     cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc,
                                     size_t width, size_t height, cudaMemcpyKind kind) {
    return hostApi(__func__, [&] {
        Copy copy{{}, {}, {width, height, 1}, kind};
        cudaError_t error = layoutIn(dst, wOffsetDst, hOffsetDst, copy.box, &copy.dst);
        if (error == cudaSuccess) {
            error = layoutIn(src, wOffsetSrc, hOffsetSrc, copy.box, &copy.src);
        }
        return error != cudaSuccess ? error : submitSync(copy);
    });
}

cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src,
                              size_t count, cudaMemcpyKind kind) {
    return hostApi(__func__, [&] {
        void* place = nullptr;
        const cudaError_t error = lineIn(dst, wOffset, hOffset, count, &place);
        return error != cudaSuccess ? error : submitSync(linearCopy(place, src, count, kind));
    });
}

cudaError_t cudaMemcpyFromArray(void* dst, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                size_t count, cudaMemcpyKind kind) {
    return hostApi(__func__, [&] {
        void* place = nullptr;
        const cudaError_t error = lineIn(src, wOffset, hOffset, count, &place);
        return error != cudaSuccess ? error : submitSync(linearCopy(dst, place, count, kind));
    });
}
