#pragma once
// Lets cuBLAS compute a x + b y for memoryBound, for arrays in device memory. Without cuBLAS there
// is no row.

#include <climits>
#include <cstddef>

#include "peers_cublas.cuh"

namespace lab {

#ifdef LAB_HAVE_CUBLAS

// y = a * x + b * y for `count` elements in one call. The arrays are matrices of 4096 columns, or
// of one column if `count` is not a multiple of 4096. `check` looks at y.
inline void cublasWeightedSum(Ladder& ladder, const Check& check, float a, const float* x, float b,
                              float* y, std::size_t count) {
    const int columns = count % 4096 == 0 ? 4096 : 1;
    if (count / columns > INT_MAX) return;
    const int rows = static_cast<int>(count / columns);
    const CublasHandle handle;
    ladder.peer("cublasSgeam", lab::bytes(3.0 * sizeof(float) * count), check, [&] {
        CUBLAS_CHECK(cublasSgeam(handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, rows, columns, &a, x, rows,
                                 &b, y, rows, y, rows));
    });
}

// The same in two calls: y = b * y, then y = a * x + y.
inline void cublasScaleAndAdd(Ladder& ladder, const Check& check, float a, const float* x, float b,
                              float* y, std::size_t count) {
    if (count > INT_MAX) return;
    const int n = static_cast<int>(count);
    const CublasHandle handle;
    ladder.peer("cublasSscal+Saxpy", lab::bytes(5.0 * sizeof(float) * count), check, [&] {
        CUBLAS_CHECK(cublasSscal(handle.get(), n, &b, y, 1));
        CUBLAS_CHECK(cublasSaxpy(handle.get(), n, &a, x, 1, y, 1));
    });
}

#else

template <typename... Ignored>
void cublasWeightedSum(const Ignored&...) {}
template <typename... Ignored>
void cublasScaleAndAdd(const Ignored&...) {}

#endif

}  // namespace lab
