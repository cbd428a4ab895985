// CUDA arrays: what other files of the runtime need of them.
#pragma once

#include <optional>

#include "copy.h"
#include "emu/runtime_types.h"
#include "engine/textures.h"

namespace emu {

struct Array {
    Image image;
    cudaExtent extent;  // as it was asked for
    unsigned flags;
};

// The array of this handle, if there is one.
std::optional<Array> findArray(cudaArray_const_t handle);

// cudaErrorInvalidChannelDescriptor unless textures may have such elements.
cudaError_t checkFormat(const cudaChannelFormatDesc& format);

// The box of an array that begins at `position`, in bytes, and is that large; cudaErrorInvalidValue
// unless it lies within the array.
cudaError_t toLayout(const Array& array, const cudaPos& position, const Box& box, Layout* layout);

// Frees all arrays.
void forgetArrays();

}  // namespace emu
