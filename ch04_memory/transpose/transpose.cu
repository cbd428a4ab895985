// Transposes a matrix of floats. Loads and stores are fast if the 32 lanes of a warp touch
// neighbouring addresses (coalescing). A transpose loads along rows and stores along columns. A
// tile in shared memory makes both fast.
//
//    1 copyFloat4                no transpose: the same bytes, 16 for each thread, as the limit
//    2 copyRow                   no transpose: one float at a time, in tiles like the others
//    3 transposeNaiveRow         coalesced loads, strided stores
//    4 transposeNaiveRowUnroll4  the same with four elements for each thread
//    5 transposeNaiveCol         strided loads, coalesced stores
//    6 transposeNaiveColUnroll4  the same with four elements for each thread
//    7 transposeSmem             a tile in shared memory: both coalesced, but bank conflicts
//    8 transposeSmemPad          one more column in that tile: no bank conflicts
//    9 transposeSmemSwizzle      no bank conflicts either, and no padding
//   10 transposeSmemUnroll2      two padded tiles for each block: more loads in flight
//   11 transposeSmemDiagonal     padded tiles in the order that old GPUs needed
//   12 transposeSmemDynamic      padded tiles of any side, in dynamic shared memory
//      cublasSgeam               the transpose of NVIDIA's library
//      cudaMemcpy                the driver's copy
//
// A block of 32 x 8 threads takes a tile of 32 x 32 elements, four for each thread. In 3 and 5 a
// thread takes one element, in 10 eight. The speedup is relative to copyFloat4. transposeFast goes
// on from here.
//
//   ./lab run transpose -- --rows=8K --cols=8K
//   ./lab test transpose
//   ./lab profile transpose
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target transpose
//   build/ch04_memory/transpose --rows=8K --cols=8K
//   ncu build/ch04_memory/transpose --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch04_memory/transpose/transpose.cu
//       common/*.cpp common/*.cu -DLAB_HAVE_CUBLAS -lcublas -o build/transpose

#include <cstddef>
#include <vector>

#include "lab.cuh"
#include "peers_cublas.cuh"
#include "transposed.h"

constexpr unsigned kTile = 32;  // side of a tile: the lanes of a warp
constexpr unsigned kBlockRows = 8;

// In all kernels, `in` has rows x cols elements and `out` has cols x rows (for the copies, rows x
// cols). Both are row-major. __restrict__ promises that they do not overlap, so a thread may start
// all of its loads before its first store.

// Each thread makes one load and one store of 16 bytes, without a loop. A copy need not know where
// rows begin: it takes the matrix as one array of rows * cols elements.
__global__ void copyFloat4(const float* __restrict__ in, float* __restrict__ out,
                           std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t whole = count / 4;
    if (i < whole) reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i];
    if (i < count % 4) out[4 * whole + i] = in[4 * whole + i];  // the rest fills no float4
}

// A warp loads 32 elements of one row and stores them in the same place.
__global__ void copyRow(const float* __restrict__ in, float* __restrict__ out, std::size_t rows,
                        std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * kTile + threadIdx.x;
    const std::size_t row = lab::blockY() * kTile + threadIdx.y;

    for (unsigned j = 0; j < kTile; j += kBlockRows) {
        if (row + j < rows && col < cols) out[(row + j) * cols + col] = in[(row + j) * cols + col];
    }
}

// Loads as copyRow does. Still wrong: a warp stores to 32 different rows of the output, so a store
// of 128 bytes touches 32 sectors of 32 bytes, and 4 would be enough. Unrolling gives a thread
// several elements. That puts more loads in flight, but it does not change the stores.
template <unsigned kUnroll>
__global__ void transposeNaiveRow(const float* __restrict__ in, float* __restrict__ out,
                                  std::size_t rows, std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * kTile + threadIdx.x;
    const std::size_t row = lab::blockY() * (kUnroll * kBlockRows) + threadIdx.y;

    for (unsigned j = 0; j < kUnroll * kBlockRows; j += kBlockRows) {
        if (row + j < rows && col < cols) out[col * rows + row + j] = in[(row + j) * cols + col];
    }
}

// The other way round: consecutive threads take consecutive rows of the input. Now each load
// touches 32 sectors. But the neighbouring warps want the rest of each sector, and the L1 cache
// keeps it for them. Still wrong: the kernel depends on the cache.
template <unsigned kUnroll>
__global__ void transposeNaiveCol(const float* __restrict__ in, float* __restrict__ out,
                                  std::size_t rows, std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * (kUnroll * kBlockRows) + threadIdx.y;
    const std::size_t row = lab::blockY() * kTile + threadIdx.x;

    for (unsigned j = 0; j < kUnroll * kBlockRows; j += kBlockRows) {
        if (row < rows && col + j < cols) out[(col + j) * rows + row] = in[row * cols + col + j];
    }
}

