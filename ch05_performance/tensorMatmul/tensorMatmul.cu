// Multiplies two matrices on tensor cores, which take whole small matrices that a warp holds in its
// registers. C (m x n) = A (m x k) * B (k x n), all row-major and of BF16, with sums in FP32. The
// tensor cores are so fast that the whole ladder is about feeding them.
//
//   1 wmmaGlobal      a warp computes 16 x 16 elements, and loads operands from global memory
//   2 wmmaShared      a warp computes 32 x 64, from tiles in shared memory
//   3 mmaPipelined    a warp computes 64 x 64 with mma and ldmatrix; copies run ahead
//     cublasGemmEx    NVIDIA's library, with the same types
//
// Tensor cores take BF16 since sm_80. hopperMatmul uses the instructions of sm_90.
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

// Rounds the sums of a warp to BF16 and stores them. WMMA does not say which lane holds which sum,
// so the sums go through shared memory, where each lane rounds half a row. Each warp has a
// `scratch` of its own.
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

// All kernels get m, n and k as multiples of 16: the matrices are padded with zeros. The rows of A
// lie k elements apart, those of B and C n elements.

// Each of the four warps of a block computes a tile of 16 x 16 of C. Still wrong: a warp loads 512
// elements for 4096 multiply-adds, and each warp loads its own.
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

// Eight warps share a tile of 128 x 32 of A and one of 32 x 128 of B. Each warp keeps 2 x 4 tiles
// of C in registers, so it uses a fragment of A four times and one of B twice. Each row of a tile
// has eight more elements than it needs, which puts its neighbours into other banks. Still wrong:
// while a block loads tiles it multiplies nothing, and while it multiplies it loads nothing.
constexpr unsigned kSide = 128, kDepth = 32;
constexpr unsigned kPad = 8;  // elements

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
        __syncthreads();  // all warps have used the tiles
    }
    for (unsigned r = 0; r < 2; ++r) {
        for (unsigned q = 0; q < 4; ++q) {
            const std::size_t row = firstRow + warpRow + 16 * r, col = firstCol + warpCol + 16 * q;
            if (row < m && col < n) storeRounded(sums[r][q], scratch[warp], c + row * n + col, n);
        }
    }
}

// A ring of kStages stages, each with a tile of A and one of B. While the block multiplies one
// stage, asynchronous copies fill the three others. They need no registers, and no thread waits for
// them. Instead of padding, the tiles are swizzled: within a row, the pieces of 16 bytes are
// permuted. Still wrong: the warps that multiply also issue all copies and compute all addresses,
// and an mma takes only 16 x 8 x 16.
constexpr unsigned kStages = 4;

struct Stage {
    bf16 a[kSide][kDepth];
    bf16 b[kDepth][kSide];
};

// The place, within a row of a tile, of a piece of 16 bytes. A row of a has 4 pieces, and a row of
// b has 16. ldmatrix loads one piece from each of eight neighbouring rows. With these places, the
// eight pieces lie in different banks.
__device__ unsigned placeInA(unsigned row, unsigned piece) {
    return piece ^ row / 2 % 4;  // two rows of a fill the 128 bytes of all banks
}
__device__ unsigned placeInB(unsigned row, unsigned piece) {
    return piece ^ row % 8;
}

// Where a piece begins.
__device__ bf16* pieceOfA(Stage& stage, unsigned row, unsigned piece) {
    return &stage.a[row][placeInA(row, piece) * 8];
}
__device__ bf16* pieceOfB(Stage& stage, unsigned row, unsigned piece) {
    return &stage.b[row][placeInB(row, piece) * 8];
}

__global__ void __launch_bounds__(128) mmaPipelined(const bf16* a, const bf16* b, bf16* c,
                                                    std::size_t m, std::size_t n, std::size_t k) {
    extern __shared__ uint4 shared[];
    Stage* const stages = reinterpret_cast<Stage*>(shared);
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned warpRow = warp / 2 * 64, warpCol = warp % 2 * 64;
    const std::size_t firstRow = lab::blockY() * kSide;
    const std::size_t firstCol = std::size_t{blockIdx.x} * kSide;

    // Starts the copies of the next stage. Zeros take the place of elements outside of the
    // matrices. A thread copies four pieces of each tile. From step to step it only adds to two
    // pointers, since addresses take instructions, too.
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
            __pipeline_memcpy_async(pieceOfA(stage, rowA + 32 * i, pieceA),
                                    inA ? fromA + 32 * i * k : a, 16, inA ? 0 : 16);
            __pipeline_memcpy_async(pieceOfB(stage, rowB + 8 * i, pieceB),
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
        __pipeline_wait_prior(kStages - 2);  // this thread's copies of the oldest stage are there
        __syncthreads();                     // those of all threads are; the last stage is free
        fetch(first + (kStages - 1) * kDepth);
        Stage& stage = stages[toUse];
        advance(toUse);
#pragma unroll
        for (unsigned i = 0; i < kDepth; i += 16) {
            std::uint32_t fragmentA[4][4], fragmentB[4][4];
#pragma unroll
            for (unsigned r = 0; r < 4; ++r) {
                mma::ldmatrix(fragmentA[r],
                              pieceOfA(stage, warpRow + 16 * r + lane % 16, i / 8 + lane / 16));
            }
#pragma unroll
            for (unsigned q = 0; q < 4; ++q) {
                mma::ldmatrixTransposed(
                    fragmentB[q], pieceOfB(stage, i + lane % 16, warpCol / 8 + 2 * q + lane / 16));
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
    for (unsigned r = 0; r < 8; ++r) {  // upper and lower halves of the four tiles
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
    const lab::Work work = lab::tensorFlops(2.0 * m * n * k);  // the padding does not count
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
        exercise.note("no kernels: tensor cores take BF16 only from sm_80 on");
    }
    lab::cublasMatmulBf16(ladder, isProduct, a, b, c, m, n, k, depth, cols);
    ladder.announceFastest();
    return exercise.finish();
}
