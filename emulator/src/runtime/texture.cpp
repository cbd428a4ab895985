// Texture objects and surface objects.
#include <cstdint>
#include <memory>
#include <utility>

#include "array.h"
#include "emu/api/textures.h"
#include "engine/number_text.h"
#include "engine/textures.h"
#include "error.h"
#include "image_limits.h"
#include "memory.h"

namespace emu {
namespace {

// ---- What an object refers to -------------------------------------------------------------------

cudaError_t toImage(cudaArray_t handle, ImageObject* object) {
    const std::optional<Array> array = findArray(handle);
    if (!array) return because(cudaErrorInvalidResourceHandle, "no array has this handle");
    object->image = array->image;
    object->mayGather = (array->flags & cudaArrayTextureGather) != 0;
    return cudaSuccess;
}

// CUDA looks at where the memory begins, and not at how much there is.
cudaError_t checkMemory(const void* pointer) {
    const size_t beyond = reinterpret_cast<uintptr_t>(pointer) % kTextureAlignment;
    if (beyond != 0) {
        return because(cudaErrorInvalidValue, [=] {
            return "the memory of a texture begins at a multiple of " + bytes(kTextureAlignment) +
                   ", this one " + bytes(beyond) + " behind one";
        });
    }
    return checkRange("the texture's memory", pointer, 1, true);
}

cudaError_t toLinear(const cudaResourceDesc& resource, Image* image) {
    const auto& linear = resource.res.linear;
    const cudaError_t error = checkFormat(linear.desc);
    if (error != cudaSuccess) return error;
    image->base = static_cast<unsigned char*>(linear.devPtr);
    image->format = linear.desc;
    image->width = linear.sizeInBytes / image->elementBytes();
    if (linear.sizeInBytes > kMaxLinearBytes) {
        return because(cudaErrorInvalidValue, [&] {
            return bytes(linear.sizeInBytes) + "; a texture of linear memory has at most " +
                   bytes(kMaxLinearBytes);
        });
    }
    return checkMemory(linear.devPtr);
}

cudaError_t toPitched(const cudaResourceDesc& resource, Image* image) {
    const auto& rows = resource.res.pitch2D;
    const cudaError_t error = checkFormat(rows.desc);
    if (error != cudaSuccess) return error;
    image->base = static_cast<unsigned char*>(rows.devPtr);
    image->format = rows.desc;
    image->width = rows.width;
    image->height = rows.height;
    image->pitch = rows.pitchInBytes;
    if (rows.width == 0 || rows.height == 0 || rows.width > kMaxPitchedTexture.width ||
        rows.height > kMaxPitchedTexture.height || rows.pitchInBytes > kMaxTexturePitch) {
        return because(cudaErrorInvalidValue, "the width, the height or the pitch is out of range");
    }
    if (rows.pitchInBytes % kTexturePitchAlignment != 0) {
        return because(cudaErrorInvalidValue, [&] {
            return "a pitch of " + bytes(rows.pitchInBytes) + ": it must be a multiple of " +
                   bytes(kTexturePitchAlignment) + ", as that of cudaMallocPitch() is";
        });
    }
    return checkMemory(rows.devPtr);
}

cudaError_t toImage(const cudaResourceDesc& resource, ImageObject* object) {
    switch (resource.resType) {
        case cudaResourceTypeArray:
            return toImage(resource.res.array.array, object);
        case cudaResourceTypeLinear:
            if (!object->isSurface) return toLinear(resource, &object->image);
            break;
        case cudaResourceTypePitch2D:
            if (!object->isSurface) return toPitched(resource, &object->image);
            break;
        case cudaResourceTypeMipmappedArray:
            return because(cudaErrorNotSupported, "the cpu back end has no mipmapped arrays");
    }
    return because(cudaErrorInvalidValue, "a surface object is one of an array");
}

// ---- How a texture is read ----------------------------------------------------------------------

bool areModes(const cudaTextureDesc& description) {
    for (const cudaTextureAddressMode mode : description.addressMode) {
        if (mode < cudaAddressModeWrap || mode > cudaAddressModeBorder) return false;
    }
    return description.filterMode == cudaFilterModePoint ||
           description.filterMode == cudaFilterModeLinear;
}

cudaError_t checkDescription(const cudaTextureDesc& description, const ImageObject& object) {
    const cudaChannelFormatDesc& format = object.image.format;
    const bool isFloat = format.f == cudaChannelFormatKindFloat;
    const bool normalised = description.readMode == cudaReadModeNormalizedFloat;
    if (!areModes(description)) {
        return because(cudaErrorInvalidValue, "no address mode or filter mode has this number");
    }
    if (description.sRGB != 0 && format.x == 8 && !isFloat) {
        return because(cudaErrorNotSupported, "the cpu back end has no sRGB textures");
    }
    if (description.filterMode == cudaFilterModeLinear && !isFloat &&
        (!normalised || format.x == 32)) {
        return because(cudaErrorInvalidFilterSetting,
                       "a linear filter gives floats: integers of 8 and 16 bits need "
                       "cudaReadModeNormalizedFloat, those of 32 bits have no filter");
    }
    if (normalised && format.x == 32) {
        return because(cudaErrorInvalidNormSetting,
                       "cudaReadModeNormalizedFloat is for integers of 8 and 16 bits");
    }
    return cudaSuccess;
}

cudaError_t createTexture(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                          const cudaTextureDesc* description, const cudaResourceViewDesc* view) {
    if (texture == nullptr || resource == nullptr) return cudaErrorInvalidValue;
    if (description == nullptr) return cudaErrorInvalidResourceHandle;
    if (view != nullptr) {
        return because(cudaErrorNotSupported, "the cpu back end has no views of arrays");
    }
    auto object = std::make_unique<ImageObject>();
    object->resource = *resource;
    object->description = *description;
    cudaError_t error = toImage(*resource, object.get());
    if (error == cudaSuccess) error = checkDescription(*description, *object);
    if (error != cudaSuccess) return error;
    *texture = addImageObject(std::move(object));
    return *texture != 0 ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t createSurface(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource) {
    if (surface == nullptr || resource == nullptr) return cudaErrorInvalidValue;
    auto object = std::make_unique<ImageObject>();
    object->resource = *resource;
    object->isSurface = true;
    const cudaError_t error = toImage(*resource, object.get());
    if (error != cudaSuccess) return error;
    *surface = addImageObject(std::move(object));
    return *surface != 0 ? cudaSuccess : cudaErrorMemoryAllocation;
}

// CUDA does not mind a handle of no object.
cudaError_t destroy(uint64_t handle, bool isSurface) {
    removeImageObject(handle, isSurface);
    return cudaSuccess;
}

template <class Answer, class Member>
cudaError_t ask(uint64_t handle, bool isSurface, Answer* answer, Member member) {
    const ImageObject* const object = findImageObject(handle, isSurface);
    if (object == nullptr) return because(cudaErrorInvalidValue, "no object has this handle");
    if (answer == nullptr) return cudaErrorInvalidValue;
    *answer = object->*member;
    return cudaSuccess;
}

}  // namespace
}  // namespace emu

using namespace emu;

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description,
                                    const cudaResourceViewDesc* view) {
    return hostApi(__func__, [&] { return createTexture(texture, resource, description, view); });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
    return hostApi(__func__, [&] { return destroy(texture, false); });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t texture) {
    return hostApi(__func__, [&] { return ask(texture, false, resource, &ImageObject::resource); });
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* description,
                                            cudaTextureObject_t texture) {
    return hostApi(__func__,
                   [&] { return ask(texture, false, description, &ImageObject::description); });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface,
                                    const cudaResourceDesc* resource) {
    return hostApi(__func__, [&] { return createSurface(surface, resource); });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
    return hostApi(__func__, [&] { return destroy(surface, true); });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t surface) {
    return hostApi(__func__, [&] { return ask(surface, true, resource, &ImageObject::resource); });
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* elements,
                                                 const cudaChannelFormatDesc* desc, int device) {
    return hostApi(__func__, [&] {
        if (elements == nullptr || desc == nullptr) return cudaErrorInvalidValue;
        cudaError_t error = checkDevice(device);
        if (error == cudaSuccess) error = checkFormat(*desc);
        if (error != cudaSuccess) return error;
        Image image;
        image.format = *desc;
        *elements = kMaxLinearBytes / image.elementBytes();
        return error;
    });
}