// Each warp loads rows of the input and stores rows of the output. Between them, the tile lies in
// shared memory, where a warp may also load a column. Still wrong: shared memory has 32 banks, and
// element (r, c) of the tile lies in bank (32 * r + c) % 32 = c. All elements of a column lie in
// one bank, so a load of a column takes 32 wavefronts instead of one.
__global__ void transposeSmem(const float* __restrict__ in, float* __restrict__ out,
                              std::size_t rows, std::size_t cols) {
    __shared__ float tile[kTile][kTile];
    const std::size_t firstCol = std::size_t{blockIdx.x} * kTile;
    const std::size_t firstRow = lab::blockY() * kTile;

    const std::size_t col = firstCol + threadIdx.x;
    const std::size_t row = firstRow + threadIdx.y;
    for (unsigned j = 0; j < kTile; j += kBlockRows) {
        if (row + j < rows && col < cols)
            tile[threadIdx.y + j][threadIdx.x] = in[(row + j) * cols + col];
    }
    __syncthreads();  // from here on, a thread reads what others have written

    const std::size_t outCol = firstRow + threadIdx.x;
    const std::size_t outRow = firstCol + threadIdx.y;
    for (unsigned j = 0; j < kTile; j += kBlockRows) {
        if (outRow + j < cols && outCol < rows)
            out[(outRow + j) * rows + outCol] = tile[threadIdx.x][threadIdx.y + j];
    }
}

// The same kernel with one more column, which nobody uses. Element (r, c) now lies in bank
// (33 * r + c) % 32 = (r + c) % 32, so columns and rows both lie in 32 different banks.
__global__ void transposeSmemPad(const float* __restrict__ in, float* __restrict__ out,
                                 std::size_t rows, std::size_t cols) {
    __shared__ float tile[kTile][kTile + 1];
    const std::size_t firstCol = std::size_t{blockIdx.x} * kTile;
    const std::size_t firstRow = lab::blockY() * kTile;

    const std::size_t col = firstCol + threadIdx.x;
    const std::size_t row = firstRow + threadIdx.y;
    for (unsigned j = 0; j < kTile; j += kBlockRows) {
        if (row + j < rows && col < cols)
            tile[threadIdx.y + j][threadIdx.x] = in[(row + j) * cols + col];
    }
    __syncthreads();

    const std::size_t outCol = firstRow + threadIdx.x;
    const std::size_t outRow = firstCol + threadIdx.y;
    for (unsigned j = 0; j < kTile; j += kBlockRows) {
        if (outRow + j < cols && outCol < rows)
            out[(outRow + j) * rows + outCol] = tile[threadIdx.x][threadIdx.y + j];
    }
}

// No padding: element (r, c) is in column c ^ r of its row. For a fixed r, c ^ r takes each column
// once, and for a fixed c as well. So rows and columns both lie in 32 different banks.
__global__ void transposeSmemSwizzle(const float* __restrict__ in, float* __restrict__ out,
                                     std::size_t rows, std::size_t cols) {
    __shared__ float tile[kTile][kTile];
    const std::size_t firstCol = std::size_t{blockIdx.x} * kTile;
    const std::size_t firstRow = lab::blockY() * kTile;

    const std::size_t col = firstCol + threadIdx.x;
    const std::size_t row = firstRow + threadIdx.y;
    for (unsigned j = 0; j < kTile; j += kBlockRows) {
        const unsigned r = threadIdx.y + j, c = threadIdx.x;
        if (row + j < rows && col < cols) tile[r][c ^ r] = in[(row + j) * cols + col];
    }
    __syncthreads();

    const std::size_t outCol = firstRow + threadIdx.x;
    const std::size_t outRow = firstCol + threadIdx.y;
    for (unsigned j = 0; j < kTile; j += kBlockRows) {
        const unsigned r = threadIdx.x, c = threadIdx.y + j;
        if (outRow + j < cols && outCol < rows) out[(outRow + j) * rows + outCol] = tile[r][c ^ r];
    }
}

