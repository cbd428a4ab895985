#pragma once
// A function for each instruction of a warp for tensor cores that C++ has no name for. PTX ISA,
// "Warp Level Matrix Instructions", shows which lane holds which element.

#include <cuda_bf16.h>

#include <cstdint>
#include <cstring>

namespace mma {

// Loads four matrices of 8 x 8 elements of 16 bits from shared memory. Lane l gives the address of
// row l % 8 of matrix l / 8: 16 bytes, which may lie anywhere. Afterwards lane l holds, of each
// matrix, elements 2 (l % 4) and 2 (l % 4) + 1 of row l / 4.
__device__ inline void ldmatrix(std::uint32_t (&pairs)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(pairs[0]), "=r"(pairs[1]), "=r"(pairs[2]), "=r"(pairs[3])
                 : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(row)))
                 : "memory");
}

// Does the same and transposes each matrix: lane l then holds elements 2 (l % 4) and
// 2 (l % 4) + 1 of column l / 4.
__device__ inline void ldmatrixTransposed(std::uint32_t (&pairs)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(pairs[0]), "=r"(pairs[1]), "=r"(pairs[2]), "=r"(pairs[3])
                 : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(row)))
                 : "memory");
}

// d (16 x 8) += a (16 x 16) * b (16 x 8). a consists of four matrices of 8 x 8: rows 0 to 7, rows 8
// to 15, and the same rows of the second half of k. b consists of two, transposed. In d[0] and
// d[1], lane l holds elements 2 (l % 4) and 2 (l % 4) + 1 of row l / 4 of d. d[2] and d[3] are
// eight rows below them.
__device__ inline void mma16x8x16(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                  std::uint32_t b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace mma
