// Multiplies two matrices of floats: C (m x n) = A (m x k) * B (k x n), all of them row-major. Each
// element of A is needed n times, and each element of B m times. The kernels load them from global
// memory less and less often.
//
//   1 matmulUncoalesced    a warp walks down a column of C: its loads of A have a stride of k
//   2 matmulCoalesced      a warp walks along a row of C: all of its loads are coalesced
//   3 matmulTiled16, 32    tiles in shared memory: a block loads each element once
//   4 matmulTiledDynamic   the same in dynamic shared memory: --block sets the side of the tiles
//     cublasSgemm          NVIDIA's library, in FP32 (without tensor cores)
//
// A thread computes one element of C. --block sets the side of the blocks of 1, 2 and 4.
//
//   ./lab run matmul -- --m=4K --n=4K --k=4K --block=32
//   ./lab test matmul
//   ./lab profile matmul
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target matmul
//   build/ch05_performance/matmul --m=4K --n=4K --k=4K --block=32
//   ncu build/ch05_performance/matmul --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch05_performance/matmul/matmul.cu
//       common/*.cpp common/*.cu -DLAB_HAVE_CUBLAS -lcublas -o build/matmul

#include <cstddef>
#include <vector>

#include "../productReference.h"
#include "lab.cuh"
#include "peers_cublas.cuh"

// threadIdx.x counts rows. So the lanes of a warp have 32 rows and one column of C. They load
// elements of A that lie k elements apart, and each of these touches a sector of its own. So do
// their stores to C.
__global__ void matmulUncoalesced(const float* a, const float* b, float* c, std::size_t m,
                                  std::size_t n, std::size_t k) {
    const std::size_t row = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t col = lab::blockY() * blockDim.y + threadIdx.y;
    if (row >= m || col >= n) return;

    float sum = 0;
    for (std::size_t i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
    c[row * n + col] = sum;
}

// threadIdx.x counts columns, and nothing else has changed. The lanes share a row of A, so they all
// want the same element, which lies in one sector. They have neighbouring columns of B and C. Still
// wrong: each thread loads a whole row and a whole column, two elements for each multiply-add.
__global__ void matmulCoalesced(const float* a, const float* b, float* c, std::size_t m,
                                std::size_t n, std::size_t k) {
    const std::size_t row = lab::blockY() * blockDim.y + threadIdx.y;
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;

    float sum = 0;
    for (std::size_t i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
    c[row * n + col] = sum;
}

// A block walks along its rows of A and down its columns of B, one tile of each at a time. Each
// thread loads one element of both tiles and uses kTile elements of both. So the block loads from
// global memory only 1/kTile as often. Outside the matrices the tiles hold zeros, which add
// nothing. Threads without an element of C load, too, because all threads have to reach the
// barriers. Still wrong: each multiply-add loads both of its operands from shared memory. A thread
// with several elements of C could use an operand several times.
template <unsigned kTile>
__global__ void matmulTiled(const float* a, const float* b, float* c, std::size_t m, std::size_t n,
                            std::size_t k) {
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

// The launch sets the size of the shared memory, so one kernel serves tiles of any side. An array
// of unknown size has one dimension, and a kernel has only one such array, so both tiles lie in it.
// Still wrong: the compiler does not know the number of iterations of the inner loop, nor the
// distance between the rows of a tile. So it cannot unroll the loop completely or join loads of
// neighbouring elements, and it has to compute addresses that were constants before.
__global__ void matmulTiledDynamic(const float* a, const float* b, float* c, std::size_t m,
                                   std::size_t n, std::size_t k) {
    extern __shared__ float tiles[];
    const unsigned side = blockDim.x;
    float* tileA = tiles;
    float* tileB = tiles + side * side;
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const std::size_t row = lab::blockY() * side + y;
    const std::size_t col = std::size_t{blockIdx.x} * side + x;

    float sum = 0;
    for (std::size_t first = 0; first < k; first += side) {
        tileA[y * side + x] = row < m && first + x < k ? a[row * k + first + x] : 0;
        tileB[y * side + x] = first + y < k && col < n ? b[(first + y) * n + col] : 0;
        __syncthreads();
        for (unsigned i = 0; i < side; ++i) sum += tileA[y * side + i] * tileB[i * side + x];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = sum;
}

int main(int argc, char** argv) {
    std::size_t m, n, k;
    unsigned side;
    lab::Exercise exercise("matmul",
                           "Multiplies two matrices, with and without tiles in shared memory.");
    exercise.option("m", &m, {2048, 192}, 1, lab::kMaxSize, "rows of A and C");
    exercise.option("n", &n, {2048, 192}, 1, lab::kMaxSize, "columns of B and C");
    exercise.option("k", &k, {2048, 192}, 1, lab::kMaxSize, "columns of A, rows of B");
    exercise.option("block", &side, 32, 1, 32, "side of a block and of the dynamic tiles");
    exercise.parse(argc, argv);
    exercise.requireProduct(m, n, k);

    const std::vector<float> hostA = lab::randomFloats(m * k, exercise.seed(), -1, 1);
    const std::vector<float> hostB = lab::randomFloats(k * n, exercise.seed() + 1, -1, 1);
    const lab::DeviceBuffer<float> bufferA(hostA), bufferB(hostB);
    lab::DeviceBuffer<float> bufferC(m * n);
    const float *const a = bufferA.get(), *const b = bufferB.get();
    float* const c = bufferC.get();

    exercise.title("C (%zu x %zu) = A (%zu x %zu) * B (%zu x %zu), block %ux%u", m, n, m, k, k, n,
                   side, side);
    const ProductReference reference(hostA, hostB, m, n, k, exercise.seed());
    if (!reference.sampleNote().empty()) exercise.note(reference.sampleNote());

    const lab::Work work = lab::flops(2.0 * m * n * k);  // a multiplication and an addition
    const auto isProduct = [&] { return reference.mismatch(bufferC.toHost()); };

    const dim3 columnGrid = lab::gridFor(m, n, side);  // blockIdx.x counts rows of C
    const dim3 grid = lab::gridFor(n, m, side), block(side, side);
    const dim3 grid16 = lab::gridFor(n, m, 16), block16(16, 16);
    const dim3 grid32 = lab::gridFor(n, m, 32), block32(32, 32);
    const std::size_t sharedBytes = 2 * side * side * sizeof(float);
    lab::Ladder ladder(exercise, bufferC);
    ladder.rung("matmulUncoalesced", columnGrid, block, work, isProduct,
                [&] { matmulUncoalesced<<<columnGrid, block>>>(a, b, c, m, n, k); });
    ladder.rung("matmulCoalesced", grid, block, work, isProduct,
                [&] { matmulCoalesced<<<grid, block>>>(a, b, c, m, n, k); });
    ladder.rung("matmulTiled16", grid16, block16, work, isProduct,
                [&] { matmulTiled<16><<<grid16, block16>>>(a, b, c, m, n, k); });
    ladder.rung("matmulTiled32", grid32, block32, work, isProduct,
                [&] { matmulTiled<32><<<grid32, block32>>>(a, b, c, m, n, k); });
    ladder.rung("matmulTiledDynamic", grid, block, work, isProduct,
                [&] { matmulTiledDynamic<<<grid, block, sharedBytes>>>(a, b, c, m, n, k); });
    lab::cublasMatmul(ladder, isProduct, a, b, c, m, n, k);
    ladder.announceFastest();
    return exercise.finish();
}
