#pragma once
// The host's description of a matrix for TMA.

#include <cuda.h>
#include <cuda_bf16.h>

#include <cstddef>

#include "check.cuh"
#include "fail.h"

// Describes `rows` x `cols` elements of BF16 in device memory, whose rows lie `pitch` elements
// apart, a multiple of 8. TMA copies boxes of 64 x 64. In shared memory, the rows of 128 bytes of a
// box are swizzled: piece p of 16 bytes of row r lies at place p ^ (r % 8).
inline CUtensorMap tensorMap(const __nv_bfloat16* matrix, std::size_t rows, std::size_t cols,
                             std::size_t pitch) {
    // A function of the driver. Getting it from the runtime saves linking with libcuda.
    static const auto encode = [] {
        void* function = nullptr;
        cudaDriverEntryPointQueryResult found;
        CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                    cudaEnableDefault, &found));
        return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
    }();
    const cuuint64_t size[] = {cols, rows}, pitchBytes[] = {pitch * sizeof(__nv_bfloat16)};
    const cuuint32_t box[] = {64, 64}, every[] = {1, 1};
    CUtensorMap map;
    const CUresult result =
        encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<__nv_bfloat16*>(matrix), size,
               pitchBytes, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS)
        lab::quit(lab::kExitFailure, "cuTensorMapEncodeTiled: error %d", static_cast<int>(result));
    return map;
}
