// Multiplies two matrices of floats, C (m x n) = A (m x k) * B (k x n), where one of them is stored
// transposed: its columns lie in memory one after the other. If each thread loads the same elements
// as before, the loads are not coalesced. If the threads exchange their roles in the load, it is
// coalesced, and a tile in shared memory turns the data back ("corner turning").
//
//   1 untiledRowMajor  all row-major, no tiles: lanes go along a row of B and of C
//   2 untiledB         B transposed: the lanes' elements are k apart
//   3 untiledA         A transposed: lanes share its elements as before, so nothing is lost
//   4 tiledRowMajor    all row-major, tiles of 32 x 32 in shared memory
//   5 bAsItLies        B transposed: each thread loads the element that it loaded before
//   6 bTurnedLate      loaded along its rows; the tile is turned when it is read: conflicts
//   7 bTurned          the tile is turned when it is stored: fewer conflicts
//   8 bTurnedPadded    a column of padding removes these conflicts
//   9 aAsItLies        A transposed: each thread loads the element that it loaded before
//  10 aUnturned        loaded along its rows, and never turned: lanes share what they read of it
//  11 aTurned          turned all the same: four neighbours in a row of the tile are one load
//     cublasSgemm      NVIDIA's library for all three layouts, in FP32 (no tensor cores)
//
// A thread computes one element of C, in blocks of 32 x 32.
//
//   ./lab run cornerTurning -- --m=4K --n=4K --k=4K
//   ./lab test cornerTurning
//   ./lab profile cornerTurning
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target cornerTurning
//   build/ch05_performance/cornerTurning --m=4K --n=4K --k=4K
//   ncu build/ch05_performance/cornerTurning --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch05_performance/cornerTurning/cornerTurning.cu
//       common/*.cpp common/*.cu -DLAB_HAVE_CUBLAS -lcublas -o build/cornerTurning

#include <cstddef>
#include <vector>

#include "../productReference.h"
#include "lab.cuh"
#include "peers_cublas.cuh"
#include "transposed.h"

// No tiles. A transposed is stored as k x m elements, B transposed as n x k. The lanes of a warp
// have the same row of C and neighbouring columns. They share an element of A, wherever it is
// stored, and read neighbours in a row of B. In B transposed, these are k elements apart, so 32
// lanes read from 32 rows. To swap x and y does not help, because the lanes would then read 32 rows
// of A and write 32 rows of C.
template <bool kATransposed, bool kBTransposed>
__global__ void untiled(const float* a, const float* b, float* c, std::size_t m, std::size_t n,
                        std::size_t k) {
    const std::size_t row = lab::blockY() * blockDim.y + threadIdx.y;
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;

    float sum = 0;
    for (std::size_t i = 0; i < k; ++i) {
        const float ofA = kATransposed ? a[i * m + row] : a[row * k + i];
        const float ofB = kBTransposed ? b[col * k + i] : b[i * n + col];
        sum += ofA * ofB;
    }
    c[row * n + col] = sum;
}

// In the tiled kernels, aT and bT are A and B transposed: element (row, col) of B is
// bT[col * k + row].

constexpr unsigned kTile = 32;

// An element of a row-major matrix. Outside of the matrix it is zero, which adds nothing to a sum.
__device__ float elementOrZero(const float* matrix, std::size_t row, std::size_t col,
                               std::size_t rows, std::size_t cols) {
    return row < rows && col < cols ? matrix[row * cols + col] : 0;
}

