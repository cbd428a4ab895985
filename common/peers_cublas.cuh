#pragma once
// cuBLAS in strict FP32. Where it is linked, LAB_HAVE_CUBLAS is defined; without it there is no
// row.

#include <climits>
#include <cstddef>

#include "ladder.cuh"

#ifdef LAB_HAVE_CUBLAS
#include <cublas_v2.h>

#define CUBLAS_CHECK(call) ::lab::checkCublas((call), #call, __FILE__, __LINE__)
#endif

namespace lab {

// Which factor of a product is stored transposed: a as k x m, or b as n x k elements.
enum class Transposed { kNone, kA, kB };

#ifdef LAB_HAVE_CUBLAS

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

// All matrices are row-major and dense, in device memory; cuBLAS thinks column by column, so a
// row-major matrix is its transpose to it. Dimensions beyond an int give no row.

// output (columns x rows) = the transpose of input (rows x columns); `check` looks at output.
inline void cublasTranspose(Ladder& ladder, const Check& check, const float* input, float* output,
                            std::size_t rows, std::size_t columns) {
    if (rows > INT_MAX || columns > INT_MAX) return;
    const int m = static_cast<int>(rows), n = static_cast<int>(columns);
    const CublasHandle handle;
    const float one = 1, zero = 0;
    const Work moved = lab::bytes(2.0 * sizeof(float) * rows * columns);
    ladder.peer("cublasSgeam", moved, check, [&] {
        CUBLAS_CHECK(cublasSgeam(handle.get(), CUBLAS_OP_T, CUBLAS_OP_N, m, n, &one, input, n,
                                 &zero, output, m, output, m));
    });
}

// c (m x n) = a (m x k) * b (k x n); `check` looks at c.
inline void cublasMatmul(Ladder& ladder, const Check& check, const float* a, const float* b,
                         float* c, std::size_t m, std::size_t n, std::size_t k,
                         Transposed transposed = Transposed::kNone) {
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
}

#else

template <typename... Ignored>
void cublasTranspose(const Ignored&...) {}
template <typename... Ignored>
void cublasMatmul(const Ignored&...) {}

#endif

}  // namespace lab
