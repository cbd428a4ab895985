// Multiplies two matrices faster than cuBLAS does, in strict FP32 (no tensor cores): C (m x n) =
// A (m x k) * B (k x n), all row-major. Begins where `registerTiles` ends; from here on it is about
// never waiting: for global memory, for shared memory, for registers.
//
//   1 oneBuffer        128 x 128 results to a block, 8 x 8 to a thread: copy, wait, multiply
//   2 twoBuffers       asynchronous copies: the next tiles arrive while these are used
//   3 wideTiles        128 x 256, and 16 x 8 to a thread: fewer loads for each multiply-add
//   4 fragmentsAhead   loads from shared memory a step ahead, copies spread over four steps
//   5 zigzag           every other row of results backwards: the registers at hand are used again
//   6 grouped          blocks that run together take tiles that lie together: for the L2 cache
//   7 matmulFast       the tiles, and in how many parts k is split, by the shape of the matrices
//     cublasSgemm      what NVIDIA's library makes of it, in FP32
//
// Every element is one chain of fmaf() in the order of k, the same to the bit on any GPU and CPU;
// only where k is split there are several chains, whose sums are added.
//
//   ./lab run matmulFast -- --m=4K --n=4K --k=4K
//   ./lab test matmulFast
//   ./lab profile matmulFast
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target matmulFast
//   build/ch05_performance/matmulFast --m=4K --n=4K --k=4K
//   ncu build/ch05_performance/matmulFast --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch05_performance/matmulFast/matmulFast.cu
//       common/*.cpp common/*.cu -DLAB_HAVE_CUBLAS -lcublas -o build/matmulFast

#include <cuda_pipeline.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <vector>

#include "../productReference.h"
#include "lab.cuh"
#include "peers_cublas.cuh"
#include "tileOfBlock.cuh"

