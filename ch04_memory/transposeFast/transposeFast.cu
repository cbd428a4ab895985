// Transposes a matrix nearly as fast as this GPU copies one. After the padded tile of `transpose`,
// the rest is a question of the memory system: how much a block moves, in which pieces, and which
// block comes next.
//
//   1 copyFloat4              no transpose: 16 bytes for each thread and no loop, as the limit
//   2 copyFloat4x4            64 bytes for each thread: fewer threads, and slower
//   3 copyFloat4Loop          as few threads as fill the GPU, each in a loop: slower
//   4 copyFloat4Stream        hints that nobody needs the data again: slower
//   5 transposeTile32         tiles of 32 x 32, padded as in `transpose`
//   6 transposeTile64         tiles of 64 x 64: pieces of 256 bytes in both matrices
//   7 transposeFloat4         four rows of a column become 16 bytes, which are stored at once
//   8 transposeFloat4Swizzle  the same without bank conflicts
//   9 transposeFloat4Down     blocks go down the columns and write the output in its order
//  10 transpose4x4            4 x 4 elements for each thread: loads of 16 bytes, too
//  11 transposeSectors        stores whole sectors, wherever the rows of the output begin
//     cublasSgeam             the transpose of NVIDIA's library
//     cudaMemcpy              the driver's copy
//
// The speedup is relative to copyFloat4: the share of the limit. transpose4x4 runs if rows and
// columns are multiples of four.
//
//   ./lab run transposeFast -- --rows=16K --cols=16K
//   ./lab test transposeFast
//   ./lab profile transposeFast
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target transposeFast
//   build/ch04_memory/transposeFast --rows=16K --cols=16K
//   ncu build/ch04_memory/transposeFast --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch04_memory/transposeFast/transposeFast.cu
//       common/*.cpp common/*.cu -DLAB_HAVE_CUBLAS -lcublas -o build/transposeFast

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lab.cuh"
#include "peers_cublas.cuh"
#include "transposed.h"

constexpr unsigned kCopyBlock = 256;

// The copies take the matrix as one array of `count` elements. Up to three of them fill no float4.
__device__ void copyRest(const float* in, float* out, std::size_t count, std::size_t i) {
    if (i < count % 4) out[count / 4 * 4 + i] = in[count / 4 * 4 + i];
}

// Every thread loads kLoads float4, then stores them. With one float4, a block moves 4 KiB and
// ends. With four, it requests 16 KiB together, and then writes 16 KiB together.
template <unsigned kLoads>
__global__ void copyFloat4(const float* __restrict__ in, float* __restrict__ out,
                           std::size_t count) {
    const auto from = reinterpret_cast<const float4*>(in);
    const auto to = reinterpret_cast<float4*>(out);
    const std::size_t first = std::size_t{blockIdx.x} * (kLoads * kCopyBlock) + threadIdx.x;

    float4 values[kLoads];
#pragma unroll  // all indices become constants, so the array can live in registers
    for (unsigned k = 0; k < kLoads; ++k) {
        if (first + k * kCopyBlock < count / 4) values[k] = from[first + k * kCopyBlock];
    }
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
        if (first + k * kCopyBlock < count / 4) to[first + k * kCopyBlock] = values[k];
    }
    copyRest(in, out, count, first);
}

// A grid-stride loop. No block has to end and make room for the next one. But in each iteration,
// every thread waits for its load before it can start another one.
__global__ void copyFloat4Loop(const float* __restrict__ in, float* __restrict__ out,
                               std::size_t count) {
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = first; i < count / 4; i += stride)
        reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i];
    copyRest(in, out, count, first);
}

// __ldcs() and __stcs() tell the caches to give up these lines first.
__global__ void copyFloat4Stream(const float* __restrict__ in, float* __restrict__ out,
                                 std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count / 4) {
        const float4 value = __ldcs(reinterpret_cast<const float4*>(in) + i);
        __stcs(reinterpret_cast<float4*>(out) + i, value);
    }
    copyRest(in, out, count, i);
}

// In the transposes, `in` has rows x cols elements and `out` has cols x rows, both row-major.
// Element (r, c) of a tile goes from in[(firstRow + r) * cols + firstCol + c] to out[(firstCol + c)
// * rows + firstRow + r].

