#pragma once
// cuBLAS, in strict FP32 and in BF16. CMake defines LAB_HAVE_CUBLAS where it links the library;
// without it there is no row.

#include <climits>
#include <cstddef>
#include <vector>

#include "ladder.cuh"

#ifdef LAB_HAVE_CUBLAS

#include <cublas_v2.h>

#define CUBLAS_CHECK(call) ::lab::checkCublas((call), #call, __FILE__, __LINE__)

namespace lab {

inline void checkCublas(cublasStatus_t status, const char* what, const char* file, int line) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    quit(kExitFailure, "%s:%d: %s: %s: %s", file, line, what, cublasGetStatusName(status),
         cublasGetStatusString(status));
}

class CublasHandle {
  public:
    // By default no tensor cores (TF32) and no reduced precision: the arithmetic that exercises in
    // FP32 do.
    explicit CublasHandle(cublasMath_t math = CUBLAS_PEDANTIC_MATH) {
        CUBLAS_CHECK(cublasCreate(&handle_));
        CUBLAS_CHECK(cublasSetMathMode(handle_, math));
    }
    ~CublasHandle() { cublasDestroy(handle_); }
    CublasHandle(const CublasHandle&) = delete;
    CublasHandle& operator=(const CublasHandle&) = delete;
    cublasHandle_t get() const { return handle_; }

  private:
    cublasHandle_t handle_ = nullptr;
};

}  // namespace lab

#endif