// We compare all others with this kernel. The lanes of a warp, along x, load neighbours in a row of
// A and of B. They read tileA[y][i], the same element for all lanes, and tileB[i][x], an element
// from each bank.
__global__ void tiledRowMajor(const float* a, const float* b, float* c, std::size_t m,
                              std::size_t n, std::size_t k) {
    __shared__ float tileA[kTile][kTile];
    __shared__ float tileB[kTile][kTile];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const std::size_t firstRow = lab::blockY() * kTile;
    const std::size_t firstCol = std::size_t{blockIdx.x} * kTile;

    float sum = 0;
    for (std::size_t first = 0; first < k; first += kTile) {
        tileA[y][x] = elementOrZero(a, firstRow + y, first + x, m, k);
        tileB[y][x] = elementOrZero(b, first + y, firstCol + x, k, n);
        __syncthreads();  // the tiles are complete
        for (unsigned i = 0; i < kTile; ++i) sum += tileA[y][i] * tileB[i][x];
        __syncthreads();  // all threads have read them
    }
    if (firstRow + y < m && firstCol + x < n) c[(firstRow + y) * n + firstCol + x] = sum;
}

// Loads element (first + y, firstCol + x) of B, wherever it is stored. x counts rows of bT, which
// are k elements apart. The warps of a block read the same 32 lines of 128 bytes one after the
// other, so L1 has most of them. But each load still takes 32 sectors.
__global__ void bAsItLies(const float* a, const float* bT, float* c, std::size_t m, std::size_t n,
                          std::size_t k) {
    __shared__ float tileA[kTile][kTile];
    __shared__ float tileB[kTile][kTile];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const std::size_t firstRow = lab::blockY() * kTile;
    const std::size_t firstCol = std::size_t{blockIdx.x} * kTile;

    float sum = 0;
    for (std::size_t first = 0; first < k; first += kTile) {
        tileA[y][x] = elementOrZero(a, firstRow + y, first + x, m, k);
        tileB[y][x] = elementOrZero(bT, firstCol + x, first + y, n, k);
        __syncthreads();
        for (unsigned i = 0; i < kTile; ++i) sum += tileA[y][i] * tileB[i][x];
        __syncthreads();
    }
    if (firstRow + y < m && firstCol + x < n) c[(firstRow + y) * n + firstCol + x] = sum;
}

// x and y have changed their roles in the load of bT, so it is coalesced. The tile now holds rows
// of bT, which are columns of B. Still wrong: in a multiply-add, the lanes read a column of the
// tile. It lies in one bank, so they are served one after the other.
__global__ void bTurnedLate(const float* a, const float* bT, float* c, std::size_t m, std::size_t n,
                            std::size_t k) {
    __shared__ float tileA[kTile][kTile];
    __shared__ float tileB[kTile][kTile];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const std::size_t firstRow = lab::blockY() * kTile;
    const std::size_t firstCol = std::size_t{blockIdx.x} * kTile;

    float sum = 0;
    for (std::size_t first = 0; first < k; first += kTile) {
        tileA[y][x] = elementOrZero(a, firstRow + y, first + x, m, k);
        tileB[y][x] = elementOrZero(bT, firstCol + y, first + x, n, k);
        __syncthreads();
        for (unsigned i = 0; i < kTile; ++i) sum += tileA[y][i] * tileB[x][i];
        __syncthreads();
    }
    if (firstRow + y < m && firstCol + x < n) c[(firstRow + y) * n + firstCol + x] = sum;
}

// Turns the tile when it is stored, so the lanes use one bank once for 32 multiply-adds. kPitch is
// the distance between rows of the tile. With 33, the elements of a column are in different banks.
template <unsigned kPitch>
__global__ void bTurned(const float* a, const float* bT, float* c, std::size_t m, std::size_t n,
                        std::size_t k) {
    __shared__ float tileA[kTile][kTile];
    __shared__ float tileB[kTile][kPitch];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const std::size_t firstRow = lab::blockY() * kTile;
    const std::size_t firstCol = std::size_t{blockIdx.x} * kTile;

    float sum = 0;
    for (std::size_t first = 0; first < k; first += kTile) {
        tileA[y][x] = elementOrZero(a, firstRow + y, first + x, m, k);
        tileB[x][y] = elementOrZero(bT, firstCol + y, first + x, n, k);
        __syncthreads();
        for (unsigned i = 0; i < kTile; ++i) sum += tileA[y][i] * tileB[i][x];
        __syncthreads();
    }
    if (firstRow + y < m && firstCol + x < n) c[(firstRow + y) * n + firstCol + x] = sum;
}