// The same threads take a tile twice as wide. Each thread has eight loads in flight, and none of
// them waits for another. Half as many blocks begin and end. The pitch of 65 floats is odd as well.
__global__ void transposeSmemUnroll2(const float* __restrict__ in, float* __restrict__ out,
                                     std::size_t rows, std::size_t cols) {
    __shared__ float tile[kTile][2 * kTile + 1];
    const std::size_t firstCol = std::size_t{blockIdx.x} * (2 * kTile);
    const std::size_t firstRow = lab::blockY() * kTile;

    constexpr unsigned kLoads = 8;
    float values[kLoads] = {};
#pragma unroll  // all indices become constants, so the array can live in registers
    for (unsigned k = 0; k < kLoads; ++k) {
        const std::size_t row = firstRow + threadIdx.y + k / 2 * kBlockRows;
        const std::size_t col = firstCol + threadIdx.x + k % 2 * kTile;
        if (row < rows && col < cols) values[k] = in[row * cols + col];
    }
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k)
        tile[threadIdx.y + k / 2 * kBlockRows][threadIdx.x + k % 2 * kTile] = values[k];
    __syncthreads();

    const std::size_t outCol = firstRow + threadIdx.x;
    const std::size_t outRow = firstCol + threadIdx.y;
    for (unsigned j = 0; j < 2 * kTile; j += kBlockRows) {
        if (outRow + j < cols && outCol < rows)
            out[(outRow + j) * rows + outCol] = tile[threadIdx.x][threadIdx.y + j];
    }
}

// Blocks start in the order of their numbers, and the blocks of one row of tiles write to one
// column of tiles. On the first CUDA GPUs, the address alone chose the partition of the memory, so
// these blocks could all meet in one partition ("partition camping"). Tiles along diagonals avoided
// that. GPUs since Fermi mix the bits of the address first.
__global__ void transposeSmemDiagonal(const float* __restrict__ in, float* __restrict__ out,
                                      std::size_t rows, std::size_t cols) {
    __shared__ float tile[kTile][kTile + 1];
    const unsigned tileRows = gridDim.y * gridDim.z;
    const unsigned number = static_cast<unsigned>(lab::blockY()) * gridDim.x + blockIdx.x;
    const unsigned tileRow = number % tileRows;
    const unsigned tileCol = (number / tileRows + tileRow) % gridDim.x;
    const std::size_t firstCol = std::size_t{tileCol} * kTile;
    const std::size_t firstRow = std::size_t{tileRow} * kTile;

    const std::size_t col = firstCol + threadIdx.x;
    const std::size_t row = firstRow + threadIdx.y;
    for (unsigned j = 0; j < kTile; j += kBlockRows) {
        if (row + j < rows && col < cols)
            tile[threadIdx.y + j][threadIdx.x] = in[(row + j) * cols + col];
    }
    __syncthreads();

    const std::size_t outCol = firstRow + threadIdx.x;
    const std::size_t outRow = firstCol + threadIdx.y;
    for (unsigned j = 0; j < kTile; j += kBlockRows) {
        if (outRow + j < cols && outCol < rows)
            out[(outRow + j) * rows + outCol] = tile[threadIdx.x][threadIdx.y + j];
    }
}

// The launch sets the size of the tile: as wide as the block, and one column more. The compiler
// does not know how many iterations the loops have, but it knows their step. So it can unroll them
// and start several loads together.
__global__ void transposeSmemDynamic(const float* __restrict__ in, float* __restrict__ out,
                                     std::size_t rows, std::size_t cols) {
    extern __shared__ float tile[];
    const unsigned side = blockDim.x, stride = side + 1;
    const std::size_t firstCol = std::size_t{blockIdx.x} * side;
    const std::size_t firstRow = lab::blockY() * side;

    for (unsigned j = threadIdx.y; j < side; j += kBlockRows) {
        const std::size_t row = firstRow + j, col = firstCol + threadIdx.x;
        if (row < rows && col < cols) tile[j * stride + threadIdx.x] = in[row * cols + col];
    }
    __syncthreads();

    for (unsigned j = threadIdx.y; j < side; j += kBlockRows) {
        const std::size_t outRow = firstCol + j, outCol = firstRow + threadIdx.x;
        if (outRow < cols && outCol < rows)
            out[outRow * rows + outCol] = tile[threadIdx.x * stride + j];
    }
}

