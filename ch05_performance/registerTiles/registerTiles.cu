// Multiplies two matrices. Each thread computes a tile of C in its registers (register blocking),
// so an element that it loads from shared memory serves a whole row or column of that tile. The
// ladder makes these loads fewer, then wider, and then removes their bank conflicts.
//
//   1 registerColumn       8 x 1 results for each thread: an element of B serves 8 multiply-adds
//   2 registerSquare       8 x 8 results: 16 loads from shared memory serve 64 multiply-adds
//   3 registerFloat4       loads and stores of 16 bytes: 4 loads serve 64 multiply-adds
//   4 registerNoConflicts  the same loads and stores without bank conflicts
//   5 registerWarpTiles    the lanes in a rectangle: more of them want the same 16 bytes
//     cublasSgemm          NVIDIA's library in FP32 (no tensor cores)
//
// Each element is one chain of fmaf() in the order of k. fmaf() rounds once, on the CPU and on the
// GPU, so the results of each kernel must be identical to the last bit.
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

constexpr unsigned kStep = 8;  // along k: columns of a tile of A, rows of a tile of B

// An element of a matrix, or 0 outside of it. A zero adds nothing to a sum.
__device__ float elementOrZero(const float* matrix, std::size_t row, std::size_t col,
                               std::size_t rows, std::size_t cols) {
    return row < rows && col < cols ? matrix[row * cols + col] : 0;
}

// A block computes 64 x 64 results, and a thread 8 neighbours in a column. A thread loads an
// element of B once and keeps it in a register for 8 multiply-adds. Still wrong: each of them also
// loads an element of A, and no other multiply-add of the thread can use it.
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
#pragma unroll  // makes each index a constant: only then can an array live in registers
            for (unsigned r = 0; r < kColumnRows; ++r)
                sum[r] = fmaf(tileA[kColumnRows * y + r][i], ofB, sum[r]);
        }
        __syncthreads();  // no thread needs these tiles any more
    }
#pragma unroll
    for (unsigned r = 0; r < kColumnRows; ++r) {
        const std::size_t row = firstRow + kColumnRows * y + r, col = firstCol + x;
        if (row < m && col < n) c[row * n + col] = sum[r];
    }
}

// From here on, a block computes 128 x 128 results, and a thread 8 x 8 of them.
constexpr unsigned kSide = 128;
constexpr unsigned kPerThread = 8;                // rows and columns of a thread
constexpr unsigned kAcross = kSide / kPerThread;  // threads side by side
constexpr unsigned kThreads = kAcross * kAcross;
constexpr unsigned kBlocksPerSm = 2;  // so a thread may use at most 128 registers

// Adds 8 elements of a column of A times 8 elements of a row of B: 64 multiply-adds.
__device__ void addOuterProduct(const float (&ofA)[kPerThread], const float (&ofB)[kPerThread],
                                float (&sum)[kPerThread][kPerThread]) {
#pragma unroll
    for (unsigned r = 0; r < kPerThread; ++r) {
#pragma unroll
        for (unsigned s = 0; s < kPerThread; ++s) sum[r][s] = fmaf(ofA[r], ofB[s], sum[r][s]);
    }
}

// A thread now keeps elements of A in registers as well. Each of them serves a row of the thread's
// results, and each element of B serves a column. The rows and columns of a thread are 16 apart, so
// neighbouring threads load neighbouring elements of B. Still wrong: each element of B takes a load
// of 4 bytes.
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

// Rungs 3 to 5 move four neighbours of a row at a time. With kWide, the rows of the matrices have a
// multiple of four elements. Each row then begins at a multiple of 16 bytes, and the four are all
// inside or all outside, so one load of 16 bytes serves them. Without kWide, there are four loads.
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

