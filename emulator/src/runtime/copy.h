// Copies and fills of bytes in one to three dimensions: checked against the allocations that they
// touch, then carried out.
#pragma once

#include <cstddef>

#include "emu/runtime_types.h"

namespace emu {

// A box of bytes: `depth` slices of `height` rows of `width` bytes.
struct Box {
    size_t width = 0;
    size_t height = 1;
    size_t depth = 1;

    bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

// Where the rows and slices of a box are; both distances in bytes.
struct Layout {
    void* pointer = nullptr;
    size_t pitch = 0;  // from row to row
    size_t slice = 0;  // from slice to slice

    char* row(size_t y, size_t z) const {
        return static_cast<char*>(pointer) + z * slice + y * pitch;
    }
};

struct Copy {
    Layout dst, src;
    Box box;
    cudaMemcpyKind kind = cudaMemcpyDefault;
    bool byKernel = false;  // kernels may also copy what they allocated with malloc()
    bool byName = false;    // of a variable, as cudaMemcpyToSymbol() does
};

struct Fill {
    Layout dst;
    Box box;
    unsigned value = 0;
    unsigned elementSize = 1;  // bytes: 1, 2 or 4
    bool byKernel = false;
};

Copy linearCopy(void* dst, const void* src, size_t count, cudaMemcpyKind kind);

// From arguments of the API, which they check as far as these concern shapes and pitches.
cudaError_t toCopy(const cudaMemcpy3DParms* params, Copy* copy);
cudaError_t toFill(const cudaMemsetParams* params, Fill* fill);

// Whether pointers, sizes and direction fit the allocations: cudaSuccess, cudaErrorInvalidValue or
// cudaErrorInvalidMemcpyDirection.
cudaError_t check(const Copy& copy);
cudaError_t check(const Fill& fill);

cudaError_t checkAndRun(const Copy& copy);
cudaError_t checkAndRun(const Fill& fill);

// In the order of `stream`; the second form waits, as cudaMemcpy() does.
cudaError_t submitAsync(const Copy& copy, cudaStream_t stream);
cudaError_t submitSync(const Copy& copy);

}  // namespace emu