// As bAsItLies, for A: loads element (firstRow + y, first + x), and x counts rows of aT.
__global__ void aAsItLies(const float* aT, const float* b, float* c, std::size_t m, std::size_t n,
                          std::size_t k) {
    __shared__ float tileA[kTile][kTile];
    __shared__ float tileB[kTile][kTile];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const std::size_t firstRow = lab::blockY() * kTile;
    const std::size_t firstCol = std::size_t{blockIdx.x} * kTile;

    float sum = 0;
    for (std::size_t first = 0; first < k; first += kTile) {
        tileA[y][x] = elementOrZero(aT, first + x, firstRow + y, k, m);
        tileB[y][x] = elementOrZero(b, first + y, firstCol + x, k, n);
        __syncthreads();
        for (unsigned i = 0; i < kTile; ++i) sum += tileA[y][i] * tileB[i][x];
        __syncthreads();
    }
    if (firstRow + y < m && firstCol + x < n) c[(firstRow + y) * n + firstCol + x] = sum;
}

// The tile holds rows of aT, which are columns of A, and may stay so. The lanes read tileA[i][y],
// the same element for all of them, so there is no conflict. Still wrong: the elements that a
// thread reads one after the other are no longer neighbours, so each multiply-add takes a load of
// its own.
__global__ void aUnturned(const float* aT, const float* b, float* c, std::size_t m, std::size_t n,
                          std::size_t k) {
    __shared__ float tileA[kTile][kTile];
    __shared__ float tileB[kTile][kTile];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const std::size_t firstRow = lab::blockY() * kTile;
    const std::size_t firstCol = std::size_t{blockIdx.x} * kTile;

    float sum = 0;
    for (std::size_t first = 0; first < k; first += kTile) {
        tileA[y][x] = elementOrZero(aT, first + y, firstRow + x, k, m);
        tileB[y][x] = elementOrZero(b, first + y, firstCol + x, k, n);
        __syncthreads();
        for (unsigned i = 0; i < kTile; ++i) sum += tileA[i][y] * tileB[i][x];
        __syncthreads();
    }
    if (firstRow + y < m && firstCol + x < n) c[(firstRow + y) * n + firstCol + x] = sum;
}

// Turns the tile when it is stored, so four neighbours in a row of the tile are one load of 16
// bytes. For this, rows must begin at multiples of 16 bytes, which a pitch of 33 floats does not
// give. With 36 a column is in eight banks, and a store takes four wavefronts instead of 32.
__global__ void aTurned(const float* aT, const float* b, float* c, std::size_t m, std::size_t n,
                        std::size_t k) {
    __shared__ float tileA[kTile][kTile + 4];
    __shared__ float tileB[kTile][kTile];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const std::size_t firstRow = lab::blockY() * kTile;
    const std::size_t firstCol = std::size_t{blockIdx.x} * kTile;

    float sum = 0;
    for (std::size_t first = 0; first < k; first += kTile) {
        tileA[x][y] = elementOrZero(aT, first + y, firstRow + x, k, m);
        tileB[y][x] = elementOrZero(b, first + y, firstCol + x, k, n);
        __syncthreads();
        for (unsigned i = 0; i < kTile; ++i) sum += tileA[y][i] * tileB[i][x];
        __syncthreads();
    }
    if (firstRow + y < m && firstCol + x < n) c[(firstRow + y) * n + firstCol + x] = sum;
}