// Copies a step's part of A and of B into the tiles, four elements of each for every thread. The
// four of A are neighbours in a row of A. They go to a column of the tile, so that later a thread
// can load neighbours in a column of A at once.
template <bool kWide, unsigned kPitchA>
__device__ void copyTiles(const float* a, const float* b, std::size_t m, std::size_t n,
                          std::size_t k, std::size_t firstRow, std::size_t firstCol,
                          std::size_t first, float (&tileA)[kStep][kPitchA],
                          float (&tileB)[kStep][kSide]) {
    static_assert(4 * kThreads == kSide * kStep, "a thread copies four elements of each tile");
    const unsigned rowA = 4 * threadIdx.x / kStep, colA = 4 * threadIdx.x % kStep;
    const unsigned rowB = 4 * threadIdx.x / kSide, colB = 4 * threadIdx.x % kSide;
    const float4 fourOfA = fourOrZero<kWide>(a, firstRow + rowA, first + colA, m, k);
    const float4 fourOfB = fourOrZero<kWide>(b, first + rowB, firstCol + colB, k, n);
    tileA[colA][rowA] = fourOfA.x;
    tileA[colA + 1][rowA] = fourOfA.y;
    tileA[colA + 2][rowA] = fourOfA.z;
    tileA[colA + 3][rowA] = fourOfA.w;
    *reinterpret_cast<float4*>(&tileB[rowB][colB]) = fourOfB;
}

// Loads two pieces of four elements of a row of a tile. The second piece begins `gap` elements
// after the first.
__device__ void loadTwoPieces(const float* from, unsigned gap, float (&to)[kPerThread]) {
#pragma unroll
    for (unsigned piece = 0; piece < 2; ++piece) {
        const float4 four = *reinterpret_cast<const float4*>(from + piece * gap);
        to[4 * piece] = four.x;
        to[4 * piece + 1] = four.y;
        to[4 * piece + 2] = four.z;
        to[4 * piece + 3] = four.w;
    }
}

