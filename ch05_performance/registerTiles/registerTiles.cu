// Multiplies two matrices with a tile of results in the registers of each thread. What a thread has
// read from shared memory serves a whole row or column of its tile; the ladder is about reading it
// in fewer loads, and in fewer turns of shared memory.
//
//   1 registerColumn       8 x 1 results to a thread: an element of B serves 8 multiply-adds
//   2 registerSquare       8 x 8 results: 16 loads from shared memory serve 64 multiply-adds
//   3 registerFloat4       loads and stores of 16 bytes: 4 loads serve 64 multiply-adds
//   4 registerNoConflicts  the same, and the lanes of a warp no longer meet in a bank
//   5 registerWarpTiles    the lanes in a rectangle: more of them want the same 16 bytes
//     cublasSgemm          what NVIDIA's library makes of it, in FP32 (no tensor cores)
//
// Every element is one chain of fmaf() in the order of k. It rounds once, on the CPU as on the GPU:
// the results of each kernel must be identical to the bit.
//
//   ./lab run registerTiles -- --m=4K --n=4K --k=4K
//   ./lab test registerTiles
//   ./lab profile registerTiles
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target registerTiles
//   build/ch05_performance/registerTiles --m=4K --n=4K --k=4K
//   ncu build/ch05_performance/registerTiles --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch05_performance/registerTiles/registerTiles.cu
//       common/*.cpp common/*.cu -DLAB_HAVE_CUBLAS -lcublas -o build/registerTiles

#include <cstddef>
#include <vector>

#include "../productReference.h"
#include "lab.cuh"
#include "peers_cublas.cuh"

constexpr unsigned kStep = 8;  // along k: the columns of a tile of A, the rows of a tile of B

// The element, or 0 outside of the matrix, which adds nothing.
__device__ float elementOrZero(const float* matrix, std::size_t row, std::size_t col,
                               std::size_t rows, std::size_t cols) {
    return row < rows && col < cols ? matrix[row * cols + col] : 0;
}

// A block computes 64 x 64 results, a thread 8 neighbours in a column. An element of B is read once
// and kept in a register for 8 multiply-adds. Still wrong: each of them reads an element of A,
// which no other multiply-add of the thread can use.
constexpr unsigned kColumnSide = 64;                      // of the block's results
constexpr unsigned kColumnThreads = kColumnSide * kStep;  // each loads an element of both tiles
constexpr unsigned kColumnRows = kColumnSide * kColumnSide / kColumnThreads;  // of a thread

__global__ void registerColumn(const float* a, const float* b, float* c, std::size_t m,
                               std::size_t n, std::size_t k) {
    __shared__ float tileA[kColumnSide][kStep];
    __shared__ float tileB[kStep][kColumnSide];
    const std::size_t firstRow = lab::blockY() * kColumnSide;
    const std::size_t firstCol = std::size_t{blockIdx.x} * kColumnSide;
    const unsigned x = threadIdx.x % kColumnSide, y = threadIdx.x / kColumnSide;
    const unsigned rowA = threadIdx.x / kStep, colA = threadIdx.x % kStep;

    float sum[kColumnRows] = {};
    for (std::size_t first = 0; first < k; first += kStep) {
        tileA[rowA][colA] = elementOrZero(a, firstRow + rowA, first + colA, m, k);
        tileB[y][x] = elementOrZero(b, first + y, firstCol + x, k, n);
        __syncthreads();  // the tiles are complete
#pragma unroll
        for (unsigned i = 0; i < kStep; ++i) {
            const float ofB = tileB[i][x];
#pragma unroll  // every index becomes a constant: only then can an array live in registers
            for (unsigned r = 0; r < kColumnRows; ++r)
                sum[r] = fmaf(tileA[kColumnRows * y + r][i], ofB, sum[r]);
        }
        __syncthreads();  // nobody needs them any more
    }
#pragma unroll
    for (unsigned r = 0; r < kColumnRows; ++r) {
        const std::size_t row = firstRow + kColumnRows * y + r, col = firstCol + x;
        if (row < m && col < n) c[row * n + col] = sum[r];
    }
}