// A tile with a column of padding, for blocks of kSide x 8 threads. With kSide = 32, each row of a
// tile is one line of 128 bytes in both matrices. With 64 it is two neighbouring lines, and there
// are a quarter as many blocks.
template <unsigned kSide>
__global__ void transposeTile(const float* __restrict__ in, float* __restrict__ out,
                              std::size_t rows, std::size_t cols) {
    __shared__ float tile[kSide][kSide + 1];
    const std::size_t firstCol = std::size_t{blockIdx.x} * kSide;
    const std::size_t firstRow = lab::blockY() * kSide;

    float values[kSide / 8] = {};
#pragma unroll
    for (unsigned j = 0; j < kSide; j += 8) {  // all loads start before anything waits for one
        const unsigned r = threadIdx.y + j, c = threadIdx.x;
        if (firstRow + r < rows && firstCol + c < cols)
            values[j / 8] = in[(firstRow + r) * cols + firstCol + c];
    }
#pragma unroll
    for (unsigned j = 0; j < kSide; j += 8) tile[threadIdx.y + j][threadIdx.x] = values[j / 8];
    __syncthreads();

    for (unsigned j = 0; j < kSide; j += 8) {
        const unsigned r = threadIdx.x, c = threadIdx.y + j;
        if (firstRow + r < rows && firstCol + c < cols)
            out[(firstCol + c) * rows + firstRow + r] = tile[r][c];
    }
}

constexpr unsigned kSide = 64, kWarps = 16;

// A thread loads four rows of a column. In the output they are neighbours, 16 bytes. So the tile
// holds them as a float4. A row of the tile is a column of the input.
//
// kSwizzle: a warp stores 32 float4, one in each of 32 rows of the tile. A row has 16 float4, which
// is twice all banks, so all 32 would meet in the same four banks. With kSwizzle, float4 q of
// column c is at q ^ (c % 8). Eight neighbouring columns then use eight places, which are all
// banks. So do eight neighbouring float4 of a column.
//
// kDown: blocks with consecutive numbers take tiles one below the other, not side by side. They
// write consecutive pieces of the output, and read pieces that are a row apart.
//
// kAligned: `rows` is a multiple of four, so a row of the output begins at a multiple of 16 bytes.
// Otherwise the kernel stores floats one by one. Its warps begin where a line of 128 bytes begins,
// so only the first and the last line of a piece are shared with other blocks.
template <bool kSwizzle, bool kDown, bool kAligned>
__global__ void transposeFloat4(const float* __restrict__ in, float* __restrict__ out,
                                std::size_t rows, std::size_t cols) {
    __shared__ float4 tile[kSide][kSide / 4];
    const std::size_t firstCol = (kDown ? lab::blockY() : std::size_t{blockIdx.x}) * kSide;
    const std::size_t firstRow = (kDown ? std::size_t{blockIdx.x} : lab::blockY()) * kSide;
    const auto place = [](unsigned c, unsigned q) { return kSwizzle ? q ^ (c % 8) : q; };

#pragma unroll
    for (unsigned i = 0; i < 2; ++i) {
        const unsigned c = threadIdx.x + 32 * i, q = threadIdx.y;
        const float* const from = in + (firstRow + 4 * q) * cols + firstCol + c;
        float v[4] = {};
        for (unsigned k = 0; k < 4; ++k) {
            if (firstRow + 4 * q + k < rows && firstCol + c < cols) v[k] = from[k * cols];
        }
        tile[c][place(c, q)] = make_float4(v[0], v[1], v[2], v[3]);
    }
    __syncthreads();

    if constexpr (kAligned) {
#pragma unroll
        for (unsigned i = 0; i < 2; ++i) {  // a warp stores two rows of 256 bytes
            const unsigned c = 2 * threadIdx.y + threadIdx.x / 16 + 32 * i, q = threadIdx.x % 16;
            if (firstRow + 4 * q < rows && firstCol + c < cols) {
                float* const to = out + (firstCol + c) * rows + firstRow + 4 * q;
                *reinterpret_cast<float4*>(to) = tile[c][place(c, q)];
            }
        }
    } else {
        for (unsigned c = threadIdx.y; c < kSide && firstCol + c < cols; c += kWarps) {
            const std::size_t first = (firstCol + c) * rows + firstRow;
            const unsigned behindLine = first % 32;
            for (unsigned line = 0; line < kSide / 32 + 1; ++line) {
                const unsigned r = 32 * line + threadIdx.x - behindLine;  // wraps around below 0
                if (r < kSide && firstRow + r < rows)
                    out[first + r] = reinterpret_cast<float*>(&tile[c][place(c, r / 4)])[r % 4];
            }
        }
    }
}