// Blocks with blockIdx.y = s multiply the products number s * kPerBlock and following, and store
// to their own matrix, number s of `c`. Without a split there is one such range, all of k.
//
// kWhole: m and n are multiples of the tile's sides. No tile sticks out, and the rows of B begin at
// multiples of 16 bytes: B is copied 16 bytes at a time, else 4. A is copied by floats in any case:
// its tile has A's columns as rows, so that what a thread needs of a column is neighbours.
template <class T, bool kWhole, bool kAhead, bool kZigzag, bool kGrouped>
__global__ void __launch_bounds__(T::kThreads,
                                  65536 / (2 * T::kThreads * T::kThreadRows * T::kThreadCols))
    multiply(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
             unsigned m, unsigned n, unsigned k, unsigned kPerBlock) {
    extern __shared__ float4 shared[];  // float4: begins at a multiple of 16 bytes
    float* const tileA = reinterpret_cast<float*>(shared);
    float* const tileB = tileA + T::kBuffers * kStep * T::kPitchA;
    const Place place = placeOfBlock<T, kGrouped>(m, n);
    const unsigned firstK = blockIdx.y * kPerBlock;
    const unsigned length = min(kPerBlock, k - firstK), tiles = length / kStep;

    // Copies from global memory: what this thread takes of each tile. Rows and columns outside of
    // the matrices are replaced by the last ones: their results are not stored.
    constexpr unsigned kWide = kWhole ? 4 : 1, kPiecesB = T::kCols / kWide;
    constexpr unsigned kRowsAtOnceA = T::kThreads / kStep, kRowsAtOnceB = T::kThreads / kPiecesB;
    constexpr unsigned kCopiesA = T::kRows / kRowsAtOnceA, kCopiesB = kStep / kRowsAtOnceB;
    const unsigned colA = threadIdx.x % kStep, rowA = threadIdx.x / kStep;
    const unsigned colB = threadIdx.x % kPiecesB * kWide, rowB = threadIdx.x / kPiecesB;
    const unsigned globalColB = kWhole ? place.col + colB : min(place.col + colB, n - 1);
    const float* fromA = a + firstK + colA;
    if (kWhole) fromA += std::size_t{place.row + rowA} * k;
    const float* fromB = b + std::size_t{firstK + rowB} * n + globalColB;
    unsigned copied = 0;
    const auto copyPart = [&](unsigned buffer, unsigned part, unsigned parts) {
        float* const toA = tileA + (buffer * kStep + colA) * T::kPitchA + rowA;
        float* const toB = tileB + (buffer * kStep + rowB) * T::kCols + colB;
#pragma unroll
        for (unsigned i = 0; i < kCopiesA; ++i) {
            if (i * parts / kCopiesA != part) continue;
            unsigned row = i * kRowsAtOnceA;
            if (!kWhole) row = min(place.row + rowA + row, m - 1);
            __pipeline_memcpy_async(toA + i * kRowsAtOnceA, fromA + std::size_t{row} * k,
                                    sizeof(float));
        }
#pragma unroll
        for (unsigned i = 0; i < kCopiesB; ++i) {
            if (i * parts / kCopiesB != part) continue;
            __pipeline_memcpy_async(toB + i * kRowsAtOnceB * T::kCols,
                                    fromB + std::size_t{i * kRowsAtOnceB} * n,
                                    kWide * sizeof(float));
        }
    };
    // Behind the last tile the last one is copied again: nobody uses it, but nobody has to ask.
    const auto nextTile = [&] {
        __pipeline_commit();
        if (++copied < tiles) {
            fromA += kStep;
            fromB += std::size_t{kStep} * n;
        }
    };

    // Fragments: what a thread needs of one column of A and one row of B, in pieces of four.
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned firstRow = warp % (T::kRows / T::kWarpRows) * T::kWarpRows + lane % 4 * 4;
    const unsigned firstCol = warp / (T::kRows / T::kWarpRows) * T::kWarpCols + lane / 4 * 4;
    float sums[T::kThreadRows][T::kThreadCols] = {};
    float ofA[2][T::kThreadRows], ofB[2][T::kThreadCols];
    const auto loadFragments = [&](unsigned set, unsigned buffer, unsigned step) {
        const float* const columnA = tileA + (buffer * kStep + step) * T::kPitchA + firstRow;
        const float* const rowOfB = tileB + (buffer * kStep + step) * T::kCols + firstCol;
#pragma unroll
        for (unsigned i = 0; i < T::kThreadRows; i += 4) {
            const float4 v = *reinterpret_cast<const float4*>(columnA + 4 * i);
            ofA[set][i] = v.x, ofA[set][i + 1] = v.y, ofA[set][i + 2] = v.z, ofA[set][i + 3] = v.w;
        }
#pragma unroll
        for (unsigned j = 0; j < T::kThreadCols; j += 4) {
            const float4 v = *reinterpret_cast<const float4*>(rowOfB + 8 * j);
            ofB[set][j] = v.x, ofB[set][j + 1] = v.y, ofB[set][j + 2] = v.z, ofB[set][j + 3] = v.w;
        }
    };
    const auto multiplyAdd = [&](unsigned set) {
#pragma unroll
        for (unsigned i = 0; i < T::kThreadRows; ++i) {
#pragma unroll
            for (unsigned there = 0; there < T::kThreadCols; ++there) {
                const unsigned j = kZigzag && i % 2 ? T::kThreadCols - 1 - there : there;
                sums[i][j] = fmaf(ofA[set][i], ofB[set][j], sums[i][j]);
            }
        }
    };

    if (tiles > 0) {
        for (unsigned buffer = 0; buffer + 1 < T::kBuffers; ++buffer) {
            copyPart(buffer, 0, 1);
            nextTile();
        }
    }
    if constexpr (!kAhead) {
        for (unsigned t = 0; t < tiles; ++t) {
            if constexpr (T::kBuffers == 1) {
                copyPart(0, 0, 1);
                nextTile();
            }
            __pipeline_wait_prior(T::kBuffers == 1 ? 0 : T::kBuffers - 2);
            __syncthreads();  // the tile is complete, and nobody needs the one before it any more
            if constexpr (T::kBuffers > 1) {
                copyPart((t + T::kBuffers - 1) % T::kBuffers, 0, 1);
                nextTile();
            }
#pragma unroll
            for (unsigned step = 0; step < kStep; ++step) {
                loadFragments(0, t % T::kBuffers, step);
                multiplyAdd(0);
            }
            if constexpr (T::kBuffers == 1) __syncthreads();
        }
    } else if (tiles > 0) {
        constexpr unsigned kParts = 4;
        __pipeline_wait_prior(T::kBuffers - 2);
        __syncthreads();
        loadFragments(0, 0, 0);
        unsigned buffer = 0, fill = T::kBuffers - 1;
        for (unsigned t = 0; t < tiles; ++t) {
#pragma unroll
            for (unsigned step = 0; step < kStep; ++step) {
                if (step < kParts) copyPart(fill, step, kParts);
                if (step + 1 == kParts) nextTile();
                if (step + 1 == kStep) {  // the next fragments are in the next tile
                    __pipeline_wait_prior(T::kBuffers - 2);
                    __syncthreads();
                    fill = buffer;
                    buffer = buffer + 1 == T::kBuffers ? 0 : buffer + 1;
                }
                loadFragments((step + 1) % 2, buffer, (step + 1) % kStep);
                multiplyAdd(step % 2);
            }
        }
    }

    // Up to 15 columns of A and rows of B are left, which do not fill a tile.
    const unsigned rest = length % kStep;
    if (rest > 0) {
        const unsigned first = firstK + length - rest;
        __pipeline_wait_prior(0);
        __syncthreads();
        for (unsigned i = threadIdx.x; i < rest * T::kRows; i += T::kThreads) {
            const std::size_t row = min(place.row + i / rest, m - 1);
            tileA[i % rest * T::kPitchA + i / rest] = a[row * k + first + i % rest];
        }
        for (unsigned i = threadIdx.x; i < rest * T::kCols; i += T::kThreads) {
            const unsigned col = min(place.col + i % T::kCols, n - 1);
            tileB[i] = b[std::size_t{first + i / T::kCols} * n + col];
        }
        __syncthreads();
#pragma unroll 1
        for (unsigned step = 0; step < rest; ++step) {
            loadFragments(0, 0, step);
            multiplyAdd(0);
        }
    }

    float* const to = c + std::size_t{blockIdx.y} * m * n;
#pragma unroll
    for (unsigned i = 0; i < T::kThreadRows; ++i) {
        const unsigned row = place.row + firstRow + i / 4 * 16 + i % 4;
#pragma unroll
        for (unsigned j = 0; j < T::kThreadCols; ++j) {
            const unsigned col = place.col + firstCol + j / 4 * 32 + j % 4;
            if (kWhole || (row < m && col < n)) to[std::size_t{row} * n + col] = sums[i][j];
        }
    }
}