// From here on a block computes 128 x 128 results, a thread 8 x 8 of them.
constexpr unsigned kSide = 128;
constexpr unsigned kPerThread = 8;                // rows and columns of a thread
constexpr unsigned kAcross = kSide / kPerThread;  // threads side by side
constexpr unsigned kThreads = kAcross * kAcross;
constexpr unsigned kBlocksPerSm = 2;  // at most 128 registers to a thread, so that as many fit

// Each element of a column of A times each of a row of B: 64 multiply-adds for 16 elements.
__device__ void addOuterProduct(const float (&ofA)[kPerThread], const float (&ofB)[kPerThread],
                                float (&sum)[kPerThread][kPerThread]) {
#pragma unroll
    for (unsigned r = 0; r < kPerThread; ++r) {
#pragma unroll
        for (unsigned s = 0; s < kPerThread; ++s) sum[r][s] = fmaf(ofA[r], ofB[s], sum[r][s]);
    }
}

// Elements of A are kept as well: each serves a row of the thread's results, each of B a column.
// The rows and columns of a thread are 16 apart, so that neighbouring threads read neighbouring
// elements. Still wrong: those of B take a load each, with 4 bytes for a thread.
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    registerSquare(const float* a, const float* b, float* c, std::size_t m, std::size_t n,
                   std::size_t k) {
    __shared__ float tileA[kSide][kStep];
    __shared__ float tileB[kStep][kSide];
    const std::size_t firstRow = lab::blockY() * kSide;
    const std::size_t firstCol = std::size_t{blockIdx.x} * kSide;
    const unsigned x = threadIdx.x % kAcross, y = threadIdx.x / kAcross;

    float sum[kPerThread][kPerThread] = {};
    for (std::size_t first = 0; first < k; first += kStep) {
#pragma unroll
        for (unsigned j = 0; j < kSide * kStep / kThreads; ++j) {
            const unsigned e = j * kThreads + threadIdx.x;
            const unsigned rowA = e / kStep, colA = e % kStep, rowB = e / kSide, colB = e % kSide;
            tileA[rowA][colA] = elementOrZero(a, firstRow + rowA, first + colA, m, k);
            tileB[rowB][colB] = elementOrZero(b, first + rowB, firstCol + colB, k, n);
        }
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < kStep; ++i) {
            float ofA[kPerThread], ofB[kPerThread];
#pragma unroll
            for (unsigned r = 0; r < kPerThread; ++r) ofA[r] = tileA[y + r * kAcross][i];
#pragma unroll
            for (unsigned s = 0; s < kPerThread; ++s) ofB[s] = tileB[i][x + s * kAcross];
            addOuterProduct(ofA, ofB, sum);
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned r = 0; r < kPerThread; ++r) {
#pragma unroll
        for (unsigned s = 0; s < kPerThread; ++s) {
            const std::size_t row = firstRow + y + r * kAcross, col = firstCol + x + s * kAcross;
            if (row < m && col < n) c[row * n + col] = sum[r][s];
        }
    }
}

// Four neighbours of a row, 0 outside of the matrix. kWide: the rows have a multiple of four
// elements, so that each begins at a multiple of 16 bytes, and the four are all inside or all
// outside: one load. Else there are four.
template <bool kWide>
__device__ float4 fourOrZero(const float* matrix, std::size_t row, std::size_t col,
                             std::size_t rows, std::size_t cols) {
    if constexpr (kWide) {
        if (row >= rows || col >= cols) return make_float4(0, 0, 0, 0);
        return *reinterpret_cast<const float4*>(matrix + row * cols + col);
    } else {
        return make_float4(elementOrZero(matrix, row, col, rows, cols),
                           elementOrZero(matrix, row, col + 1, rows, cols),
                           elementOrZero(matrix, row, col + 2, rows, cols),
                           elementOrZero(matrix, row, col + 3, rows, cols));
    }
}

