// Transposes a matrix of floats. A warp is served best where its 32 lanes touch neighbouring
// addresses (coalescing); a transpose reads along rows what it writes along columns, and only a
// detour through shared memory lets it do both well.
//
//    1 copyFloat4                no transpose: the same bytes, 16 to a thread, as the limit
//    2 copyRow                   no transpose: one float at a time, in tiles, as the others
//    3 transposeNaiveRow         coalesced reads, strided writes
//    4 transposeNaiveRowUnroll4  the same, four elements to a thread
//    5 transposeNaiveCol         strided reads, coalesced writes
//    6 transposeNaiveColUnroll4  the same, four elements to a thread
//    7 transposeSmem             a tile in shared memory: both coalesced, but its banks collide
//    8 transposeSmemPad          one more column in that tile: no collisions
//    9 transposeSmemSwizzle      no collisions either, and no more memory
//   10 transposeSmemUnroll2      two padded tiles to a block: more loads in flight
//   11 transposeSmemDiagonal     padded tiles in the order that old GPUs needed
//   12 transposeSmemDynamic      padded tiles of any side, in dynamic shared memory
//      cublasSgeam               what NVIDIA's library makes of it
//      cudaMemcpy                the copy as the driver does it
//
// A block of 32 x 8 threads takes a tile of 32 x 32 elements, four to a thread; in 3 and 5 a
// thread takes one element, in 10 eight. The speedup is that over copyFloat4. transposeFast goes on
// from here.
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

// All kernels: `in` has rows x cols elements, `out` cols x rows (except for the copies), both
// row-major. __restrict__ promises that the two do not overlap, so that a thread may begin all of
// its loads before its first store.

// One load and one store of 16 bytes for each thread, and no loop. A copy need not know where rows
// begin: it takes the matrix as one array of rows * cols elements.
__global__ void copyFloat4(const float* __restrict__ in, float* __restrict__ out,
                           std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t whole = count / 4;
    if (i < whole) reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i];
    if (i < count % 4) out[4 * whole + i] = in[4 * whole + i];  // what does not fill a float4
}

// A warp reads 32 elements of one row, and writes them to the same place.
__global__ void copyRow(const float* __restrict__ in, float* __restrict__ out, std::size_t rows,
                        std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * kTile + threadIdx.x;
    const std::size_t row = lab::blockY() * kTile + threadIdx.y;

    for (unsigned j = 0; j < kTile; j += kBlockRows) {
        if (row + j < rows && col < cols) out[(row + j) * cols + col] = in[(row + j) * cols + col];
    }
}

// Reads as copyRow does. Still wrong: what a warp writes lies in 32 different rows of the output,
// so a store of 128 bytes touches 32 sectors of 32 bytes where 4 would do. To unroll, that is to
// give a thread several elements, puts more loads in flight, and leaves the stores as they are.
template <unsigned kUnroll>
__global__ void transposeNaiveRow(const float* __restrict__ in, float* __restrict__ out,
                                  std::size_t rows, std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * kTile + threadIdx.x;
    const std::size_t row = lab::blockY() * (kUnroll * kBlockRows) + threadIdx.y;

    for (unsigned j = 0; j < kUnroll * kBlockRows; j += kBlockRows) {
        if (row + j < rows && col < cols) out[col * rows + row + j] = in[(row + j) * cols + col];
    }
}

// The other way round: consecutive threads take consecutive rows of the input. Now the loads are
// spread over 32 sectors. The rest of each sector, though, is what the neighbouring warps want, and
// the L1 cache keeps it for them. Still wrong: it takes the cache to put this right.
template <unsigned kUnroll>
__global__ void transposeNaiveCol(const float* __restrict__ in, float* __restrict__ out,
                                  std::size_t rows, std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * (kUnroll * kBlockRows) + threadIdx.y;
    const std::size_t row = lab::blockY() * kTile + threadIdx.x;

    for (unsigned j = 0; j < kUnroll * kBlockRows; j += kBlockRows) {
        if (row < rows && col + j < cols) out[(col + j) * rows + row] = in[row * cols + col + j];
    }
}

// Each warp reads from rows of the input and writes to rows of the output; the tile changes hands
// in shared memory, where any order is fast. Or nearly: shared memory has 32 banks, and element
// (r, c) of the tile lies in bank (32 * r + c) % 32 = c. Still wrong: a warp that reads a column of
// the tile finds all of it in one bank, and is served in 32 turns instead of one.
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

// The same kernel, but for a column that is never used. It moves element (r, c) to bank
// (33 * r + c) % 32 = (r + c) % 32: now columns, like rows, lie in 32 different banks.
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

// No padding: element (r, c) stands in column c ^ r of its row. For a fixed r that is every column
// once, and for a fixed c, too: rows and columns both lie in 32 different banks.
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

// A tile twice as wide for the same threads: eight loads of a thread are in flight, of which none
// waits for another, and half as many blocks begin and end. Its 65 columns are an odd number, too.
__global__ void transposeSmemUnroll2(const float* __restrict__ in, float* __restrict__ out,
                                     std::size_t rows, std::size_t cols) {
    __shared__ float tile[kTile][2 * kTile + 1];
    const std::size_t firstCol = std::size_t{blockIdx.x} * (2 * kTile);
    const std::size_t firstRow = lab::blockY() * kTile;

    constexpr unsigned kLoads = 8;
    float values[kLoads] = {};
#pragma unroll  // every index becomes a constant: only then can an array live in registers
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

// Blocks start in the order of their numbers, and those of one row of tiles write to one column of
// tiles. In the first CUDA GPUs, where the address alone said which part of the memory served it,
// they all met in the same part ("partition camping"), and taking the tiles along diagonals was the
// remedy. GPUs since Fermi mix the bits of the address.
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

// The launch says how large the tile is: as wide as the block, and one column more. How often the
// loops go round the compiler does not know, but their steps it does: it begins several loads at
// once.
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
    const auto isCopy = [&] { return lab::mismatch(target, input, 0); };
    const auto isTransposed = [&] { return lab::mismatch(target, expected, 0); };

    lab::Ladder ladder(exercise, target);
    constexpr unsigned kCopyBlock = 256;
    const unsigned copyGrid = lab::blocksFor(count, 4 * kCopyBlock);
    ladder.rung("copyFloat4", copyGrid, kCopyBlock, moved, isCopy,
                [&] { copyFloat4<<<copyGrid, kCopyBlock>>>(in, out, count); });
    ladder.rung("copyRow", grid, block, moved, isCopy,
                [&] { copyRow<<<grid, block>>>(in, out, rows, cols); });
    // One element to a thread: each block covers 32 x 8 elements, in rows or in columns.
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
