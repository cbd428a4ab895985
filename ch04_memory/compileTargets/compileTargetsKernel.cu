// The kernel mixBits. CMake compiles this file once for each target. LAB_TARGET is the target's
// name, and LAB_CODE names the code that nvcc makes of the file.

#include "compileTargets.h"

#define LAB_TEXT(word) LAB_TEXT_OF(word)
#define LAB_TEXT_OF(word) #word

namespace {

// Also says which architecture its code was made for. __CUDA_ARCH__ is 900 for 9.0. It stays that
// of the PTX when the driver compiles the PTX for a newer GPU.
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

const LinkedTarget linked({LAB_TEXT(LAB_TARGET), LAB_CODE, attributes, launch});

}  // namespace