// Two pieces of four elements of a row of a tile, `gap` apart.
__device__ void readTwoPieces(const float* from, unsigned gap, float (&to)[kPerThread]) {
#pragma unroll
    for (unsigned piece = 0; piece < 2; ++piece) {
        const float4 four = *reinterpret_cast<const float4*>(from + piece * gap);
        to[4 * piece] = four.x;
        to[4 * piece + 1] = four.y;
        to[4 * piece + 2] = four.z;
        to[4 * piece + 3] = four.w;
    }
}

// Which of the block's results are a thread's: two pieces of four rows, the second one rowGap below
// the first, times two pieces of four columns.
struct ThreadTile {
    unsigned row, col, rowGap, colGap;
};

// What rungs 3 to 5 have in common. For four elements of a column of A to be one load, its tile is
// transposed on the way in: what were columns are rows, kPitchA elements apart.
template <bool kWide, unsigned kPitchA>
__device__ void multiply(ThreadTile tile, const float* a, const float* b, float* c, std::size_t m,
                         std::size_t n, std::size_t k) {
    static_assert(4 * kThreads == kSide * kStep, "a thread loads four elements of each tile");
    __shared__ __align__(16) float tileA[kStep][kPitchA];
    __shared__ __align__(16) float tileB[kStep][kSide];
    const std::size_t firstRow = lab::blockY() * kSide;
    const std::size_t firstCol = std::size_t{blockIdx.x} * kSide;
    const unsigned rowA = 4 * threadIdx.x / kStep, colA = 4 * threadIdx.x % kStep;
    const unsigned rowB = 4 * threadIdx.x / kSide, colB = 4 * threadIdx.x % kSide;

    float sum[kPerThread][kPerThread] = {};
    for (std::size_t first = 0; first < k; first += kStep) {
        const float4 fourOfA = fourOrZero<kWide>(a, firstRow + rowA, first + colA, m, k);
        const float4 fourOfB = fourOrZero<kWide>(b, first + rowB, firstCol + colB, k, n);
        tileA[colA][rowA] = fourOfA.x;
        tileA[colA + 1][rowA] = fourOfA.y;
        tileA[colA + 2][rowA] = fourOfA.z;
        tileA[colA + 3][rowA] = fourOfA.w;
        *reinterpret_cast<float4*>(&tileB[rowB][colB]) = fourOfB;
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < kStep; ++i) {
            float ofA[kPerThread], ofB[kPerThread];
            readTwoPieces(&tileA[i][tile.row], tile.rowGap, ofA);
            readTwoPieces(&tileB[i][tile.col], tile.colGap, ofB);
            addOuterProduct(ofA, ofB, sum);
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned r = 0; r < kPerThread; ++r) {
        const std::size_t row = firstRow + tile.row + r / 4 * tile.rowGap + r % 4;
#pragma unroll
        for (unsigned s = 0; s < kPerThread; s += 4) {
            const std::size_t col = firstCol + tile.col + s / 4 * tile.colGap;
            float* const to = c + row * n + col;
            if (kWide && row < m && col < n)
                *reinterpret_cast<float4*>(to) =
                    make_float4(sum[r][s], sum[r][s + 1], sum[r][s + 2], sum[r][s + 3]);
            for (unsigned j = 0; !kWide && j < 4; ++j) {
                if (row < m && col + j < n) to[j] = sum[r][s + j];
            }
        }
    }
}

// 16 x 16 threads, each with 8 neighbouring rows and columns. Still wrong: neighbouring threads
// read B 32 bytes apart, and every fourth meets in the same banks. When A is stored in its tile,
// every thread meets its neighbour, four of those rows away, which is 16 times all banks.
template <bool kWide>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    registerFloat4(const float* a, const float* b, float* c, std::size_t m, std::size_t n,
                   std::size_t k) {
    const unsigned x = threadIdx.x % kAcross, y = threadIdx.x / kAcross;
    multiply<kWide, kSide>({8 * y, 8 * x, 4, 4}, a, b, c, m, n, k);
}

// The second piece is half a tile from the first, so that neighbouring threads read neighbouring 16
// bytes. Rows of A's tile have 4 elements of padding: 4 rows are then 16 banks further. Still
// wrong: a warp has 16 threads side by side, which want 256 different bytes of B at a time.
template <bool kWide>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    registerNoConflicts(const float* a, const float* b, float* c, std::size_t m, std::size_t n,
                        std::size_t k) {
    const unsigned x = threadIdx.x % kAcross, y = threadIdx.x / kAcross;
    multiply<kWide, kSide + 4>({4 * y, 4 * x, kSide / 2, kSide / 2}, a, b, c, m, n, k);
}