// A thread takes 4 x 4 elements: four loads of 16 bytes, four float4 for the tile, and four stores
// of 16 bytes. `rows` and `cols` must be multiples of four, or these accesses would not be aligned.
//
// The 4 x 4 elements change rows and columns in registers, with some moves. Eight neighbouring
// lanes now have every fourth column, so the swizzle takes c / 4 where transposeFloat4 takes c.
__global__ void transpose4x4(const float* __restrict__ in, float* __restrict__ out,
                             std::size_t rows, std::size_t cols) {
    __shared__ float4 tile[kSide][kSide / 4];
    const std::size_t firstCol = lab::blockY() * kSide;
    const std::size_t firstRow = std::size_t{blockIdx.x} * kSide;
    const auto place = [](unsigned c, unsigned q) { return q ^ (c / 4 % 8); };

    {
        const unsigned c = 4 * threadIdx.x, q = threadIdx.y;
        float4 v[4] = {};
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
            const std::size_t row = firstRow + 4 * q + k, col = firstCol + c;
            if (row < rows && col < cols)
                v[k] = *reinterpret_cast<const float4*>(in + row * cols + col);
        }
        tile[c][place(c, q)] = make_float4(v[0].x, v[1].x, v[2].x, v[3].x);
        tile[c + 1][place(c + 1, q)] = make_float4(v[0].y, v[1].y, v[2].y, v[3].y);
        tile[c + 2][place(c + 2, q)] = make_float4(v[0].z, v[1].z, v[2].z, v[3].z);
        tile[c + 3][place(c + 3, q)] = make_float4(v[0].w, v[1].w, v[2].w, v[3].w);
    }
    __syncthreads();

#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {  // a warp stores two rows of 256 bytes
        const unsigned c = threadIdx.y + 16 * i, q = threadIdx.x;
        if (firstRow + 4 * q < rows && firstCol + c < cols) {
            const std::size_t to = (firstCol + c) * rows + firstRow + 4 * q;
            *reinterpret_cast<float4*>(out + to) = tile[c][place(c, q)];
        }
    }
}

// Row c of the output begins (c * rows) % 8 floats behind the beginning of a sector of 32 bytes.
// The block's piece of that row begins as many floats above the tile, so it begins with a sector.
// No sector is written by two blocks, and each piece takes stores of 16 bytes, for any `rows`. In
// exchange, two blocks load up to seven of the rows, and the caches help with that.
//
// Element (r, c) is at tile[c][kSector + r], and r may be negative.
constexpr unsigned kSector = 8;

__global__ void transposeSectors(const float* __restrict__ in, float* __restrict__ out,
                                 std::size_t rows, std::size_t cols) {
    __shared__ float tile[kSide][kSide + kSector + 1];  // an odd pitch: columns in all banks
    const std::size_t firstCol = lab::blockY() * kSide;
    const std::size_t firstRow = std::size_t{blockIdx.x} * kSide;
    const auto above = [&](unsigned c) -> unsigned { return (firstCol + c) * rows % kSector; };

    {
        constexpr unsigned kLoads = (kSide + kSector) / (kWarps / 2);
        static_assert(kLoads * (kWarps / 2) == kSide + kSector, "rows would be left out");
        const unsigned c = threadIdx.x + 32 * (threadIdx.y % 2), top = kSector - above(c);
        float values[kLoads] = {};
#pragma unroll
        for (unsigned j = 0; j < kLoads; ++j) {
            const unsigned t = threadIdx.y / 2 + j * (kWarps / 2);
            const std::size_t row = firstRow + t - kSector;  // wraps around below 0
            if (t - top < kSide && row < rows && firstCol + c < cols)
                values[j] = in[row * cols + firstCol + c];
        }
#pragma unroll
        for (unsigned j = 0; j < kLoads; ++j)
            tile[c][threadIdx.y / 2 + j * (kWarps / 2)] = values[j];
    }
    __syncthreads();

#pragma unroll
    for (unsigned i = 0; i < 2; ++i) {  // a warp stores two pieces of 256 bytes
        const unsigned c = 2 * threadIdx.y + threadIdx.x / 16 + 32 * i, q = threadIdx.x % 16;
        if (firstCol + c >= cols) continue;
        const unsigned t = kSector - above(c) + 4 * q;
        const std::size_t row = firstRow + t - kSector;
        const std::size_t to = (firstCol + c) * rows + row;
        const float* const v = &tile[c][t];
        if (row < rows && row + 3 < rows) {
            *reinterpret_cast<float4*>(out + to) = make_float4(v[0], v[1], v[2], v[3]);
        } else {  // some of the first rows or of the last ones
            for (unsigned k = 0; k < 4; ++k) {
                if (row + k < rows) out[to + k] = v[k];
            }
        }
    }
}