int main(int argc, char** argv) {
    std::size_t m, n, k;
    lab::Exercise exercise("cornerTurning", "Multiplies matrices, one of them stored transposed.");
    exercise.option("m", &m, {2048, 192}, 1, lab::kMaxSize, "rows of A and C");
    exercise.option("n", &n, {2048, 192}, 1, lab::kMaxSize, "columns of B and C");
    exercise.option("k", &k, {2048, 192}, 1, lab::kMaxSize, "columns of A, rows of B");
    exercise.parse(argc, argv);
    exercise.requireProduct(m, n, k);

    const std::vector<float> hostA = lab::randomFloats(m * k, exercise.seed(), -1, 1);
    const std::vector<float> hostB = lab::randomFloats(k * n, exercise.seed() + 1, -1, 1);
    const lab::DeviceBuffer<float> bufferA(hostA), bufferAT(lab::transposed(hostA, m, k));
    const lab::DeviceBuffer<float> bufferB(hostB), bufferBT(lab::transposed(hostB, k, n));
    lab::DeviceBuffer<float> bufferC(m * n);
    const float *const a = bufferA.get(), *const aT = bufferAT.get();
    const float *const b = bufferB.get(), *const bT = bufferBT.get();
    float* const c = bufferC.get();

    exercise.title("C (%zu x %zu) = A (%zu x %zu) * B (%zu x %zu)", m, n, m, k, k, n);
    const ProductReference reference(hostA, hostB, m, n, k, exercise.seed());
    if (!reference.sampleNote().empty()) exercise.note(reference.sampleNote());

    const lab::Work work = lab::flops(2.0 * m * n * k);  // a multiplication and an addition
    const auto isProduct = [&] { return reference.mismatch(bufferC.toHost()); };
    const dim3 grid = lab::gridFor(n, m, kTile), block(kTile, kTile);

    constexpr bool kRowMajor = false, kTransposed = true;  // how A and B are stored
    lab::Ladder withoutTiles(exercise, bufferC);
    withoutTiles.rung("untiledRowMajor", grid, block, work, isProduct,
                      [&] { untiled<kRowMajor, kRowMajor><<<grid, block>>>(a, b, c, m, n, k); });
    withoutTiles.rung("untiledB", grid, block, work, isProduct,
                      [&] { untiled<kRowMajor, kTransposed><<<grid, block>>>(a, bT, c, m, n, k); });
    withoutTiles.rung("untiledA", grid, block, work, isProduct,
                      [&] { untiled<kTransposed, kRowMajor><<<grid, block>>>(aT, b, c, m, n, k); });

    lab::Ladder withTiles(exercise, bufferC);
    withTiles.rung("tiledRowMajor", grid, block, work, isProduct,
                   [&] { tiledRowMajor<<<grid, block>>>(a, b, c, m, n, k); });
    withTiles.rung("bAsItLies", grid, block, work, isProduct,
                   [&] { bAsItLies<<<grid, block>>>(a, bT, c, m, n, k); });
    withTiles.rung("bTurnedLate", grid, block, work, isProduct,
                   [&] { bTurnedLate<<<grid, block>>>(a, bT, c, m, n, k); });
    withTiles.rung("bTurned", grid, block, work, isProduct,
                   [&] { bTurned<kTile><<<grid, block>>>(a, bT, c, m, n, k); });
    withTiles.rung("bTurnedPadded", grid, block, work, isProduct,
                   [&] { bTurned<kTile + 1><<<grid, block>>>(a, bT, c, m, n, k); });
    withTiles.rung("aAsItLies", grid, block, work, isProduct,
                   [&] { aAsItLies<<<grid, block>>>(aT, b, c, m, n, k); });
    withTiles.rung("aUnturned", grid, block, work, isProduct,
                   [&] { aUnturned<<<grid, block>>>(aT, b, c, m, n, k); });
    withTiles.rung("aTurned", grid, block, work, isProduct,
                   [&] { aTurned<<<grid, block>>>(aT, b, c, m, n, k); });
    lab::cublasMatmul(withTiles, isProduct, a, b, c, m, n, k);
    lab::cublasMatmul(withTiles, isProduct, a, bT, c, m, n, k, lab::Transposed::kB);
    lab::cublasMatmul(withTiles, isProduct, aT, b, c, m, n, k, lab::Transposed::kA);
    return exercise.finish();
}
