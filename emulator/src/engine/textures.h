// Texture and surface objects: the table of them, which the runtime fills in, and what kernels read
// and write through them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "emu/runtime_types.h"

namespace emu {

// Elements in rows, slices and layers, as an object refers to them.
struct Image {
    unsigned char* base = nullptr;
    size_t width = 0;              // elements
    size_t height = 0, depth = 0;  // 0: it has no such dimension
    size_t layers = 0;             // 0: it has none
    size_t pitch = 0, slice = 0;   // bytes from row to row, and from slice to slice or layer
    cudaChannelFormatDesc format = {};

    unsigned channels() const {
        return (format.x != 0) + (format.y != 0) + (format.z != 0) + (format.w != 0);
    }
    unsigned channelBytes() const { return static_cast<unsigned>(format.x) / 8; }
    unsigned elementBytes() const { return channels() * channelBytes(); }
};

struct ImageObject {
    Image image;
    cudaResourceDesc resource;
    cudaTextureDesc description;  // of a texture
    bool isSurface;
    bool mayGather;  // the array was made for tex2Dgather()
};

// Returns the handle of a new object, or 0 if there are too many.
uint64_t addImageObject(std::unique_ptr<const ImageObject> object);
// The object of this handle, or nullptr. It lives until it is removed.
const ImageObject* findImageObject(uint64_t handle, bool isSurface);
bool removeImageObject(uint64_t handle, bool isSurface);
void removeImageObjects();

// The memory that a thread uses in one call of a texture or surface function.
struct TexelAccess {
    static constexpr unsigned kMost = 8;  // texels of a linear filter in three dimensions
    uintptr_t texel[kMost];
    unsigned count = 0;  // 0: it has only met what lies outside
    uint32_t bytes = 0;  // of each texel
    bool isSurface = false;
    bool isStore = false;
    uintptr_t pc = 0;  // of the call
};

}  // namespace emu
