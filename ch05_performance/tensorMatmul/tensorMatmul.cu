// Multiplies two matrices on tensor cores: units that take whole tiles, of which a warp holds
// pieces. C (m x n) = A (m x k) * B (k x n), all row-major, of BF16, with sums in FP32. What a
// thread does is no longer arithmetic: the ladder is about feeding the units.
//
//   1 wmmaGlobal      each warp a tile of 16 x 16, whose operands come straight from global memory
//   2 wmmaShared      each warp 32 x 64, from tiles in shared memory
//   3 mmaPipelined    each warp 64 x 64, by mma and ldmatrix; tiles come while others are used
//     cublasGemmEx    what NVIDIA's library makes of it, with the same types
//
// Tensor cores for BF16 came with sm_80. The instructions of sm_90 are in hopperMatmul.
//
//   ./lab run tensorMatmul -- --m=4K --n=4K --k=4K
//   ./lab test tensorMatmul
//   ./lab profile tensorMatmul
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu):
//   cmake --build build --target tensorMatmul
//   build/ch05_performance/tensorMatmul --m=4K --n=4K --k=4K
//   ncu build/ch05_performance/tensorMatmul --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -arch=sm_80 -Icommon ch05_performance/tensorMatmul/tensorMatmul.cu
//       common/*.cpp common/*.cu -DLAB_HAVE_CUBLAS -lcublas -o build/tensorMatmul

#include <cuda_bf16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#include <cstddef>
#include <cstdint>

#include "../bf16Product.cuh"
#include "../cublasMatmulBf16.cuh"
#include "lab.cuh"
#include "mmaInstructions.cuh"

using bf16 = __nv_bfloat16;
using FragmentA =
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, bf16, nvcuda::wmma::row_major>;
using FragmentB =
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, bf16, nvcuda::wmma::row_major>;
using Sums = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float>;

// Which lane holds which of a fragment's sums is not said: they go through shared memory, where
// each lane rounds half a row. `scratch` is the warp's own.
__device__ void storeRounded(const Sums& sums, float (&scratch)[16][16], bf16* c,
                             std::size_t pitch) {
    const unsigned lane = threadIdx.x % 32, row = lane / 2, col = lane % 2 * 8;
    nvcuda::wmma::store_matrix_sync(&scratch[0][0], sums, 16, nvcuda::wmma::mem_row_major);
    __syncwarp();
    for (unsigned i = 0; i < 8; i += 2) {
        *reinterpret_cast<__nv_bfloat162*>(c + row * pitch + col + i) =
            __floats2bfloat162_rn(scratch[row][col + i], scratch[row][col + i + 1]);
    }
    __syncwarp();  // before the scratch is used again
}

// m, n and k are multiples of 16 in all kernels: matrices are padded with zeros, and rows lie k or
// n elements apart.

// Four warps, each with a tile of C. Still wrong: 4096 multiply-adds for 512 elements that are
// fetched, and every warp fetches its own.
__global__ void wmmaGlobal(const bf16* a, const bf16* b, bf16* c, std::size_t m, std::size_t n,
                           std::size_t k) {
    __shared__ float scratch[4][16][16];
    const unsigned warp = threadIdx.x / 32;
    const std::size_t row = lab::blockY() * 32 + warp / 2 * 16;
    const std::size_t col = std::size_t{blockIdx.x} * 32 + warp % 2 * 16;
    if (row >= m || col >= n) return;

    Sums sums;
    nvcuda::wmma::fill_fragment(sums, 0.0f);
    for (std::size_t i = 0; i < k; i += 16) {
        FragmentA fragmentA;
        FragmentB fragmentB;
        nvcuda::wmma::load_matrix_sync(fragmentA, a + row * k + i, static_cast<unsigned>(k));
        nvcuda::wmma::load_matrix_sync(fragmentB, b + i * n + col, static_cast<unsigned>(n));
        nvcuda::wmma::mma_sync(sums, fragmentA, fragmentB, sums);
    }
    storeRounded(sums, scratch[warp], c + row * n + col, n);
}

// Eight warps share tiles of 128 x 32 and 32 x 128, and each keeps 2 x 4 tiles of C in registers: a
// fragment of A is used four times, one of B twice. Eight more elements in a row of a tile put rows
// into other banks. Still wrong: while tiles are fetched nothing is multiplied, and while they are
// multiplied nothing is fetched; every tile goes through registers.
constexpr unsigned kSide = 128, kDepth = 32, kPad = 8;