namespace lab {

// All matrices are row-major and dense, in device memory; cuBLAS thinks column by column, so a
// row-major matrix is its transpose to it. Dimensions beyond an int give no row.

// output (columns x rows) = the transpose of input (rows x columns); `check` looks at output.
inline void cublasTranspose([[maybe_unused]] Ladder& ladder, [[maybe_unused]] const Check& check,
                            [[maybe_unused]] const float* input, [[maybe_unused]] float* output,
                            [[maybe_unused]] std::size_t rows,
                            [[maybe_unused]] std::size_t columns) {
#ifdef LAB_HAVE_CUBLAS
    if (rows > INT_MAX || columns > INT_MAX) return;
    const int m = static_cast<int>(rows), n = static_cast<int>(columns);
    const CublasHandle handle;
    const float one = 1, zero = 0;
    const Work moved = lab::bytes(2.0 * sizeof(float) * rows * columns);
    ladder.peer("cublasSgeam", moved, check, [&] {
        CUBLAS_CHECK(cublasSgeam(handle.get(), CUBLAS_OP_T, CUBLAS_OP_N, m, n, &one, input, n,
                                 &zero, output, m, output, m));
    });
#endif
}

// y = a * x + b * y of `count` elements in one pass, as matrices of one column, or of 4096 where
// that divides `count`; `check` looks at y.
inline void cublasWeightedSum([[maybe_unused]] Ladder& ladder, [[maybe_unused]] const Check& check,
                              [[maybe_unused]] float a, [[maybe_unused]] const float* x,
                              [[maybe_unused]] float b, [[maybe_unused]] float* y,
                              [[maybe_unused]] std::size_t count) {
#ifdef LAB_HAVE_CUBLAS
    const int columns = count % 4096 == 0 ? 4096 : 1;
    if (count / columns > INT_MAX) return;
    const int rows = static_cast<int>(count / columns);
    const CublasHandle handle;
    ladder.peer("cublasSgeam", lab::bytes(3.0 * sizeof(float) * count), check, [&] {
        CUBLAS_CHECK(cublasSgeam(handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, rows, columns, &a, x, rows,
                                 &b, y, rows, y, rows));
    });
#endif
}

// The same in two passes: y = b * y, then y = a * x + y.
inline void cublasScaleAndAdd([[maybe_unused]] Ladder& ladder, [[maybe_unused]] const Check& check,
                              [[maybe_unused]] float a, [[maybe_unused]] const float* x,
                              [[maybe_unused]] float b, [[maybe_unused]] float* y,
                              [[maybe_unused]] std::size_t count) {
#ifdef LAB_HAVE_CUBLAS
    if (count > INT_MAX) return;
    const int n = static_cast<int>(count);
    const CublasHandle handle;
    ladder.peer("cublasSscal+Saxpy", lab::bytes(5.0 * sizeof(float) * count), check, [&] {
        CUBLAS_CHECK(cublasSscal(handle.get(), n, &b, y, 1));
        CUBLAS_CHECK(cublasSaxpy(handle.get(), n, &a, x, 1, y, 1));
    });
#endif
}

// Which factor of a product is stored transposed: a as k x m, or b as n x k elements.
enum class Transposed { kNone, kA, kB };

// c (m x n) = a (m x k) * b (k x n); `check` looks at c.
inline void cublasMatmul([[maybe_unused]] Ladder& ladder, [[maybe_unused]] const Check& check,
                         [[maybe_unused]] const float* a, [[maybe_unused]] const float* b,
                         [[maybe_unused]] float* c, [[maybe_unused]] std::size_t m,
                         [[maybe_unused]] std::size_t n, [[maybe_unused]] std::size_t k,
                         [[maybe_unused]] Transposed transposed = Transposed::kNone) {
#ifdef LAB_HAVE_CUBLAS
    if (m > INT_MAX || n > INT_MAX || k > INT_MAX) return;
    const int rows = static_cast<int>(m), columns = static_cast<int>(n),
              inner = static_cast<int>(k);
    const bool aT = transposed == Transposed::kA, bT = transposed == Transposed::kB;
    const cublasOperation_t opA = aT ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t opB = bT ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int pitchA = aT ? rows : inner, pitchB = bT ? inner : columns;
    const char* const name = aT ? "cublasSgemm A^T" : bT ? "cublasSgemm B^T" : "cublasSgemm";
    const CublasHandle handle;
    const float one = 1, zero = 0;
    const Work work = lab::flops(2.0 * m * n * k);
    ladder.peer(name, work, check, [&] {  // the transposes: c' = b' * a'
        CUBLAS_CHECK(cublasSgemm(handle.get(), opB, opA, columns, rows, inner, &one, b, pitchB, a,
                                 pitchA, &zero, c, columns));
    });
#endif
}

// The derivatives of `elements` cubes of n x n x n values along x (direction 0), y (1) and z (2):
// `columns` are those of an n x n matrix D, one behind the other, and a derivative at i is the sum
// of D_ij u_j over the line. Each of `directions` writes its part of `gradient`: of all du/dx,
// du/dy and du/dz. `check` looks at it.
inline void cublasDerivatives([[maybe_unused]] Ladder& ladder, [[maybe_unused]] const Name& name,
                              [[maybe_unused]] const Work& work,
                              [[maybe_unused]] const Check& check, [[maybe_unused]] const float* u,
                              [[maybe_unused]] const float* columns,
                              [[maybe_unused]] float* gradient, [[maybe_unused]] std::size_t n,
                              [[maybe_unused]] std::size_t elements,
                              [[maybe_unused]] const std::vector<unsigned>& directions) {
#ifdef LAB_HAVE_CUBLAS
    if (n > INT_MAX || elements * n > INT_MAX / n) return;  // as many rows
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
#endif
}

// A product in BF16 with FP32 sums, on tensor cores. Rows of a lie pitchA elements apart, those of
// b and c pitchC.
inline void cublasMatmulBf16([[maybe_unused]] Ladder& ladder, [[maybe_unused]] const Check& check,
                             [[maybe_unused]] const void* a, [[maybe_unused]] const void* b,
                             [[maybe_unused]] void* c, [[maybe_unused]] std::size_t m,
                             [[maybe_unused]] std::size_t n, [[maybe_unused]] std::size_t k,
                             [[maybe_unused]] std::size_t pitchA,
                             [[maybe_unused]] std::size_t pitchC) {
#ifdef LAB_HAVE_CUBLAS
    if (m > INT_MAX || pitchC > INT_MAX || pitchA > INT_MAX) return;
    const int rows = static_cast<int>(m), columns = static_cast<int>(n),
              inner = static_cast<int>(k), ldA = static_cast<int>(pitchA),
              ldC = static_cast<int>(pitchC);
    const CublasHandle handle(CUBLAS_DEFAULT_MATH);
    const float one = 1, zero = 0;
    const Work work = lab::tensorFlops(2.0 * m * n * k);
    ladder.peer("cublasGemmEx", work, check, [&] {  // the transposes: c' = b' * a'
        CUBLAS_CHECK(cublasGemmEx(handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, columns, rows, inner,
                                  &one, b, CUDA_R_16BF, ldC, a, CUDA_R_16BF, ldA, &zero, c,
                                  CUDA_R_16BF, ldC, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    });
#endif
}

}  // namespace lab
