// Transposes a matrix of floats. A warp is served best where its 32 lanes touch neighbouring
// addresses (coalescing); a transpose reads along rows what it writes along columns, and only a
// detour through shared memory lets it do both well.
//
//   1 copyRow            no transpose: moves the same bytes, all coalesced, as a measure
//   2 transposeNaiveRow  coalesced reads, strided writes
//   3 transposeNaiveCol  strided reads, coalesced writes
//   4 transposeSmem      a tile in shared memory: both coalesced, but its banks collide
//   5 transposeSmemPad   one more column in that tile: no collisions
//     cublasSgeam        what NVIDIA's library makes of it
//     cudaMemcpy         the copy as the driver does it
//
// Every kernel cuts the matrix into tiles of 32 x 32 elements, one for each block of 32 x 8
// threads; a thread moves four elements. The speedup is that over copyRow.
//
//   ./lab run transpose -- --rows=8K --cols=8K
//   ./lab test transpose
//   ./lab profile transpose
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target transpose
//   build/ch04_memory/transpose --rows=8K --cols=8K
//   ctest --test-dir build -L transpose
//   ncu build/ch04_memory/transpose --profile

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lab.cuh"
#include "peers_cublas.cuh"

constexpr unsigned kTile = 32;  // side of a tile: the lanes of a warp
constexpr unsigned kBlockRows = 8;

// All kernels: `in` has rows x cols elements, `out` cols x rows (except for the copy), both
// row-major. __restrict__ promises that the two do not overlap, so that a thread may begin all of
// its loads before its first store.

// A warp reads 32 elements of one row, and writes them to the same place.
__global__ void copyRow(const float* __restrict__ in, float* __restrict__ out, std::size_t rows,
                        std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * kTile + threadIdx.x;
    const std::size_t row = lab::blockY() * kTile + threadIdx.y;

    for (unsigned j = 0; j < kTile; j += kBlockRows) {
        if (row + j < rows && col < cols) out[(row + j) * cols + col] = in[(row + j) * cols + col];
    }
}

// Reads as the copy does. Still wrong: what a warp writes lies in 32 different rows of the output,
// so a store of 128 bytes touches 32 sectors of 32 bytes where 4 would do.
__global__ void transposeNaiveRow(const float* __restrict__ in, float* __restrict__ out,
                                  std::size_t rows, std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * kTile + threadIdx.x;
    const std::size_t row = lab::blockY() * kTile + threadIdx.y;

    for (unsigned j = 0; j < kTile; j += kBlockRows) {
        if (row + j < rows && col < cols) out[col * rows + row + j] = in[(row + j) * cols + col];
    }
}

// The other way round: consecutive threads take consecutive rows of the input. Now the loads are
// spread over 32 sectors. The rest of each sector, though, is what the neighbouring warps want, and
// the L1 cache keeps it for them. Still wrong: it takes the cache to put this right.
__global__ void transposeNaiveCol(const float* __restrict__ in, float* __restrict__ out,
                                  std::size_t rows, std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * kTile + threadIdx.y;
    const std::size_t row = lab::blockY() * kTile + threadIdx.x;

    for (unsigned j = 0; j < kTile; j += kBlockRows) {
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

// CPU reference. Tile by tile as well: a column at a time would miss the CPU's caches.
std::vector<float> transposed(const std::vector<float>& in, std::size_t rows, std::size_t cols) {
    constexpr std::size_t kSide = 32;
    std::vector<float> out = lab::hostVector<float>(in.size());
    const std::size_t tileRows = (rows + kSide - 1) / kSide;
    lab::parallelFor(tileRows, 8, [&](std::size_t begin, std::size_t end) {
        const std::size_t lastRow = std::min(rows, end * kSide);
        for (std::size_t firstRow = begin * kSide; firstRow < lastRow; firstRow += kSide) {
            for (std::size_t col = 0; col < cols; ++col) {
                for (std::size_t row = firstRow; row < std::min(lastRow, firstRow + kSide); ++row)
                    out[col * rows + row] = in[row * cols + col];
            }
        }
    });
    return out;
}

int main(int argc, char** argv) {
    std::size_t rows, cols;
    lab::Exercise exercise("transpose", "Transposes a matrix, each kernel faster than the last.");
    exercise.option("rows", &rows, {8192, 512}, 1, lab::kMaxSize, "rows of the input");
    exercise.option("cols", &cols, {8192, 512}, 1, lab::kMaxSize, "columns of the input");
    exercise.parse(argc, argv);
    if (rows > lab::kMaxSize / cols) {
        exercise.reject(lab::formatted("--rows=%zu --cols=%zu: expected at most %zu elements", rows,
                                       cols, std::size_t{lab::kMaxSize}));
    }

    const std::vector<float> input = lab::randomFloats(rows * cols, exercise.seed(), -1, 1);
    const std::vector<float> expected = transposed(input, rows, cols);
    const lab::DeviceBuffer<float> source(input);
    lab::DeviceBuffer<float> target(input.size());
    const float* const in = source.get();
    float* const out = target.get();
    exercise.title("%s x %s floats (%s)", lab::withCommas(rows).c_str(),
                   lab::withCommas(cols).c_str(), lab::inBytes(source.bytes()).c_str());

    const dim3 grid = lab::gridFor(cols, rows, kTile);
    const dim3 block(kTile, kBlockRows);
    const lab::Work moved = lab::bytes(2.0 * source.bytes());  // each element is read and written
    // Bits are moved and not computed, so the tolerance is zero.
    const auto isCopy = [&] { return lab::mismatch(target.toHost(), input, 0); };
    const auto isTransposed = [&] { return lab::mismatch(target.toHost(), expected, 0); };

    lab::Ladder ladder(exercise, target);
    ladder.rung("copyRow", grid, block, moved, isCopy,
                [&] { copyRow<<<grid, block>>>(in, out, rows, cols); });
    ladder.rung("transposeNaiveRow", grid, block, moved, isTransposed,
                [&] { transposeNaiveRow<<<grid, block>>>(in, out, rows, cols); });
    ladder.rung("transposeNaiveCol", grid, block, moved, isTransposed,
                [&] { transposeNaiveCol<<<grid, block>>>(in, out, rows, cols); });
    ladder.rung("transposeSmem", grid, block, moved, isTransposed,
                [&] { transposeSmem<<<grid, block>>>(in, out, rows, cols); });
    ladder.rung("transposeSmemPad", grid, block, moved, isTransposed,
                [&] { transposeSmemPad<<<grid, block>>>(in, out, rows, cols); });
    lab::cublasTranspose(ladder, isTransposed, in, out, rows, cols);
    ladder.peer("cudaMemcpy", moved, isCopy, [&] {
        CUDA_CHECK(cudaMemcpyAsync(out, in, source.bytes(), cudaMemcpyDeviceToDevice));
    });
    return exercise.finish();
}
