// The one kernel of compileTargets. CMake compiles this file once for each target, with LAB_TARGET
// as the target's name and LAB_CODE as what to make of it: the source is the same, the code is
// not.

#include "compileTargets.h"

#define LAB_TEXT(word) LAB_TEXT_OF(word)
#define LAB_TEXT_OF(word) #word

namespace {

// Also says which architecture its code was made for: __CUDA_ARCH__ is 900 for 9.0, and stays that
// of the PTX when a driver goes on to compile that for a newer GPU.
__global__ void mixBits(const int* in, int* out, int* compiledFor, std::size_t size) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= size) return;

    out[i] = mixed(in[i]);
#ifdef __CUDA_ARCH__
    if (i == 0) *compiledFor = __CUDA_ARCH__ / 10;
#endif
}

cudaError_t attributes(cudaFuncAttributes* found) {
    return cudaFuncGetAttributes(found, mixBits);
}

void launch(unsigned grid, unsigned block, const int* in, int* out, int* compiledFor,
            std::size_t size) {
    mixBits<<<grid, block>>>(in, out, compiledFor, size);
}

}  // namespace

const Target LAB_TARGET = {LAB_TEXT(LAB_TARGET), LAB_CODE, attributes, launch};