// Adds what the parts of k gave, in their order.
__global__ void addParts(const float* __restrict__ parts, float* __restrict__ c, std::size_t count,
                         unsigned splits) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        float sum = 0;
        for (unsigned s = 0; s < splits; ++s) sum += parts[s * count + i];
        c[i] = sum;
    }
}

using OneBuffer = Tile<128, 128, 8, 8, 1>;
using Narrow = Tile<128, 128, 8, 8, 2>;
using Wide = Tile<128, 256, 16, 8, 2>;
using Small = Tile<64, 128, 8, 8, 2>;  // more blocks, where there would be too few

// What a kernel does, or does without.
constexpr bool kAhead = true, kZigzag = true, kGrouped = true, kPlain = false;

// A kernel, and how it is launched for matrices of this shape.
struct Plan {
    void (*kernel)(const float*, const float*, float*, unsigned, unsigned, unsigned, unsigned);
    dim3 grid;  // tiles, parts of k
    unsigned threads;
    std::size_t sharedBytes;
    unsigned kPerBlock;
};

template <class T>
unsigned tilesOf(unsigned m, unsigned n) {
    return lab::blocksFor(std::size_t{lab::blocksFor(m, T::kRows)} * lab::blocksFor(n, T::kCols),
                          1);
}

template <class T, bool kIsAhead, bool kIsZigzag, bool kIsGrouped>
Plan planFor(unsigned m, unsigned n, unsigned k, unsigned splits = 1) {
    const bool whole = m % T::kRows == 0 && n % T::kCols == 0;
    const auto kernel = whole ? multiply<T, true, kIsAhead, kIsZigzag, kIsGrouped>
                              : multiply<T, false, kIsAhead, kIsZigzag, kIsGrouped>;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(T::kSharedBytes)));
    const unsigned steps = lab::blocksFor(lab::blocksFor(k, splits), kStep);
    const unsigned kPerBlock = std::min(k, steps * kStep);
    return {kernel, dim3(tilesOf<T>(m, n), lab::blocksFor(k, kPerBlock)), T::kThreads,
            T::kSharedBytes, kPerBlock};
}

// The plan that should take the least time. Blocks take turns: as many at a time as there are
// multiprocessors. The unit is what a small tile takes for one column of A, where blocks enough are
// there to hide latencies; a block that is alone takes an eighth more, and a wide tile, four times
// as large, 3.6. To begin and to end costs 32 columns; a part of k has to be stored and added, 44
// more, by a second kernel, 48. (Measured on an H200, where the unit is 0.0435 us.)
Plan planByShape(unsigned m, unsigned n, unsigned k, unsigned multiprocessors) {
    const auto turns = [&](std::size_t blocks) { return lab::blocksFor(blocks, multiprocessors); };
    const std::size_t small = tilesOf<Small>(m, n);
    double least = turns(tilesOf<Wide>(m, n)) * 3.6 * (k + 32.0);
    unsigned best = 0;  // parts of k; 0: wide tiles
    for (unsigned parts = 1;
         parts == 1 || (parts <= k / 64 && small * parts <= 16 * multiprocessors); ++parts) {
        const double alone = small * parts <= multiprocessors ? 9.0 / 8 : 1;
        const double block = k / parts + (parts == 1 ? 32 : 32 + 44);
        const double cost = turns(small * parts) * alone * block + (parts == 1 ? 0 : 48);
        if (cost < least) {
            least = cost;
            best = parts;
        }
    }
    return best == 0 ? planFor<Wide, kAhead, kZigzag, kGrouped>(m, n, k)
                     : planFor<Small, kAhead, kZigzag, kGrouped>(m, n, k, best);
}

