// The largest textures and surfaces, as an H200 has them.
#pragma once

#include <cstddef>

#include "emu/runtime_types.h"

namespace emu {

struct ImageLimits {
    size_t width, height, depth;  // elements; the depth also counts layers
};

constexpr ImageLimits kMaxTexture1D{131072, 0, 0};
constexpr ImageLimits kMaxTexture2D{131072, 65536, 0};
constexpr ImageLimits kMaxTexture3D{16384, 16384, 16384};
constexpr ImageLimits kMaxTexture3DDeep{8192, 8192, 32768};  // either may be used up
constexpr ImageLimits kMaxTextureGather{32768, 32768, 0};
constexpr ImageLimits kMaxTexture1DLayered{32768, 0, 2048};
constexpr ImageLimits kMaxTexture2DLayered{32768, 32768, 2048};
constexpr ImageLimits kMaxSurface1D{32768, 0, 0};

constexpr size_t kMaxLinearBytes = size_t{1} << 32;
constexpr ImageLimits kMaxPitchedTexture{131072, 65000, 0};
constexpr size_t kMaxTexturePitch = 2097120;  // bytes

constexpr size_t kTextureAlignment = 512;      // bytes
constexpr size_t kTexturePitchAlignment = 32;  // bytes

// Of an array with this extent and these flags.
inline const ImageLimits& limitsOf(const cudaExtent& extent, unsigned flags) {
    if ((flags & cudaArrayTextureGather) != 0) return kMaxTextureGather;
    if ((flags & cudaArrayLayered) != 0) {
        return extent.height != 0 ? kMaxTexture2DLayered : kMaxTexture1DLayered;
    }
    if (extent.depth > kMaxTexture3D.depth) return kMaxTexture3DDeep;
    if (extent.depth != 0) return kMaxTexture3D;
    if (extent.height != 0) return kMaxTexture2D;
    return (flags & cudaArraySurfaceLoadStore) != 0 ? kMaxSurface1D : kMaxTexture1D;
}

}  // namespace emu