__global__ void wmmaShared(const bf16* a, const bf16* b, bf16* c, std::size_t m, std::size_t n,
                           std::size_t k) {
    __shared__ alignas(16) bf16 tileA[kSide][kDepth + kPad];
    __shared__ alignas(16) bf16 tileB[kDepth][kSide + kPad];
    __shared__ float scratch[8][16][16];
    const unsigned warp = threadIdx.x / 32, warpRow = warp / 2 * 32, warpCol = warp % 2 * 64;
    const std::size_t firstRow = lab::blockY() * kSide;
    const std::size_t firstCol = std::size_t{blockIdx.x} * kSide;
    const uint4 zeros = make_uint4(0, 0, 0, 0);

    Sums sums[2][4];
    for (auto& row : sums) {
        for (Sums& each : row) nvcuda::wmma::fill_fragment(each, 0.0f);
    }
    for (std::size_t first = 0; first < k; first += kDepth) {
        for (unsigned i = threadIdx.x; i < kSide * kDepth / 8; i += 256) {  // 8 elements each
            const unsigned rowA = i / (kDepth / 8), colA = i % (kDepth / 8) * 8;
            const bool insideA = firstRow + rowA < m && first + colA < k;
            const bf16* const fromA = a + (firstRow + rowA) * k + first + colA;
            *reinterpret_cast<uint4*>(&tileA[rowA][colA]) =
                insideA ? *reinterpret_cast<const uint4*>(fromA) : zeros;
            const unsigned rowB = i / (kSide / 8), colB = i % (kSide / 8) * 8;
            const bool insideB = first + rowB < k && firstCol + colB < n;
            const bf16* const fromB = b + (first + rowB) * n + firstCol + colB;
            *reinterpret_cast<uint4*>(&tileB[rowB][colB]) =
                insideB ? *reinterpret_cast<const uint4*>(fromB) : zeros;
        }
        __syncthreads();  // the tiles are complete
        for (unsigned i = 0; i < kDepth; i += 16) {
            FragmentA fragmentA[2];
            for (unsigned r = 0; r < 2; ++r) {
                nvcuda::wmma::load_matrix_sync(fragmentA[r], &tileA[warpRow + 16 * r][i],
                                               kDepth + kPad);
            }
            for (unsigned col = 0; col < 4; ++col) {
                FragmentB fragmentB;
                nvcuda::wmma::load_matrix_sync(fragmentB, &tileB[i][warpCol + 16 * col],
                                               kSide + kPad);
                for (unsigned r = 0; r < 2; ++r)
                    nvcuda::wmma::mma_sync(sums[r][col], fragmentA[r], fragmentB, sums[r][col]);
            }
        }
        __syncthreads();  // nobody needs them any more
    }
    for (unsigned r = 0; r < 2; ++r) {
        for (unsigned q = 0; q < 4; ++q) {
            const std::size_t row = firstRow + warpRow + 16 * r, col = firstCol + warpCol + 16 * q;
            if (row < m && col < n) storeRounded(sums[r][q], scratch[warp], c + row * n + col, n);
        }
    }
}

// A ring of kStages pairs of tiles. While one pair is multiplied, three more are on their way, by
// copies that need no register and no thread that waits. In place of the pad, pieces of 16 bytes
// change places within a row, so that the eight rows of which ldmatrix takes a piece each are in
// different banks: `swizzled`. Still wrong: all warps issue loads, products and addresses alike,
// and a product of 16 x 8 x 16 is an instruction of its own.
constexpr unsigned kStages = 4;

struct Stage {
    bf16 a[kSide][kDepth];
    bf16 b[kDepth][kSide];
};

// A row of a has four pieces, so two rows fill the 128 bytes of all banks; one of b has 16.
__device__ bf16* swizzledA(Stage& stage, unsigned row, unsigned piece) {
    return &stage.a[row][(piece ^ row / 2 % 4) * 8];
}
__device__ bf16* swizzledB(Stage& stage, unsigned row, unsigned piece) {
    return &stage.b[row][(piece ^ row % 8) * 8];
}

