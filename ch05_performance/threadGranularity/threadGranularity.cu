// Multiplies two matrices with several results to a thread: neighbouring blocks of the tiled
// product are merged into one with as many threads. What they loaded twice is loaded once, and what
// a thread has read from shared memory serves more than one multiply-add. The price: a block takes
// more registers and shared memory, so fewer fit on a multiprocessor (SM), and there are fewer of
// them.
//
//   1 granularity1x1  one result: the tiled product of `matmul`, with tiles of 16 x 16
//   2 granularity1x2  two blocks side by side are one: they share their rows of A
//   3 granularity2x1  two blocks, one below the other: they share their columns of B
//   4 granularity1x4  four in a row
//   5 granularity2x2  four in a square: both are shared
//   6 granularity4x4  sixteen in a square
//     cublasSgemm     what NVIDIA's library makes of it, in FP32 (no tensor cores)
//
// Every block has 16 x 16 threads; RxC are rows and columns of results to each.
//
//   regs, bytes       registers of a thread, bytes of shared memory of a block
//   blocks            that fit on an SM, as CUDA counts; occupancy: the warps of these in percent
//   of
//                     those that an SM can hold
//   global, shared    a prediction: loads for each multiply-add from global and from shared memory
//
//   ./lab run threadGranularity -- --m=4K --n=4K --k=4K
//   ./lab test threadGranularity
//   ./lab profile threadGranularity
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target threadGranularity
//   build/ch05_performance/threadGranularity --m=4K --n=4K --k=4K
//   ncu build/ch05_performance/threadGranularity --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch05_performance/threadGranularity/threadGranularity.cu
//       common/*.cpp common/*.cu -DLAB_HAVE_CUBLAS -lcublas -o build/threadGranularity

#include <cstddef>
#include <vector>

#include "../productReference.h"
#include "lab.cuh"
#include "peers_cublas.cuh"

constexpr unsigned kTile = 16;  // side of a block and of its tiles

// A block merges kRows x kCols blocks: it has the tiles of A of kRows of them, the tiles of B of
// kCols, and each thread the results that the thread in its place had in every one of them, 16 rows
// or columns apart. With kRows = kCols = 1 this is matmulTiled<16> of `matmul`: each multiply-add
// reads an element of A and one of B from shared memory. Here one of A serves kCols multiply-adds,
// one of B serves kRows. Still wrong: elements of B that neighbouring results need are not
// neighbours in shared memory for a thread, and are loaded one by one; and a step of 16 ends at two
// barriers, however much there is to compute in it.
template <unsigned kRows, unsigned kCols>
__global__ void granularity(const float* a, const float* b, float* c, std::size_t m, std::size_t n,
                            std::size_t k) {
    __shared__ float tilesA[kRows][kTile][kTile];
    __shared__ float tilesB[kCols][kTile][kTile];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const std::size_t firstRow = lab::blockY() * (kRows * kTile) + y;
    const std::size_t firstCol = std::size_t{blockIdx.x} * (kCols * kTile) + x;

    float sum[kRows][kCols] = {};
    for (std::size_t first = 0; first < k; first += kTile) {
#pragma unroll
        for (unsigned r = 0; r < kRows; ++r) {
            const std::size_t row = firstRow + r * kTile;
            tilesA[r][y][x] = row < m && first + x < k ? a[row * k + first + x] : 0;
        }
#pragma unroll
        for (unsigned s = 0; s < kCols; ++s) {
            const std::size_t col = firstCol + s * kTile;
            tilesB[s][y][x] = first + y < k && col < n ? b[(first + y) * n + col] : 0;
        }
        __syncthreads();  // the tiles are complete
#pragma unroll
        for (unsigned i = 0; i < kTile; ++i) {
            float ofA[kRows], ofB[kCols];
#pragma unroll  // every index becomes a constant: only then can an array live in registers
            for (unsigned r = 0; r < kRows; ++r) ofA[r] = tilesA[r][y][i];
#pragma unroll
            for (unsigned s = 0; s < kCols; ++s) ofB[s] = tilesB[s][i][x];
#pragma unroll
            for (unsigned r = 0; r < kRows; ++r) {
#pragma unroll
                for (unsigned s = 0; s < kCols; ++s) sum[r][s] += ofA[r] * ofB[s];
            }
        }
        __syncthreads();  // nobody needs them any more
    }
#pragma unroll
    for (unsigned r = 0; r < kRows; ++r) {
#pragma unroll
        for (unsigned s = 0; s < kCols; ++s) {
            const std::size_t row = firstRow + r * kTile, col = firstCol + s * kTile;
            if (row < m && col < n) c[row * n + col] = sum[r][s];
        }
    }
}

