#pragma once
// A product in BF16 with FP32 sums, by cuBLAS.
// Without cuBLAS there is no row.

#include <climits>
#include <cstddef>

#include "peers_cublas.cuh"

namespace lab {

#ifdef LAB_HAVE_CUBLAS

// A product in BF16 with FP32 sums, on tensor cores. Rows of a lie pitchA elements apart, those of
// b and c pitchC.
inline void cublasMatmulBf16(Ladder& ladder, const Check& check, const void* a, const void* b,
                             void* c, std::size_t m, std::size_t n, std::size_t k,
                             std::size_t pitchA, std::size_t pitchC) {
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
}

#else

template <typename... Ignored>
void cublasMatmulBf16(const Ignored&...) {}

#endif

}  // namespace lab
