#pragma once
// Owners of what this exercise reads images from: rows in linear memory, CUDA arrays, and the
// texture and surface objects of these. Each frees what it has when it goes out of scope.

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

#include "check.cuh"

// Rows of floats in linear memory, as a kernel gets them.
struct PitchedImage {
    const float* pixels;
    std::size_t pitch;  // floats from row to row
    int width, height;
};

// cudaMallocPitch() begins each row at a multiple of 512 bytes.
class PitchedMemory {
  public:
    PitchedMemory(const std::vector<float>& pixels, int width, int height) {
        const std::size_t rowBytes = width * sizeof(float);
        CUDA_CHECK(cudaMallocPitch(&memory_, &pitch_, rowBytes, height));
        CUDA_CHECK(cudaMemcpy2D(memory_, pitch_, pixels.data(), rowBytes, rowBytes, height,
                                cudaMemcpyHostToDevice));
        image_ = {memory_, pitch_ / sizeof(float), width, height};
    }
    ~PitchedMemory() { cudaFree(memory_); }
    PitchedMemory(const PitchedMemory&) = delete;
    PitchedMemory& operator=(const PitchedMemory&) = delete;

    const PitchedImage& image() const { return image_; }

    // For a texture that knows rows, and for one that knows elements alone.
    cudaResourceDesc resource() const {
        cudaResourceDesc resource = {};
        resource.resType = cudaResourceTypePitch2D;
        resource.res.pitch2D.devPtr = memory_;
        resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
        resource.res.pitch2D.width = image_.width;
        resource.res.pitch2D.height = image_.height;
        resource.res.pitch2D.pitchInBytes = pitch_;
        return resource;
    }
    cudaResourceDesc linear() const {
        cudaResourceDesc resource = {};
        resource.resType = cudaResourceTypeLinear;
        resource.res.linear.devPtr = memory_;
        resource.res.linear.desc = cudaCreateChannelDesc<float>();
        resource.res.linear.sizeInBytes = pitch_ * image_.height;
        return resource;
    }

  private:
    float* memory_ = nullptr;
    std::size_t pitch_ = 0;  // bytes
    PitchedImage image_;
};

// A CUDA array. The GPU orders its texels so that neighbours in a column lie close together, too.
class ArrayMemory {
  public:
    // `flags` say what it is for beside textures.
    ArrayMemory(const std::vector<float>& pixels, int width, int height, unsigned flags)
        : width_(width), height_(height) {
        const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
        CUDA_CHECK(cudaMallocArray(&array_, &channels, width, height, flags));
        CUDA_CHECK(cudaMemcpy2DToArray(array_, 0, 0, pixels.data(), rowBytes(), rowBytes(), height,
                                       cudaMemcpyHostToDevice));
    }
    ~ArrayMemory() { cudaFreeArray(array_); }
    ArrayMemory(const ArrayMemory&) = delete;
    ArrayMemory& operator=(const ArrayMemory&) = delete;

    cudaResourceDesc resource() const {
        cudaResourceDesc resource = {};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array_;
        return resource;
    }
    // From rows in device memory, in the default stream; the host does not wait.
    void copyFrom(const float* rows) const {
        CUDA_CHECK(cudaMemcpy2DToArrayAsync(array_, 0, 0, rows, rowBytes(), rowBytes(), height_,
                                            cudaMemcpyDeviceToDevice));
    }
    std::vector<float> toHost() const {
        std::vector<float> pixels(std::size_t(width_) * height_);
        CUDA_CHECK(cudaMemcpy2DFromArray(pixels.data(), rowBytes(), array_, 0, 0, rowBytes(),
                                         height_, cudaMemcpyDeviceToHost));
        return pixels;
    }

  private:
    std::size_t rowBytes() const { return width_ * sizeof(float); }

    cudaArray_t array_ = nullptr;
    int width_, height_;
};

// A texture object: a resource, and how to read it.
class Texture {
  public:
    Texture(const cudaResourceDesc& resource, cudaTextureFilterMode filter,
            cudaTextureAddressMode address, bool normalised) {
        cudaTextureDesc description = {};
        description.addressMode[0] = description.addressMode[1] = address;
        description.filterMode = filter;
        description.readMode = cudaReadModeElementType;
        description.normalizedCoords = normalised;
        CUDA_CHECK(cudaCreateTextureObject(&object_, &resource, &description, nullptr));
    }
    ~Texture() { cudaDestroyTextureObject(object_); }
    Texture(const Texture&) = delete;
    Texture& operator=(const Texture&) = delete;

    cudaTextureObject_t object() const { return object_; }

  private:
    cudaTextureObject_t object_ = 0;
};

class Surface {
  public:
    explicit Surface(const cudaResourceDesc& resource) {
        CUDA_CHECK(cudaCreateSurfaceObject(&object_, &resource));
    }
    ~Surface() { cudaDestroySurfaceObject(object_); }
    Surface(const Surface&) = delete;
    Surface& operator=(const Surface&) = delete;

    cudaSurfaceObject_t object() const { return object_; }

  private:
    cudaSurfaceObject_t object_ = 0;
};