int main(int argc, char** argv) {
    std::size_t m, n, k;
    lab::Exercise exercise("threadGranularity",
                           "Multiplies two matrices, with one result to a thread or several.");
    exercise.option("m", &m, {2048, 192}, 1, lab::kMaxSize, "rows of A and C");
    exercise.option("n", &n, {2048, 192}, 1, lab::kMaxSize, "columns of B and C");
    exercise.option("k", &k, {2048, 192}, 1, lab::kMaxSize, "columns of A, rows of B");
    exercise.parse(argc, argv);
    exercise.requireProduct(m, n, k);
    constexpr auto kPredicted = lab::OwnColumn::kPredicted;
    exercise.columns(lab::Columns::kLadder,
                     {{"regs", 4, "registers", lab::OwnColumn::kOnGpu},
                      {"bytes", 5, "shared_bytes"},
                      {"blocks", 6, "blocks_per_sm"},
                      {"occ. %", 6, "occupancy"},
                      {"global", 6, "global_loads", kPredicted},
                      {"shared", 6, "shared_loads", kPredicted}},
                     {"grid", "block", "percent_peak"});

    const std::vector<float> hostA = lab::randomFloats(m * k, exercise.seed(), -1, 1);
    const std::vector<float> hostB = lab::randomFloats(k * n, exercise.seed() + 1, -1, 1);
    const lab::DeviceBuffer<float> bufferA(hostA), bufferB(hostB);
    lab::DeviceBuffer<float> bufferC(m * n);
    const float *const a = bufferA.get(), *const b = bufferB.get();
    float* const c = bufferC.get();

    exercise.title("C (%zu x %zu) = A (%zu x %zu) * B (%zu x %zu), block %ux%u", m, n, m, k, k, n,
                   kTile, kTile);
    exercise.noteInEmulation("It knows no registers, which limit nothing.");
    const ProductReference reference(hostA, hostB, m, n, k, exercise.seed());
    if (!reference.sampleNote().empty()) exercise.note(reference.sampleNote());

    const lab::Work work = lab::flops(2.0 * m * n * k);  // a multiplication and an addition
    const dim3 block(kTile, kTile);
    lab::Ladder ladder(exercise, bufferC);
    struct Rows {
        unsigned count;
    };
    struct Cols {
        unsigned count;
    };
    const auto rung = [&](const char* name, auto* kernel, Rows rowsOfThread, Cols colsOfThread) {
        const unsigned rows = rowsOfThread.count, cols = colsOfThread.count;
        const auto check = [&, kernel, rows, cols]() -> lab::Finding {
            cudaFuncAttributes attributes;
            CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
            int blocks;
            CUDA_CHECK(
                cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kTile * kTile, 0));
            const double occupancy =
                100.0 * blocks * kTile * kTile / exercise.device().threadsPerMultiprocessor;
            // For a step of i a thread loads so many elements, for so many multiply-adds.
            const double loads = static_cast<double>(rows + cols) / (rows * cols);
            return {reference.mismatch(bufferC.toHost()),
                    {attributes.numRegs,
                     attributes.sharedSizeBytes,
                     blocks,
                     {occupancy, 1},
                     {loads / kTile, 4},  // loaded once, and used by kTile threads
                     {loads, 2}}};
        };
        const dim3 grid = lab::gridFor(lab::blocksFor(n, cols), lab::blocksFor(m, rows), kTile);
        ladder.rung(name, grid, block, work, check,
                    [&] { kernel<<<grid, block>>>(a, b, c, m, n, k); });
    };
    rung("granularity1x1", granularity<1, 1>, Rows{1}, Cols{1});
    rung("granularity1x2", granularity<1, 2>, Rows{1}, Cols{2});
    rung("granularity2x1", granularity<2, 1>, Rows{2}, Cols{1});
    rung("granularity1x4", granularity<1, 4>, Rows{1}, Cols{4});
    rung("granularity2x2", granularity<2, 2>, Rows{2}, Cols{2});
    rung("granularity4x4", granularity<4, 4>, Rows{4}, Cols{4});
    const auto isProduct = [&] { return reference.mismatch(bufferC.toHost()); };
    lab::cublasMatmul(ladder, isProduct, a, b, c, m, n, k);
    ladder.announceFastest();
    return exercise.finish();
}