int main(int argc, char** argv) {
    constexpr std::size_t kMaxSide = INT_MAX;  // as in cuBLAS: indices of rows and columns are ints
    std::size_t rows, cols, inner;
    lab::Exercise exercise("matmulFast", "Multiplies two matrices faster than cuBLAS, in FP32.");
    exercise.option("m", &rows, {2048, 192}, 1, kMaxSide, "rows of A and C");
    exercise.option("n", &cols, {2048, 192}, 1, kMaxSide, "columns of B and C");
    exercise.option("k", &inner, {2048, 192}, 1, kMaxSide, "columns of A, rows of B");
    exercise.parse(argc, argv);
    exercise.requireProduct(rows, cols, inner);
    const unsigned m = rows, n = cols, k = inner;
    exercise.columns(lab::Columns::kLadder, {{"regs", 4, "registers", lab::OwnColumn::kOnGpu},
                                             {"parts", 0, "parts"},  // the grid says it, too
                                             {"bits", 5, "bits"}});

    const std::vector<float> hostA = lab::randomFloats(rows * inner, exercise.seed(), -1, 1);
    const std::vector<float> hostB = lab::randomFloats(inner * cols, exercise.seed() + 1, -1, 1);
    const lab::DeviceBuffer<float> bufferA(hostA), bufferB(hostB);
    lab::DeviceBuffer<float> bufferC(rows * cols);
    const float *const a = bufferA.get(), *const b = bufferB.get();
    float* const c = bufferC.get();

    exercise.title("C (%u x %u) = A (%u x %u) * B (%u x %u)", m, n, m, k, k, n);
    const ProductReference reference(hostA, hostB, m, n, k, exercise.seed());
    if (!reference.sampleNote().empty()) exercise.note(reference.sampleNote());

    const lab::Work work = lab::flops(2.0 * m * n * k);  // a multiplication and an addition
    lab::Ladder ladder(exercise, bufferC);
    const auto finding = [&](bool exact, std::vector<lab::Cell> cells) -> lab::Finding {
        const std::vector<float> result = bufferC.toHost();
        cells.push_back(reference.isChain(result) ? "chain" : "other");
        return {exact ? reference.exactMismatch(result) : reference.mismatch(result), cells};
    };
    const auto rung = [&](const char* name, const Plan& plan) {
        const unsigned parts = plan.grid.y;
        const lab::DeviceBuffer<float> ofParts(parts == 1 ? 0 : parts * rows * cols);
        cudaFuncAttributes attributes;
        CUDA_CHECK(cudaFuncGetAttributes(&attributes, plan.kernel));
        const auto check = [&] { return finding(parts == 1, {attributes.numRegs, parts}); };
        ladder.rung(name, plan.grid, plan.threads, work, check, [&] {
            float* const to = parts == 1 ? c : ofParts.get();
            plan.kernel<<<plan.grid, plan.threads, plan.sharedBytes>>>(a, b, to, m, n, k,
                                                                       plan.kPerBlock);
            if (parts > 1) {
                const unsigned blocks = exercise.device().residentBlocks(256);
                addParts<<<blocks, 256>>>(to, c, rows * cols, parts);
            }
        });
    };
    rung("oneBuffer", planFor<OneBuffer, kPlain, kPlain, kPlain>(m, n, k));
    rung("twoBuffers", planFor<Narrow, kPlain, kPlain, kPlain>(m, n, k));
    rung("wideTiles", planFor<Wide, kPlain, kPlain, kPlain>(m, n, k));
    rung("fragmentsAhead", planFor<Wide, kAhead, kPlain, kPlain>(m, n, k));
    rung("zigzag", planFor<Wide, kAhead, kZigzag, kPlain>(m, n, k));
    rung("grouped", planFor<Wide, kAhead, kZigzag, kGrouped>(m, n, k));
    const unsigned multiprocessors = exercise.device().multiprocessors;
    rung("matmulFast", planByShape(m, n, k, multiprocessors));
    const auto isProduct = [&] { return finding(false, {"", ""}); };  // in whatever order
    lab::cublasMatmul(ladder, isProduct, a, b, c, m, n, k);
    ladder.announceFastest();
    return exercise.finish();
}
