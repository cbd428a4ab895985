// Multiplies two matrices in FP32 faster than cuBLAS, without tensor cores: C (m x n) = A (m x k) *
// B (k x n), all row-major. It begins where registerTiles ends. Rungs 1 to 5 remove what the
// warps wait for: global memory, shared memory, registers. Rungs 6 and 7 distribute the tiles.
//
//   1 oneBuffer        a block computes 128 x 128 elements, a thread 8 x 8: copy, wait, multiply
//   2 twoBuffers       asynchronous copies fill one buffer while the other one is multiplied
//   3 wideTiles        128 x 256 elements, and 16 x 8 for a thread: fewer loads per multiply-add
//   4 fragmentsAhead   loads fragments one step ahead, and spreads the copies over four steps
//   5 zigzag           takes every other row of results backwards, to use registers again
//   6 grouped          gives neighbouring tiles to blocks that run together, for the L2 cache
//   7 matmulFast       chooses the tile and the parts of k by the shape of the matrices
//     cublasSgemm      NVIDIA's library, in FP32
//
// blockTiles.cuh has what they share. Each element is one chain of fmaf() in the order of k, so it
// is the same to the bit on any GPU and CPU. Only where k is split there are several chains.
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

#include <algorithm>
#include <climits>
#include <cstddef>
#include <vector>

#include "../productReference.h"
#include "blockTiles.cuh"
#include "lab.cuh"
#include "peers_cublas.cuh"

using OneBuffer = Tile<128, 128, 8, 8, 1>;
using Narrow = Tile<128, 128, 8, 8, 2>;
using Wide = Tile<128, 256, 16, 8, 2>;
using Small = Tile<64, 128, 8, 8, 2>;

// In each kernel, a block computes one tile of C. It walks along k, 16 columns of A and 16 rows of
// B at a time, and copies these to shared memory asynchronously: a copy needs no register, and the
// thread goes on at once. A thread can wait only for its own copies. The barrier behind this wait
// says that the copies of all other threads have arrived, too.

// Copy, wait, multiply. Still wrong: while its copies are in flight, a block does not multiply.
template <class T, bool kWhole>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerSm)
    oneBuffer(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
              unsigned m, unsigned n, unsigned k) {
    extern __shared__ float4 shared[];  // float4: begins at a multiple of 16 bytes
    BlockTiles<T, kWhole> tiles(shared, a, b, m, n, k, placeByRows<T>(n), 0, k);
    Sums<T> sums = {};
    for (unsigned t = 0; t < k / kStep; ++t) {
        tiles.copy(0);
        tiles.commit();
        __pipeline_wait_prior(0);
        __syncthreads();  // the tiles are complete
#pragma unroll
        for (unsigned step = 0; step < kStep; ++step) {
            Fragments<T> fragments;
            tiles.load(fragments, 0, step);
            multiplyAdd<T>(sums, fragments);
        }
        __syncthreads();  // nobody needs the tiles any more
    }
    tiles.multiplyRest(sums);
    tiles.store(c, sums);
}

// Double buffering: while the block multiplies with one buffer, asynchronous copies fill the other
// one. A single barrier for each pair of tiles is enough. It says that the next tiles are complete,
// and also that nobody needs the tiles before them, so their buffer may be filled again.
//
// T = Narrow is rung 2, and T = Wide is rung 3. There a thread has 16 x 8 results, so its fragments
// serve more multiply-adds. Still wrong: the multiply-adds of a step wait for its fragments, and
// all threads begin all their copies at the same time.
template <class T, bool kWhole>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerSm)
    twoBuffers(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
               unsigned m, unsigned n, unsigned k) {
    extern __shared__ float4 shared[];
    BlockTiles<T, kWhole> tiles(shared, a, b, m, n, k, placeByRows<T>(n), 0, k);
    Sums<T> sums = {};
    if (k >= kStep) {
        tiles.copy(0);
        tiles.commit();
    }
    for (unsigned t = 0; t < k / kStep; ++t) {
        __pipeline_wait_prior(0);
        __syncthreads();  // the tiles are complete, and nobody needs those before them
        tiles.copy((t + 1) % 2);
        tiles.commit();
#pragma unroll
        for (unsigned step = 0; step < kStep; ++step) {
            Fragments<T> fragments;
            tiles.load(fragments, t % 2, step);
            multiplyAdd<T>(sums, fragments);
        }
    }
    tiles.multiplyRest(sums);
    tiles.store(c, sums);
}

constexpr unsigned kQuarters = 4;  // parts in which a thread begins its copies of a tile