// Stores a thread's 8 x 8 results, two pieces of four rows by two pieces of four columns. The first
// of them is element (firstRow, firstCol) of C.
template <bool kWide>
__device__ void storePieces(const float (&sum)[kPerThread][kPerThread], unsigned rowGap,
                            unsigned colGap, float* c, std::size_t firstRow, std::size_t firstCol,
                            std::size_t m, std::size_t n) {
#pragma unroll
    for (unsigned r = 0; r < kPerThread; ++r) {
        const std::size_t row = firstRow + r / 4 * rowGap + r % 4;
#pragma unroll
        for (unsigned s = 0; s < kPerThread; s += 4) {
            const std::size_t col = firstCol + s / 4 * colGap;
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

// 16 x 16 threads, each with 8 neighbouring rows and 8 neighbouring columns. Still wrong: there are
// bank conflicts. Neighbouring threads load pieces of B that are 32 bytes apart, so every fourth
// thread wants the same banks. In a store to A's tile, two neighbouring threads write to rows of
// the tile that are 4 x 128 floats apart, a multiple of 32, so they use the same bank.
template <bool kWide>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    registerFloat4(const float* a, const float* b, float* c, std::size_t m, std::size_t n,
                   std::size_t k) {
    __shared__ __align__(16) float tileA[kStep][kSide];
    __shared__ __align__(16) float tileB[kStep][kSide];
    const std::size_t firstRow = lab::blockY() * kSide;
    const std::size_t firstCol = std::size_t{blockIdx.x} * kSide;
    const unsigned row = threadIdx.x / kAcross * 8, col = threadIdx.x % kAcross * 8;

    float sum[kPerThread][kPerThread] = {};
    for (std::size_t first = 0; first < k; first += kStep) {
        copyTiles<kWide>(a, b, m, n, k, firstRow, firstCol, first, tileA, tileB);
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < kStep; ++i) {
            float fragmentA[kPerThread], fragmentB[kPerThread];
            loadTwoPieces(&tileA[i][row], 4, fragmentA);
            loadTwoPieces(&tileB[i][col], 4, fragmentB);
            addOuterProduct(fragmentA, fragmentB, sum);
        }
        __syncthreads();
    }
    storePieces<kWide>(sum, 4, 4, c, firstRow + row, firstCol + col, m, n);
}

// The second piece is half a tile away from the first, so neighbouring threads load neighbouring 16
// bytes. Each row of A's tile has 4 floats of padding, so rows that are 4 apart begin 16 banks
// apart. Still wrong: 16 threads of a warp stand side by side and want 256 different bytes of B.
template <bool kWide>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    registerNoConflicts(const float* a, const float* b, float* c, std::size_t m, std::size_t n,
                        std::size_t k) {
    constexpr unsigned kHalf = kSide / 2;
    __shared__ __align__(16) float tileA[kStep][kSide + 4];
    __shared__ __align__(16) float tileB[kStep][kSide];
    const std::size_t firstRow = lab::blockY() * kSide;
    const std::size_t firstCol = std::size_t{blockIdx.x} * kSide;
    const unsigned row = threadIdx.x / kAcross * 4, col = threadIdx.x % kAcross * 4;

    float sum[kPerThread][kPerThread] = {};
    for (std::size_t first = 0; first < k; first += kStep) {
        copyTiles<kWide>(a, b, m, n, k, firstRow, firstCol, first, tileA, tileB);
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < kStep; ++i) {
            float fragmentA[kPerThread], fragmentB[kPerThread];
            loadTwoPieces(&tileA[i][row], kHalf, fragmentA);
            loadTwoPieces(&tileB[i][col], kHalf, fragmentB);
            addOuterProduct(fragmentA, fragmentB, sum);
        }
        __syncthreads();
    }
    storePieces<kWide>(sum, kHalf, kHalf, c, firstRow + row, firstCol + col, m, n);
}

// A warp has a warp tile of 32 x 64 results, and its lanes stand in 4 rows of 8. Half of a warp
// wants 128 bytes of B instead of 256, as many as a wavefront delivers. Still wrong: the load takes
// no fewer wavefronts, because lanes that want the same 16 bytes are 8 apart. They would have to be
// 1 or 2 apart (task 5). And a block loads nothing from global memory while it computes, and
// computes nothing while it loads. `matmulFast` goes on from here.
template <bool kWide>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    registerWarpTiles(const float* a, const float* b, float* c, std::size_t m, std::size_t n,
                      std::size_t k) {
    __shared__ __align__(16) float tileA[kStep][kSide + 4];
    __shared__ __align__(16) float tileB[kStep][kSide];
    const std::size_t firstRow = lab::blockY() * kSide;
    const std::size_t firstCol = std::size_t{blockIdx.x} * kSide;
    const unsigned warp = threadIdx.x / 32, x = threadIdx.x % 8, y = threadIdx.x % 32 / 8;
    const unsigned warpRow = warp / 2 * 32, warpCol = warp % 2 * 64;
    const unsigned row = warpRow + 4 * y, col = warpCol + 4 * x;

    float sum[kPerThread][kPerThread] = {};
    for (std::size_t first = 0; first < k; first += kStep) {
        copyTiles<kWide>(a, b, m, n, k, firstRow, firstCol, first, tileA, tileB);
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < kStep; ++i) {
            float fragmentA[kPerThread], fragmentB[kPerThread];
            loadTwoPieces(&tileA[i][row], 16, fragmentA);
            loadTwoPieces(&tileB[i][col], 32, fragmentB);
            addOuterProduct(fragmentA, fragmentB, sum);
        }
        __syncthreads();
    }
    storePieces<kWide>(sum, 16, 32, c, firstRow + row, firstCol + col, m, n);
}

int main(int argc, char** argv) {
    std::size_t m, n, k;
    lab::Exercise exercise("registerTiles", "Multiplies matrices, a tile of C in each thread.");
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
    if (!wide) exercise.note("k or n is not a multiple of 4: rungs 3 to 5 move 4 bytes at a time");
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
