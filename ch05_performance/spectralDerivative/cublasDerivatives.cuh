#pragma once
// The derivatives of many elements as products of matrices, which cuBLAS computes.
// Without cuBLAS there is no row.

#include <climits>
#include <cstddef>
#include <vector>

#include "peers_cublas.cuh"

namespace lab {

#ifdef LAB_HAVE_CUBLAS

// Adds a row for the derivatives of `elements` cubes of n x n x n values along x (direction 0), y
// (1) and z (2). `columns` has the columns of an n x n matrix D, one behind the other. The
// derivative at i is the sum of D_ij u_j over the line. Each of `directions` writes its part of
// `gradient`, which is all of du/dx, then all of du/dy, then all of du/dz. `check` judges the
// result.
inline void cublasDerivatives(Ladder& ladder, const Name& name, const Work& work,
                              const Check& check, const float* u, const float* columns,
                              float* gradient, std::size_t n, std::size_t elements,
                              const std::vector<unsigned>& directions) {
    if (n > INT_MAX || elements * n > INT_MAX / n) return;  // the number of rows is an int
    const int side = static_cast<int>(n), square = side * side, count = static_cast<int>(elements);
    const long long slab = square, cube = slab * side;
    const CublasHandle handle;
    const float one = 1, zero = 0;
    ladder.peer(name, work, check, [&] {
        for (const unsigned direction : directions) {
            float* const out = gradient + direction * elements * n * n * n;
            if (direction == 0) {  // all rows of all elements times D': one product
                CUBLAS_CHECK(cublasSgemm(handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, side,
                                         square * count, side, &one, columns, side, u, side, &zero,
                                         out, side));
            } else if (direction == 1) {  // D times each plane
                CUBLAS_CHECK(cublasSgemmStridedBatched(
                    handle.get(), CUBLAS_OP_N, CUBLAS_OP_T, side, side, side, &one, u, side, slab,
                    columns, side, 0, &zero, out, side, slab, side * count));
            } else {  // D times each element, as a matrix of n rows with n^2 columns
                CUBLAS_CHECK(cublasSgemmStridedBatched(
                    handle.get(), CUBLAS_OP_N, CUBLAS_OP_T, square, side, side, &one, u, square,
                    cube, columns, side, 0, &zero, out, square, cube, count));
            }
        }
    });
}

#else

inline void cublasDerivatives(Ladder&, const Name&, const Work&, const Check&, const float*,
                              const float*, float*, std::size_t, std::size_t,
                              const std::vector<unsigned>&) {}

#endif

}  // namespace lab