// A thread has two sets of fragments. It loads one for the next step while it multiplies the other.
// The first four steps begin a quarter of the copies each. In the last step of a tile, the next
// fragments lie in the next tile, so the block waits for that one first. Still wrong: an FMA reads
// three registers from two banks, and which of them it can use again is left to chance.
template <bool kWhole>
__global__ void __launch_bounds__(Wide::kThreads, Wide::kBlocksPerSm)
    fragmentsAhead(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                   unsigned m, unsigned n, unsigned k) {
    extern __shared__ float4 shared[];
    BlockTiles<Wide, kWhole> tiles(shared, a, b, m, n, k, placeByRows<Wide>(n), 0, k);
    Sums<Wide> sums = {};
    Fragments<Wide> fragments[2];
    if (k >= kStep) {
        tiles.copy(0);
        tiles.commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        tiles.load(fragments[0], 0, 0);
    }
    unsigned buffer = 0;
    for (unsigned t = 0; t < k / kStep; ++t) {
#pragma unroll
        for (unsigned step = 0; step < kStep; ++step) {
            if (step < kQuarters) tiles.copy(1 - buffer, step, kQuarters);
            if (step + 1 == kQuarters) tiles.commit();
            if (step + 1 == kStep) {
                __pipeline_wait_prior(0);
                __syncthreads();  // the next tiles are complete, and nobody needs these any more
                buffer = 1 - buffer;
            }
            tiles.load(fragments[(step + 1) % 2], buffer, (step + 1) % kStep);
            multiplyAdd<Wide>(sums, fragments[step % 2]);
        }
    }
    tiles.multiplyRest(sums);
    tiles.store(c, sums);
}

// Takes every other row of results backwards. Within a row, the element of A stays the same from
// one FMA to the next. At the end of a row, the element of B stays the same, too.
template <class T>
__device__ void multiplyAddZigzag(Sums<T>& sums, const Fragments<T>& of) {
#pragma unroll
    for (unsigned i = 0; i < T::kThreadRows; ++i) {
#pragma unroll
        for (unsigned there = 0; there < T::kThreadCols; ++there) {
            const unsigned j = i % 2 == 0 ? there : T::kThreadCols - 1 - there;
            sums[i][j] = fmaf(of.a[i], of.b[j], sums[i][j]);
        }
    }
}

// fragmentsAhead with another order of the FMAs. Still wrong: blocks that run at the same time need
// a few rows of A, but all of B.
template <bool kWhole>
__global__ void __launch_bounds__(Wide::kThreads, Wide::kBlocksPerSm)
    zigzag(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
           unsigned m, unsigned n, unsigned k) {
    extern __shared__ float4 shared[];
    BlockTiles<Wide, kWhole> tiles(shared, a, b, m, n, k, placeByRows<Wide>(n), 0, k);
    Sums<Wide> sums = {};
    Fragments<Wide> fragments[2];
    if (k >= kStep) {
        tiles.copy(0);
        tiles.commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        tiles.load(fragments[0], 0, 0);
    }
    unsigned buffer = 0;
    for (unsigned t = 0; t < k / kStep; ++t) {
#pragma unroll
        for (unsigned step = 0; step < kStep; ++step) {
            if (step < kQuarters) tiles.copy(1 - buffer, step, kQuarters);
            if (step + 1 == kQuarters) tiles.commit();
            if (step + 1 == kStep) {
                __pipeline_wait_prior(0);
                __syncthreads();
                buffer = 1 - buffer;
            }
            tiles.load(fragments[(step + 1) % 2], buffer, (step + 1) % kStep);
            multiplyAddZigzag<Wide>(sums, fragments[step % 2]);
        }
    }
    tiles.multiplyRest(sums);
    tiles.store(c, sums);
}

// Blocks begin about in the order of their numbers. Here they take groups of eight rows of tiles,
// column after column. So the blocks that run at the same time need fewer columns of B.
template <class T>
__device__ Place placeInGroups(unsigned m, unsigned n) {
    constexpr unsigned kGroup = 8;
    const unsigned tileRows = (m + T::kRows - 1) / T::kRows;
    const unsigned tileCols = (n + T::kCols - 1) / T::kCols;
    const unsigned group = blockIdx.x / (kGroup * tileCols),
                   inGroup = blockIdx.x % (kGroup * tileCols);
    const unsigned rows = min(kGroup, tileRows - group * kGroup);  // the last group may have fewer
    return {(group * kGroup + inGroup % rows) * T::kRows, inGroup / rows * T::kCols};
}