int main(int argc, char** argv) {
    std::size_t rows, cols;
    lab::Exercise exercise("transposeFast", "Transposes a matrix at the speed of a copy.");
    exercise.option("rows", &rows, {4096, 512}, 1, lab::kMaxSize, "rows of the input");
    exercise.option("cols", &cols, {4096, 512}, 1, lab::kMaxSize, "columns of the input");
    exercise.parse(argc, argv);
    exercise.requireElements(rows, cols);

    const std::size_t count = rows * cols;
    const std::vector<float> input = lab::randomFloats(count, exercise.seed(), -1, 1);
    const std::vector<float> expected = lab::transposed(input, rows, cols);
    const lab::DeviceBuffer<float> source(input);
    lab::DeviceBuffer<float> target(count);
    const float* const in = source.get();
    float* const out = target.get();
    exercise.title("%s x %s floats (%s)", lab::withCommas(rows).c_str(),
                   lab::withCommas(cols).c_str(), lab::inBytes(source.bytes()).c_str());

    const lab::Work moved = lab::bytes(2.0 * source.bytes());  // each element is read and written
    // Bits are moved and not computed, so the tolerance is zero.
    const auto isCopy = [&] { return lab::inMatrix(lab::mismatch(target, input, 0), cols); };
    const auto isTransposed = [&] {
        return lab::inMatrix(lab::mismatch(target, expected, 0), rows);
    };

    lab::Ladder ladder(exercise, target);
    const unsigned copyGrid = lab::blocksFor(count, 4 * kCopyBlock);
    ladder.rung("copyFloat4", copyGrid, kCopyBlock, moved, isCopy,
                [&] { copyFloat4<1><<<copyGrid, kCopyBlock>>>(in, out, count); });
    const unsigned quarterGrid = lab::blocksFor(count, 16 * kCopyBlock);
    ladder.rung("copyFloat4x4", quarterGrid, kCopyBlock, moved, isCopy,
                [&] { copyFloat4<4><<<quarterGrid, kCopyBlock>>>(in, out, count); });
    const unsigned loopGrid = std::min(copyGrid, exercise.device().residentBlocks(kCopyBlock));
    ladder.rung("copyFloat4Loop", loopGrid, kCopyBlock, moved, isCopy,
                [&] { copyFloat4Loop<<<loopGrid, kCopyBlock>>>(in, out, count); });
    ladder.rung("copyFloat4Stream", copyGrid, kCopyBlock, moved, isCopy,
                [&] { copyFloat4Stream<<<copyGrid, kCopyBlock>>>(in, out, count); });

    const dim3 grid32 = lab::gridFor(cols, rows, 32), block32(32, 8);
    ladder.rung("transposeTile32", grid32, block32, moved, isTransposed,
                [&] { transposeTile<32><<<grid32, block32>>>(in, out, rows, cols); });
    const dim3 grid = lab::gridFor(cols, rows, kSide), block64(kSide, 8), block(32, kWarps);
    ladder.rung("transposeTile64", grid, block64, moved, isTransposed,
                [&] { transposeTile<64><<<grid, block64>>>(in, out, rows, cols); });

    // The template arguments of transposeFloat4.
    constexpr bool kSwizzled = true, kAsItIs = false;
    constexpr bool kDown = true, kAcross = false;
    constexpr bool kAligned = true, kUnaligned = false;
    const bool aligned = rows % 4 == 0;
    ladder.rung("transposeFloat4", grid, block, moved, isTransposed, [&] {
        const auto kernel = aligned ? transposeFloat4<kAsItIs, kAcross, kAligned>
                                    : transposeFloat4<kAsItIs, kAcross, kUnaligned>;
        kernel<<<grid, block>>>(in, out, rows, cols);
    });
    ladder.rung("transposeFloat4Swizzle", grid, block, moved, isTransposed, [&] {
        const auto kernel = aligned ? transposeFloat4<kSwizzled, kAcross, kAligned>
                                    : transposeFloat4<kSwizzled, kAcross, kUnaligned>;
        kernel<<<grid, block>>>(in, out, rows, cols);
    });
    const dim3 downGrid = lab::gridFor(rows, cols, kSide);
    ladder.rung("transposeFloat4Down", downGrid, block, moved, isTransposed, [&] {
        const auto kernel = aligned ? transposeFloat4<kSwizzled, kDown, kAligned>
                                    : transposeFloat4<kSwizzled, kDown, kUnaligned>;
        kernel<<<downGrid, block>>>(in, out, rows, cols);
    });
    if (rows % 4 == 0 && cols % 4 == 0) {
        const dim3 block4x4(kSide / 4, kSide / 4);
        ladder.rung("transpose4x4", downGrid, block4x4, moved, isTransposed,
                    [&] { transpose4x4<<<downGrid, block4x4>>>(in, out, rows, cols); });
    }
    // Pieces that begin above their tile also end above its last row, so up to seven rows remain.
    const std::size_t remaining = rows % kSector == 0 ? 0 : kSector - 1;
    const dim3 sectorGrid = lab::gridFor(rows + remaining, cols, kSide);
    ladder.rung("transposeSectors", sectorGrid, block, moved, isTransposed,
                [&] { transposeSectors<<<sectorGrid, block>>>(in, out, rows, cols); });
    lab::cublasTranspose(ladder, isTransposed, in, out, rows, cols);
    ladder.peer("cudaMemcpy", moved, isCopy, [&] {
        CUDA_CHECK(cudaMemcpyAsync(out, in, source.bytes(), cudaMemcpyDeviceToDevice));
    });
    return exercise.finish();
}