__global__ void __launch_bounds__(128) mmaPipelined(const bf16* a, const bf16* b, bf16* c,
                                                    std::size_t m, std::size_t n, std::size_t k) {
    extern __shared__ uint4 shared[];
    Stage* const stages = reinterpret_cast<Stage*>(shared);
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned warpRow = warp / 2 * 64, warpCol = warp % 2 * 64;
    const std::size_t firstRow = lab::blockY() * kSide;
    const std::size_t firstCol = std::size_t{blockIdx.x} * kSide;

    // Starts the copies of the next pair of tiles; what lies outside of the matrices becomes zeros,
    // and nothing is read for it. A thread copies four pieces of each tile, and from step to step
    // only adds to two pointers: addresses take instructions, too.
    const unsigned rowA = threadIdx.x / 4, pieceA = threadIdx.x % 4;
    const unsigned rowB = threadIdx.x / 16, pieceB = threadIdx.x % 16;
    const bf16* fromA = a + (firstRow + rowA) * k + pieceA * 8;
    const bf16* fromB = b + rowB * n + firstCol + pieceB * 8;
    unsigned toFill = 0, toUse = 0;
    const auto advance = [](unsigned& stage) { stage = stage + 1 == kStages ? 0 : stage + 1; };
    const auto fetch = [&](std::size_t first) {
        Stage& stage = stages[toFill];
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) {
            const bool inA = firstRow + rowA + 32 * i < m && first + pieceA * 8 < k;
            const bool inB = first + rowB + 8 * i < k && firstCol + pieceB * 8 < n;
            __pipeline_memcpy_async(swizzledA(stage, rowA + 32 * i, pieceA),
                                    inA ? fromA + 32 * i * k : a, 16, inA ? 0 : 16);
            __pipeline_memcpy_async(swizzledB(stage, rowB + 8 * i, pieceB),
                                    inB ? fromB + 8 * i * n : b, 16, inB ? 0 : 16);
        }
        __pipeline_commit();
        fromA += kDepth;
        fromB += kDepth * n;
        advance(toFill);
    };

    float sums[4][8][4] = {};  // 4 x 8 tiles of 16 x 8
    for (unsigned s = 0; s + 1 < kStages; ++s) fetch(s * kDepth);
    for (std::size_t first = 0; first < k; first += kDepth) {
        __pipeline_wait_prior(kStages - 2);  // this thread's part of the oldest pair is there
        __syncthreads();                     // all parts are; and the pair before is used up
        fetch(first + (kStages - 1) * kDepth);
        Stage& stage = stages[toUse];
        advance(toUse);
#pragma unroll
        for (unsigned i = 0; i < kDepth; i += 16) {
            std::uint32_t fragmentA[4][4], fragmentB[4][4];
#pragma unroll
            for (unsigned r = 0; r < 4; ++r) {
                mma::ldmatrix(fragmentA[r],
                              swizzledA(stage, warpRow + 16 * r + lane % 16, i / 8 + lane / 16));
            }
#pragma unroll
            for (unsigned q = 0; q < 4; ++q) {
                mma::ldmatrixTransposed(
                    fragmentB[q], swizzledB(stage, i + lane % 16, warpCol / 8 + 2 * q + lane / 16));
            }
#pragma unroll
            for (unsigned r = 0; r < 4; ++r) {
#pragma unroll
                for (unsigned q = 0; q < 8; ++q) {
                    mma::mma16x8x16(sums[r][q], fragmentA[r], fragmentB[q / 2][q % 2 * 2],
                                    fragmentB[q / 2][q % 2 * 2 + 1]);
                }
            }
        }
    }

#pragma unroll
    for (unsigned r = 0; r < 8; ++r) {  // upper and lower halves
#pragma unroll
        for (unsigned q = 0; q < 8; ++q) {
            const std::size_t row = firstRow + warpRow + 8 * r + lane / 4;
            const std::size_t col = firstCol + warpCol + 8 * q + lane % 4 * 2;
            const float* const pair = sums[r / 2][q] + r % 2 * 2;
            if (row < m && col < n) {
                *reinterpret_cast<__nv_bfloat162*>(c + row * n + col) =
                    __floats2bfloat162_rn(pair[0], pair[1]);
            }
        }
    }
}

int main(int argc, char** argv) {
    std::size_t m, n, k;
    lab::Exercise exercise("tensorMatmul", "Multiplies two matrices of BF16 on tensor cores.",
                           lab::BackEnds::kGpuAlone);
    exercise.option("m", &m, 4096, 1, lab::kMaxSize, "rows of A and C");
    exercise.option("n", &n, 4096, 1, lab::kMaxSize, "columns of B and C");
    exercise.option("k", &k, 4096, 1, lab::kMaxSize, "columns of A, rows of B");
    exercise.parse(argc, argv);
    exercise.requireProduct(m, n, k);

    Bf16Product product(m, n, k, exercise.seed());
    exercise.title("C (%zu x %zu) = A (%zu x %zu) * B (%zu x %zu) in BF16", m, n, m, k, k, n);
    if (!product.sampleNote().empty()) exercise.note(product.sampleNote());

    const bf16 *const a = product.a(), *const b = product.b();
    bf16* const c = product.c().get();
    const std::size_t rows = padded(m), cols = padded(n), depth = padded(k);
    const lab::Work work = lab::tensorFlops(2.0 * m * n * k);  // without those on the padding
    const auto isProduct = [&] { return product.mismatch(); };

    lab::Ladder ladder(exercise, product.c());
    if (exercise.device().major >= 8) {
        const dim3 grid = lab::gridFor(cols, rows, 32);
        ladder.rung("wmmaGlobal", grid, 128, work, isProduct,
                    [&] { wmmaGlobal<<<grid, 128>>>(a, b, c, rows, cols, depth); });
        const dim3 tiles = lab::gridFor(cols, rows, kSide);
        ladder.rung("wmmaShared", tiles, 256, work, isProduct,
                    [&] { wmmaShared<<<tiles, 256>>>(a, b, c, rows, cols, depth); });
        constexpr int kBytes = kStages * sizeof(Stage);
        CUDA_CHECK(cudaFuncSetAttribute(mmaPipelined, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        kBytes));
        ladder.rung("mmaPipelined", tiles, 128, work, isProduct,
                    [&] { mmaPipelined<<<tiles, 128, kBytes>>>(a, b, c, rows, cols, depth); });
    } else {
        exercise.note("no kernels: tensor cores take BF16 from sm_80 on");
    }
    lab::cublasMatmulBf16(ladder, isProduct, a, b, c, m, n, k, depth, cols);
    ladder.announceFastest();
    return exercise.finish();
}
