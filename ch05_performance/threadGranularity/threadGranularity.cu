// Multiplies two matrices with several results in each thread. A block merges neighbouring blocks
// of the tiled product and keeps its number of threads. It loads once what those blocks loaded
// several times, and an element that a thread has loaded from shared memory serves several
// multiply-adds. But a block takes more registers and more shared memory, so fewer blocks fit on a
// multiprocessor (SM), and the grid has fewer blocks.
//
//   1 granularity1x1  one result: the tiled product of `matmul`, with tiles of 16 x 16
//   2 granularity1x2  merges two blocks side by side, which share their rows of A
//   3 granularity2x1  merges two blocks, one below the other, which share their columns of B
//   4 granularity1x4  merges four blocks in a row
//   5 granularity2x2  merges four blocks in a square, which share both
//   6 granularity4x4  merges sixteen blocks in a square
//     cublasSgemm     NVIDIA's library, in FP32 (without tensor cores)
//
// Each block has 16 x 16 threads. In RxC, R is the rows of results of a thread, and C the columns.
//
//   regs, bytes       registers of a thread, and bytes of shared memory of a block
//   blocks            how many blocks fit on an SM, as CUDA computes it
//   occ. %            occupancy: the warps of these blocks, of those that an SM can hold
//   global, shared    predicted loads for each multiply-add, from global and from shared memory
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

// The tiled product of `matmul`, where each thread has one result. Still wrong: each multiply-add
// loads an element of A and one of B from shared memory. And the block to the right loads the same
// tiles of A from global memory.
__global__ void granularity1x1(const float* a, const float* b, float* c, std::size_t m,
                               std::size_t n, std::size_t k) {
    __shared__ float tileA[kTile][kTile];
    __shared__ float tileB[kTile][kTile];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const std::size_t row = lab::blockY() * kTile + y;
    const std::size_t col = std::size_t{blockIdx.x} * kTile + x;

    float sum = 0;
    for (std::size_t first = 0; first < k; first += kTile) {
        tileA[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0;
        tileB[y][x] = first + y < k && col < n ? b[(first + y) * n + col] : 0;
        __syncthreads();  // the tiles are complete
        for (unsigned i = 0; i < kTile; ++i) sum += tileA[y][i] * tileB[i][x];
        __syncthreads();  // all threads have used them
    }
    if (row < m && col < n) c[row * n + col] = sum;
}

// A block does the work of two blocks side by side. It has one tile of A for both, and a tile of B
// for each. A thread has two results, 16 columns apart. An element of A that it has loaded from
// shared memory serves two multiply-adds. Still wrong: an element of B serves only one.
__global__ void granularity1x2(const float* a, const float* b, float* c, std::size_t m,
                               std::size_t n, std::size_t k) {
    __shared__ float tileA[kTile][kTile];
    __shared__ float tilesB[2][kTile][kTile];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const std::size_t row = lab::blockY() * kTile + y;
    const std::size_t col = std::size_t{blockIdx.x} * (2 * kTile) + x;  // and col + kTile

    float left = 0, right = 0;
    for (std::size_t first = 0; first < k; first += kTile) {
        tileA[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0;
        tilesB[0][y][x] = first + y < k && col < n ? b[(first + y) * n + col] : 0;
        tilesB[1][y][x] = first + y < k && col + kTile < n ? b[(first + y) * n + col + kTile] : 0;
        __syncthreads();
        for (unsigned i = 0; i < kTile; ++i) {
            const float ofA = tileA[y][i];
            left += ofA * tilesB[0][i][x];
            right += ofA * tilesB[1][i][x];
        }
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = left;
    if (row < m && col + kTile < n) c[row * n + col + kTile] = right;
}

// A block merges kRows x kCols blocks: kRows below one another, kCols side by side. So it has kRows
// tiles of A and kCols tiles of B. A thread has the results that the threads in its place had in
// all of these blocks, 16 rows or columns apart. Each loaded element of A serves kCols
// multiply-adds, and each element of B serves kRows. Still wrong: the elements of B that a thread
// needs are no neighbours in shared memory, so it loads them one by one. And each step of 16 ends
// at two barriers, however much there is to compute.
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
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < kTile; ++i) {
            float ofA[kRows], ofB[kCols];
#pragma unroll  // every index becomes a constant, so that the arrays can live in registers
            for (unsigned r = 0; r < kRows; ++r) ofA[r] = tilesA[r][y][i];
#pragma unroll
            for (unsigned s = 0; s < kCols; ++s) ofB[s] = tilesB[s][i][x];
#pragma unroll
            for (unsigned r = 0; r < kRows; ++r) {
#pragma unroll
                for (unsigned s = 0; s < kCols; ++s) sum[r][s] += ofA[r] * ofB[s];
            }
        }
        __syncthreads();
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
                           "Multiplies two matrices, with one result in each thread or several.");
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
    exercise.noteInEmulation("It does not count registers, so they limit nothing.");
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
            // In a step of i, a thread loads rows + cols elements for rows * cols multiply-adds.
            const double loads = static_cast<double>(rows + cols) / (rows * cols);
            return {reference.mismatch(bufferC.toHost()),
                    {attributes.numRegs,
                     attributes.sharedSizeBytes,
                     blocks,
                     {occupancy, 1},
                     {loads / kTile, 4},  // kTile threads use each element
                     {loads, 2}}};
        };
        const dim3 grid = lab::gridFor(lab::blocksFor(n, cols), lab::blocksFor(m, rows), kTile);
        ladder.rung(name, grid, block, work, check,
                    [&] { kernel<<<grid, block>>>(a, b, c, m, n, k); });
    };
    rung("granularity1x1", granularity1x1, Rows{1}, Cols{1});
    rung("granularity1x2", granularity1x2, Rows{1}, Cols{2});
    rung("granularity2x1", granularity<2, 1>, Rows{2}, Cols{1});
    rung("granularity1x4", granularity<1, 4>, Rows{1}, Cols{4});
    rung("granularity2x2", granularity<2, 2>, Rows{2}, Cols{2});
    rung("granularity4x4", granularity<4, 4>, Rows{4}, Cols{4});
    const auto isProduct = [&] { return reference.mismatch(bufferC.toHost()); };
    lab::cublasMatmul(ladder, isProduct, a, b, c, m, n, k);
    ladder.announceFastest();
    return exercise.finish();
}
