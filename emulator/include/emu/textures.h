// Texture and surface functions of kernels. The engine computes what they give (engine/textures.h).
#pragma once

#include "emu/channels.h"

namespace emu {

enum class Shape { Line, Plane, Volume, Lines, Planes };  // the last two have layers

// Where a texture is read: coordinates, and the layer.
struct TexturePoint {
    float x, y, z;
    int layer;
};
// The same of a surface, whose x counts bytes.
struct SurfacePoint {
    int x, y, z;
    int layer;
    cudaSurfaceBoundaryMode mode;
};

// What a texture gives: for each channel the 32 bits of a float or of an integer.
struct Texel {
    unsigned channel[4];
};

Texel fetchTexel(cudaTextureObject_t texture, int index);
Texel sampleTexture(cudaTextureObject_t texture, Shape shape, const TexturePoint& point);
Texel gatherTexels(cudaTextureObject_t texture, float x, float y, int component);
void readSurface(void* value, unsigned bytes, cudaSurfaceObject_t surface, Shape shape,
                 const SurfacePoint& point);
void writeSurface(const void* value, unsigned bytes, cudaSurfaceObject_t surface, Shape shape,
                  const SurfacePoint& point);

template <class T, class Channel = typename ChannelsOf<T>::Type>
T fromTexel(const Texel& texel) {
    Channel channels[ChannelsOf<T>::kCount];
    for (int i = 0; i < ChannelsOf<T>::kCount; ++i) {
        // (The processor is little endian: a narrow integer is the low bits.)
        (__builtin_memcpy)(&channels[i], &texel.channel[i], sizeof(Channel));
    }
    T value;
    (__builtin_memcpy)(&value, channels, sizeof(T));
    return value;
}

template <class T>
constexpr bool kFitsSurface =
    sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16;

}  // namespace emu

// Each function has two forms: it returns what it reads, or stores it at a pointer.
#define EMU_LIST(...) __VA_ARGS__
#define EMU_TEXTURE_FUNCTION(NAME, PARAMETERS, ARGUMENTS, READ)             \
    template <class T, class = typename emu::ChannelsOf<T>::Type>           \
    T NAME(cudaTextureObject_t texture, EMU_LIST PARAMETERS) {              \
        return emu::fromTexel<T>(READ);                                     \
    }                                                                       \
    template <class T, class = typename emu::ChannelsOf<T>::Type>           \
    void NAME(T* value, cudaTextureObject_t texture, EMU_LIST PARAMETERS) { \
        *value = NAME<T>(texture, EMU_LIST ARGUMENTS);                      \
    }

EMU_TEXTURE_FUNCTION(tex1Dfetch, (int x), (x), emu::fetchTexel(texture, x))
EMU_TEXTURE_FUNCTION(tex1D, (float x), (x),
                     emu::sampleTexture(texture, emu::Shape::Line, {x, 0, 0, 0}))
EMU_TEXTURE_FUNCTION(tex2D, (float x, float y), (x, y),
                     emu::sampleTexture(texture, emu::Shape::Plane, {x, y, 0, 0}))
EMU_TEXTURE_FUNCTION(tex3D, (float x, float y, float z), (x, y, z),
                     emu::sampleTexture(texture, emu::Shape::Volume, {x, y, z, 0}))
EMU_TEXTURE_FUNCTION(tex1DLayered, (float x, int layer), (x, layer),
                     emu::sampleTexture(texture, emu::Shape::Lines, {x, 0, 0, layer}))
EMU_TEXTURE_FUNCTION(tex2DLayered, (float x, float y, int layer), (x, y, layer),
                     emu::sampleTexture(texture, emu::Shape::Planes, {x, y, 0, layer}))
EMU_TEXTURE_FUNCTION(tex2Dgather, (float x, float y, int component = 0), (x, y, component),
                     emu::gatherTexels(texture, x, y, component))
#undef EMU_TEXTURE_FUNCTION

#define EMU_SURFACE_FUNCTIONS(PREFIX, PARAMETERS, ARGUMENTS, SHAPE, POINT)                       \
    template <class T>                                                                           \
    T PREFIX##read(cudaSurfaceObject_t surface, EMU_LIST PARAMETERS,                             \
                   cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                        \
        static_assert(emu::kFitsSurface<T>, "a surface holds values of 1, 2, 4, 8 or 16 bytes"); \
        T value;                                                                                 \
        emu::readSurface(&value, sizeof(T), surface, SHAPE, {EMU_LIST POINT, mode});             \
        return value;                                                                            \
    }                                                                                            \
    template <class T>                                                                           \
    void PREFIX##read(T* value, cudaSurfaceObject_t surface, EMU_LIST PARAMETERS,                \
                      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                     \
        *value = PREFIX##read<T>(surface, EMU_LIST ARGUMENTS, mode);                             \
    }                                                                                            \
    template <class T>                                                                           \
    void PREFIX##write(T value, cudaSurfaceObject_t surface, EMU_LIST PARAMETERS,                \
                       cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                    \
        static_assert(emu::kFitsSurface<T>, "a surface holds values of 1, 2, 4, 8 or 16 bytes"); \
        emu::writeSurface(&value, sizeof(T), surface, SHAPE, {EMU_LIST POINT, mode});            \
    }

EMU_SURFACE_FUNCTIONS(surf1D, (int x), (x), emu::Shape::Line, (x, 0, 0, 0))
EMU_SURFACE_FUNCTIONS(surf2D, (int x, int y), (x, y), emu::Shape::Plane, (x, y, 0, 0))
EMU_SURFACE_FUNCTIONS(surf3D, (int x, int y, int z), (x, y, z), emu::Shape::Volume, (x, y, z, 0))
EMU_SURFACE_FUNCTIONS(surf1DLayered, (int x, int layer), (x, layer), emu::Shape::Lines,
                      (x, 0, 0, layer))
EMU_SURFACE_FUNCTIONS(surf2DLayered, (int x, int y, int layer), (x, y, layer), emu::Shape::Planes,
                      (x, y, 0, layer))
#undef EMU_SURFACE_FUNCTIONS
#undef EMU_LIST