// zigzag with another order of the blocks. Still wrong: a small product has fewer such tiles than
// the GPU has SMs.
template <bool kWhole>
__global__ void __launch_bounds__(Wide::kThreads, Wide::kBlocksPerSm)
    grouped(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
            unsigned m, unsigned n, unsigned k) {
    extern __shared__ float4 shared[];
    BlockTiles<Wide, kWhole> tiles(shared, a, b, m, n, k, placeInGroups<Wide>(m, n), 0, k);
    Sums<Wide> sums = {};
    Fragments<Wide> fragments[2];
    if (k >= kStep) {
        tiles.copy(0);
        tiles.commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        tiles.load(fragments[0], 0, 0);
    }
    unsigned buffer = 0;
    for (unsigned t = 0; t < k / kStep; ++t) {
#pragma unroll
        for (unsigned step = 0; step < kStep; ++step) {
            if (step < kQuarters) tiles.copy(1 - buffer, step, kQuarters);
            if (step + 1 == kQuarters) tiles.commit();
            if (step + 1 == kStep) {
                __pipeline_wait_prior(0);
                __syncthreads();
                buffer = 1 - buffer;
            }
            tiles.load(fragments[(step + 1) % 2], buffer, (step + 1) % kStep);
            multiplyAddZigzag<Wide>(sums, fragments[step % 2]);
        }
    }
    tiles.multiplyRest(sums);
    tiles.store(c, sums);
}

// grouped with smaller tiles, and with several blocks for each of them. The blocks with blockIdx.y
// = p multiply columns p * kPerPart and following of A. They store their part of the sums to a
// matrix of their own, number p of `parts`.
template <bool kWhole>
__global__ void __launch_bounds__(Small::kThreads, Small::kBlocksPerSm)
    splitK(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ parts,
           unsigned m, unsigned n, unsigned k, unsigned kPerPart) {
    extern __shared__ float4 shared[];
    const unsigned firstK = blockIdx.y * kPerPart, length = min(kPerPart, k - firstK);
    BlockTiles<Small, kWhole> tiles(shared, a, b, m, n, k, placeInGroups<Small>(m, n), firstK,
                                    length);
    Sums<Small> sums = {};
    Fragments<Small> fragments[2];
    if (length >= kStep) {
        tiles.copy(0);
        tiles.commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        tiles.load(fragments[0], 0, 0);
    }
    unsigned buffer = 0;
    for (unsigned t = 0; t < length / kStep; ++t) {
#pragma unroll
        for (unsigned step = 0; step < kStep; ++step) {
            if (step < kQuarters) tiles.copy(1 - buffer, step, kQuarters);
            if (step + 1 == kQuarters) tiles.commit();
            if (step + 1 == kStep) {
                __pipeline_wait_prior(0);
                __syncthreads();
                buffer = 1 - buffer;
            }
            tiles.load(fragments[(step + 1) % 2], buffer, (step + 1) % kStep);
            multiplyAddZigzag<Small>(sums, fragments[step % 2]);
        }
    }
    tiles.multiplyRest(sums);
    tiles.store(parts + std::size_t{blockIdx.y} * m * n, sums);
}

// Adds the sums of the parts of k, in the order of k.
__global__ void addParts(const float* __restrict__ parts, float* __restrict__ c, std::size_t count,
                         unsigned howMany) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        float sum = 0;
        for (unsigned p = 0; p < howMany; ++p) sum += parts[p * count + i];
        c[i] = sum;
    }
}

template <class T>
unsigned tilesOf(unsigned m, unsigned n) {
    return lab::blocksFor(std::size_t{lab::blocksFor(m, T::kRows)} * lab::blocksFor(n, T::kCols),
                          1);
}

// Whether no tile sticks out of C.
template <class T>
bool isWhole(unsigned m, unsigned n) {
    return m % T::kRows == 0 && n % T::kCols == 0;
}

constexpr unsigned kWideTiles = UINT_MAX;  // in place of a number of parts