// A warp has 32 x 64 results, its lanes stand in 4 rows of 8: half of a warp wants 128 bytes of B
// in place of 256, as much as a turn has. Still wrong: it takes no fewer turns, since lanes that
// want the same 16 bytes are 8 apart, and would have to be 1 or 2 (task 5). And a block loads
// nothing while it computes, and computes nothing while it loads. `matmulFast` goes on from here.
template <bool kWide>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    registerWarpTiles(const float* a, const float* b, float* c, std::size_t m, std::size_t n,
                      std::size_t k) {
    const unsigned warp = threadIdx.x / 32, x = threadIdx.x % 8, y = threadIdx.x % 32 / 8;
    const unsigned warpRow = warp / 2 * 32, warpCol = warp % 2 * 64;
    multiply<kWide, kSide + 4>({warpRow + 4 * y, warpCol + 4 * x, 16, 32}, a, b, c, m, n, k);
}

int main(int argc, char** argv) {
    std::size_t m, n, k;
    lab::Exercise exercise("registerTiles", "Multiplies matrices, a tile of results to a thread.");
    exercise.option("m", &m, {2048, 192}, 1, lab::kMaxSize, "rows of A and C");
    exercise.option("n", &n, {2048, 192}, 1, lab::kMaxSize, "columns of B and C");
    exercise.option("k", &k, {2048, 192}, 1, lab::kMaxSize, "columns of A, rows of B");
    exercise.parse(argc, argv);
    exercise.requireProduct(m, n, k);

    const std::vector<float> hostA = lab::randomFloats(m * k, exercise.seed(), -1, 1);
    const std::vector<float> hostB = lab::randomFloats(k * n, exercise.seed() + 1, -1, 1);
    const lab::DeviceBuffer<float> bufferA(hostA), bufferB(hostB);
    lab::DeviceBuffer<float> bufferC(m * n);
    const float *const a = bufferA.get(), *const b = bufferB.get();
    float* const c = bufferC.get();

    const bool wide = k % 4 == 0 && n % 4 == 0;
    exercise.title("C (%zu x %zu) = A (%zu x %zu) * B (%zu x %zu)", m, n, m, k, k, n);
    if (!wide) exercise.note("k or n is no multiple of 4: rungs 3 to 5 load and store 4 bytes");
    const ProductReference reference(hostA, hostB, m, n, k, exercise.seed());
    if (!reference.sampleNote().empty()) exercise.note(reference.sampleNote());

    const lab::Work work = lab::flops(2.0 * m * n * k);  // a multiplication and an addition
    const auto isChain = [&] { return reference.exactMismatch(bufferC.toHost()); };
    const auto isProduct = [&] { return reference.mismatch(bufferC.toHost()); };

    lab::Ladder ladder(exercise, bufferC);
    const dim3 columnGrid = lab::gridFor(n, m, kColumnSide), grid = lab::gridFor(n, m, kSide);
    ladder.rung("registerColumn", columnGrid, kColumnThreads, work, isChain,
                [&] { registerColumn<<<columnGrid, kColumnThreads>>>(a, b, c, m, n, k); });
    const auto rung = [&](const char* name, auto* kernel) {
        ladder.rung(name, grid, kThreads, work, isChain,
                    [&, kernel] { kernel<<<grid, kThreads>>>(a, b, c, m, n, k); });
    };
    rung("registerSquare", registerSquare);
    rung("registerFloat4", wide ? registerFloat4<true> : registerFloat4<false>);
    rung("registerNoConflicts", wide ? registerNoConflicts<true> : registerNoConflicts<false>);
    rung("registerWarpTiles", wide ? registerWarpTiles<true> : registerWarpTiles<false>);
    lab::cublasMatmul(ladder, isProduct, a, b, c, m, n, k);
    ladder.announceFastest();
    return exercise.finish();
}