int main(int argc, char** argv) {
    std::size_t rows, cols;
    unsigned tile;
    lab::Exercise exercise("transpose", "Transposes a matrix, each kernel faster than the last.");
    exercise.option("rows", &rows, {4096, 512}, 1, lab::kMaxSize, "rows of the input");
    exercise.option("cols", &cols, {4096, 512}, 1, lab::kMaxSize, "columns of the input");
    exercise.option("tile", &tile, kTile, 1, 110, "side of the dynamic tile, 48 KiB at most");
    exercise.parse(argc, argv);
    exercise.requireElements(rows, cols);
    std::vector<unsigned> tiles = {8, 16, 32, 64};
    if (exercise.given("tile")) tiles = {tile};

    const std::size_t count = rows * cols;
    const std::vector<float> input = lab::randomFloats(count, exercise.seed(), -1, 1);
    const std::vector<float> expected = lab::transposed(input, rows, cols);
    const lab::DeviceBuffer<float> source(input);
    lab::DeviceBuffer<float> target(count);
    const float* const in = source.get();
    float* const out = target.get();
    exercise.title("%s x %s floats (%s)", lab::withCommas(rows).c_str(),
                   lab::withCommas(cols).c_str(), lab::inBytes(source.bytes()).c_str());

    const dim3 block(kTile, kBlockRows);
    const dim3 grid = lab::gridFor(cols, rows, kTile);
    const lab::Work moved = lab::bytes(2.0 * source.bytes());  // each element is read and written
    // Bits are moved and not computed, so the tolerance is zero.
    const auto isCopy = [&] { return lab::inMatrix(lab::mismatch(target, input, 0), cols); };
    const auto isTransposed = [&] {
        return lab::inMatrix(lab::mismatch(target, expected, 0), rows);
    };

    lab::Ladder ladder(exercise, target);
    constexpr unsigned kCopyBlock = 256;
    const unsigned copyGrid = lab::blocksFor(count, 4 * kCopyBlock);
    ladder.rung("copyFloat4", copyGrid, kCopyBlock, moved, isCopy,
                [&] { copyFloat4<<<copyGrid, kCopyBlock>>>(in, out, count); });
    ladder.rung("copyRow", grid, block, moved, isCopy,
                [&] { copyRow<<<grid, block>>>(in, out, rows, cols); });
    // A thread takes one element, so a block covers 32 x 8 elements, in rows or in columns.
    const dim3 rowGrid = lab::gridFor(lab::blocksFor(cols, kTile), lab::blocksFor(rows, 8), 1);
    const dim3 colGrid = lab::gridFor(lab::blocksFor(cols, 8), lab::blocksFor(rows, kTile), 1);
    ladder.rung("transposeNaiveRow", rowGrid, block, moved, isTransposed,
                [&] { transposeNaiveRow<1><<<rowGrid, block>>>(in, out, rows, cols); });
    ladder.rung("transposeNaiveRowUnroll4", grid, block, moved, isTransposed,
                [&] { transposeNaiveRow<4><<<grid, block>>>(in, out, rows, cols); });
    ladder.rung("transposeNaiveCol", colGrid, block, moved, isTransposed,
                [&] { transposeNaiveCol<1><<<colGrid, block>>>(in, out, rows, cols); });
    ladder.rung("transposeNaiveColUnroll4", grid, block, moved, isTransposed,
                [&] { transposeNaiveCol<4><<<grid, block>>>(in, out, rows, cols); });
    ladder.rung("transposeSmem", grid, block, moved, isTransposed,
                [&] { transposeSmem<<<grid, block>>>(in, out, rows, cols); });
    ladder.rung("transposeSmemPad", grid, block, moved, isTransposed,
                [&] { transposeSmemPad<<<grid, block>>>(in, out, rows, cols); });
    ladder.rung("transposeSmemSwizzle", grid, block, moved, isTransposed,
                [&] { transposeSmemSwizzle<<<grid, block>>>(in, out, rows, cols); });
    const dim3 wideGrid =
        lab::gridFor(lab::blocksFor(cols, 2 * kTile), lab::blocksFor(rows, kTile), 1);
    ladder.rung("transposeSmemUnroll2", wideGrid, block, moved, isTransposed,
                [&] { transposeSmemUnroll2<<<wideGrid, block>>>(in, out, rows, cols); });
    ladder.rung("transposeSmemDiagonal", grid, block, moved, isTransposed,
                [&] { transposeSmemDiagonal<<<grid, block>>>(in, out, rows, cols); });
    for (const unsigned side : tiles) {
        const dim3 sideGrid = lab::gridFor(cols, rows, side), sideBlock(side, kBlockRows);
        const std::size_t shared = side * (side + 1) * sizeof(float);
        const std::string parameters = exercise.parameters({{"tile", std::to_string(side)}});
        ladder.rung(
            {"transposeSmemDynamic", parameters}, sideGrid, sideBlock, moved, isTransposed,
            [&] { transposeSmemDynamic<<<sideGrid, sideBlock, shared>>>(in, out, rows, cols); });
    }
    lab::cublasTranspose(ladder, isTransposed, in, out, rows, cols);
    ladder.peer("cudaMemcpy", moved, isCopy, [&] {
        CUDA_CHECK(cudaMemcpyAsync(out, in, source.bytes(), cudaMemcpyDeviceToDevice));
    });
    return exercise.finish();
}