// In how many parts splitK should split k, or kWideTiles where grouped should take less time.
// Blocks come in waves, one block for each SM at a time. The unit of time is what a small tile
// takes for one column of A while there are enough blocks to hide latencies. A block that is alone
// on its SM takes an eighth more. A wide tile is four times as large and takes 3.6. To begin and to
// end costs as much as 32 columns. Storing a part costs 44 more, and addParts 48. (We measured
// these numbers on an H200, where the unit is 0.0435 us.)
unsigned partsByShape(unsigned m, unsigned n, unsigned k, unsigned multiprocessors) {
    const auto waves = [&](std::size_t blocks) { return lab::blocksFor(blocks, multiprocessors); };
    const std::size_t small = tilesOf<Small>(m, n);
    double least = waves(tilesOf<Wide>(m, n)) * 3.6 * (k + 32.0);
    unsigned best = kWideTiles;
    for (unsigned parts = 1;
         parts == 1 || (parts <= k / 64 && small * parts <= 16 * multiprocessors); ++parts) {
        const double alone = small * parts <= multiprocessors ? 9.0 / 8 : 1;
        const double block = k / parts + (parts == 1 ? 32 : 32 + 44);
        const double cost = waves(small * parts) * alone * block + (parts == 1 ? 0 : 48);
        if (cost < least) {
            least = cost;
            best = parts;
        }
    }
    return best;
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
    const auto registersOf = [](auto* kernel) {
        cudaFuncAttributes attributes;
        CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
        return attributes.numRegs;
    };
    // A kernel has to opt in for more than 48 KiB of shared memory.
    const auto setShared = [](auto* kernel, std::size_t bytes) {
        CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(bytes)));
    };
    // A kernel that multiplies in one go, with tiles of type T.
    const auto rung = [&](const char* name, auto tile, auto* kernel) {
        using T = decltype(tile);
        setShared(kernel, T::kSharedBytes);
        const unsigned blocks = tilesOf<T>(m, n);
        const auto check = [&] { return finding(true, {registersOf(kernel), 1}); };
        ladder.rung(name, blocks, T::kThreads, work, check,
                    [&] { kernel<<<blocks, T::kThreads, T::kSharedBytes>>>(a, b, c, m, n, k); });
    };
    // splitK, and addParts behind it if there is more than one part.
    const auto splitRung = [&](const char* name, unsigned wanted, auto* kernel) {
        if (wanted == 0) {  // nothing computes C, so the row is WRONG
            const auto check = [&] { return finding(false, {"", ""}); };
            ladder.rung(name, 0, Small::kThreads, work, check, [] {});
            return;
        }
        const unsigned steps = lab::blocksFor(lab::blocksFor(k, wanted), kStep);
        const unsigned kPerPart = std::min(k, steps * kStep), parts = lab::blocksFor(k, kPerPart);
        const lab::DeviceBuffer<float> ofParts(parts == 1 ? 0 : parts * rows * cols);
        setShared(kernel, Small::kSharedBytes);
        const dim3 grid(tilesOf<Small>(m, n), parts);
        const auto check = [&] { return finding(parts == 1, {registersOf(kernel), parts}); };
        ladder.rung(name, grid, Small::kThreads, work, check, [&] {
            float* const to = parts == 1 ? c : ofParts.get();
            kernel<<<grid, Small::kThreads, Small::kSharedBytes>>>(a, b, to, m, n, k, kPerPart);
            if (parts > 1) {
                const unsigned blocks = exercise.device().residentBlocks(256);
                addParts<<<blocks, 256>>>(to, c, rows * cols, parts);
            }
        });
    };
    const bool narrow = isWhole<Narrow>(m, n), wide = isWhole<Wide>(m, n);
    rung("oneBuffer", OneBuffer{},
         narrow ? oneBuffer<OneBuffer, true> : oneBuffer<OneBuffer, false>);
    rung("twoBuffers", Narrow{}, narrow ? twoBuffers<Narrow, true> : twoBuffers<Narrow, false>);
    rung("wideTiles", Wide{}, wide ? twoBuffers<Wide, true> : twoBuffers<Wide, false>);
    rung("fragmentsAhead", Wide{}, wide ? fragmentsAhead<true> : fragmentsAhead<false>);
    rung("zigzag", Wide{}, wide ? zigzag<true> : zigzag<false>);
    const auto wideKernel = wide ? grouped<true> : grouped<false>;
    rung("grouped", Wide{}, wideKernel);
    const unsigned parts = partsByShape(m, n, k, exercise.device().multiprocessors);
    if (parts == kWideTiles) {
        rung("matmulFast", Wide{}, wideKernel);
    } else {
        splitRung("matmulFast", parts, isWhole<Small>(m, n) ? splitK<true> : splitK<false>);
    }
    const auto isProduct = [&] { return finding(false, {"", ""}); };  // in whatever order
    lab::cublasMatmul(ladder, isProduct, a, b, c, m, n, k);
    ladder.announceFastest();
    return exercise.finish();
}
