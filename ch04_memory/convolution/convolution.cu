// Convolves an image with a small filter: each output pixel is the sum of the pixels around it,
// times a number each. Neighbouring outputs share nearly all of their inputs, so the question is
// where a pixel waits until all outputs that need it have had it.
//
//   1 convGlobal       pixels and filter from global memory
//   2 convConstant     the filter from constant memory
//   3 convTile         a tile and its halo in shared memory; as many threads as outputs
//   4 convTileWide     the same; as many threads as inputs
//   5 convTileCached   the tile in shared memory, the halo from the L1 cache
//   6 twoPasses        separable filter: the kernels rowPass and columnPass
//   7 convSeparable    both passes in one kernel, through shared memory
//   8 convRegisters    a thread computes a patch of outputs, from rows of pixels in registers
//   9 convSliding      the same with a separable filter
//     cudaMemcpy       copies the image: the bound for all of them
//
// GB/s counts 8 bytes for each pixel: it is read once and written once. The filter has
// 2 * radius + 1 rows and columns.
//
//   ./lab run convolution -- --rows=8K --cols=8K --radius=2
//   ./lab test convolution
//   ./lab profile convolution
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target convolution
//   build/ch04_memory/convolution --rows=8K --cols=8K --radius=2
//   ncu build/ch04_memory/convolution --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch04_memory/convolution/convolution.cu
//       common/*.cpp common/*.cu -o build/convolution

#include <cstddef>
#include <string>
#include <vector>

#include "filter.h"
#include "image.cuh"
#include "lab.cuh"
#include "patches.cuh"
#include "taps.cuh"

constexpr int kTile = 32;  // side of a tile
constexpr int kTileThreads = kTile * kTile;
constexpr int kBlockRows = 8;  // rows of threads in a block, where it is not as high as the tile

// In convRegisters and convSliding, a block has 128 threads, and an SM has room for four blocks. So
// the compiler may give a thread 128 registers. It uses them to begin more loads at once.
constexpr int kPatchThreads = 128, kPatchBlocks = 4;

// A thread for each output. Still wrong: two loads for each multiplication, one of them for a
// number that is the same for all threads.
__global__ void convGlobal(Image in, float* out, const float* taps, int radius) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = lab::blockY() * blockDim.y + threadIdx.y;
    if (row >= in.rows || col >= in.cols) return;

    float sum = 0;
    for (int y = -radius; y <= radius; ++y) {
        for (int x = -radius; x <= radius; ++x) sum += *taps++ * in.at(row + y, col + x);
    }
    out[in.placeOf(row, col)] = sum;
}

// The filter comes from constant memory, whose cache delivers one word to all lanes. Still wrong:
// the block loads each pixel (2 * kRadius + 1)^2 times, and asks for each whether it is inside the
// image.
template <int kRadius>
__global__ void convConstant(Image in, float* __restrict__ out) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = lab::blockY() * blockDim.y + threadIdx.y;
    if (row >= in.rows || col >= in.cols) return;

    constexpr int kSide = 2 * kRadius + 1;
    float sum = 0;
    for (int y = 0; y < kSide; ++y) {
        for (int x = 0; x < kSide; ++x)
            sum += constantTaps[y * kSide + x] * in.at(row + y - kRadius, col + x - kRadius);
    }
    out[in.placeOf(row, col)] = sum;
}

// The block loads its tile and the halo around it once. (The launch bounds say how many threads its
// blocks have, so that the compiler leaves enough registers for all of them.) It has a thread for
// each output, which are fewer than the inputs, so each thread loads several of them.
template <int kRadius>
__global__ void __launch_bounds__(kTileThreads) convTile(Image in, float* __restrict__ out) {
    constexpr int kSide = 2 * kRadius + 1, kWidth = kTile + 2 * kRadius;
    __shared__ float tile[kWidth][kWidth];
    const int firstCol = blockIdx.x * kTile, firstRow = lab::blockY() * kTile;
    for (int i = threadIdx.y * kTile + threadIdx.x; i < kWidth * kWidth; i += kTile * kTile) {
        const int y = i / kWidth, x = i % kWidth;
        tile[y][x] = in.at(firstRow + y - kRadius, firstCol + x - kRadius);
    }
    __syncthreads();

    const int col = firstCol + threadIdx.x, row = firstRow + threadIdx.y;
    if (row >= in.rows || col >= in.cols) return;
    float sum = 0;
#pragma unroll
    for (int y = 0; y < kSide; ++y) {
#pragma unroll
        for (int x = 0; x < kSide; ++x)
            sum += constantTaps[y * kSide + x] * tile[threadIdx.y + y][threadIdx.x + x];
    }
    out[in.placeOf(row, col)] = sum;
}

// The block is as large as tile and halo together: each thread loads one pixel, without a loop.
// Still wrong: the threads of the halo have nothing to do afterwards.
template <int kRadius>
__global__ void __launch_bounds__(kTileThreads) convTileWide(Image in, float* __restrict__ out) {
    constexpr int kSide = 2 * kRadius + 1, kInner = kTile - 2 * kRadius;
    __shared__ float tile[kTile][kTile];
    const int x0 = int(threadIdx.x) - kRadius, y0 = int(threadIdx.y) - kRadius;
    const int col = int(blockIdx.x) * kInner + x0, row = int(lab::blockY()) * kInner + y0;
    tile[threadIdx.y][threadIdx.x] = in.at(row, col);
    __syncthreads();

    const bool inner = x0 >= 0 && x0 < kInner && y0 >= 0 && y0 < kInner;
    if (!inner || row >= in.rows || col >= in.cols) return;
    float sum = 0;
#pragma unroll
    for (int y = 0; y < kSide; ++y) {
#pragma unroll
        for (int x = 0; x < kSide; ++x) sum += constantTaps[y * kSide + x] * tile[y0 + y][x0 + x];
    }
    out[in.placeOf(row, col)] = sum;
}

// As many threads as outputs, and one load for each: the halo is the tile of other blocks, which
// have brought it to a cache. Still wrong: nearly each tap of a warp takes both loads, since some
// of its lanes need the halo.
template <int kRadius>
__global__ void __launch_bounds__(kTileThreads) convTileCached(Image in, float* __restrict__ out) {
    constexpr int kSide = 2 * kRadius + 1;
    __shared__ float tile[kTile][kTile];
    const int col = blockIdx.x * kTile + threadIdx.x, row = lab::blockY() * kTile + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in.at(row, col);
    __syncthreads();

    if (row >= in.rows || col >= in.cols) return;
    float sum = 0;
    for (int y = -kRadius; y <= kRadius; ++y) {
        for (int x = -kRadius; x <= kRadius; ++x) {
            const unsigned tileRow = threadIdx.y + y,
                           tileCol = threadIdx.x + x;  // huge if negative
            const bool inTile = tileRow < kTile && tileCol < kTile;
            const float pixel = inTile ? tile[tileRow][tileCol] : in.at(row + y, col + x);
            sum += constantTaps[(y + kRadius) * kSide + x + kRadius] * pixel;
        }
    }
    out[in.placeOf(row, col)] = sum;
}

// A separable filter is a row times a column: 2 * (2 * kRadius + 1) multiplications in place of the
// square. Still wrong: the image between the passes is written to global memory and read again.
template <int kRadius>
__global__ void rowPass(Image in, float* __restrict__ out) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = lab::blockY() * blockDim.y + threadIdx.y;
    float sum = 0;
    if (row >= in.rows || col >= in.cols) return;

#pragma unroll
    for (int x = 0; x <= 2 * kRadius; ++x) sum += constantRow[x] * in.at(row, col + x - kRadius);
    out[in.placeOf(row, col)] = sum;
}
template <int kRadius>
__global__ void columnPass(Image in, float* __restrict__ out) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = lab::blockY() * blockDim.y + threadIdx.y;
    float sum = 0;
    if (row >= in.rows || col >= in.cols) return;

#pragma unroll
    for (int y = 0; y <= 2 * kRadius; ++y) sum += constantColumn[y] * in.at(row + y - kRadius, col);
    out[in.placeOf(row, col)] = sum;
}

// The image between the passes stays in shared memory, as far as the block needs it. Still wrong:
// each sum of 2 * kRadius + 1 products loads as many numbers from shared memory.
template <int kRadius>
__global__ void convSeparable(Image in, float* __restrict__ out) {
    constexpr int kWidth = kTile + 2 * kRadius;
    __shared__ float tile[kWidth][kWidth], afterRows[kWidth][kTile];
    const int firstCol = blockIdx.x * kTile, firstRow = lab::blockY() * kTile;
    for (int y = threadIdx.y; y < kWidth; y += kBlockRows) {
        for (int x = threadIdx.x; x < kWidth; x += kTile)
            tile[y][x] = in.at(firstRow + y - kRadius, firstCol + x - kRadius);
    }
    __syncthreads();

    for (int y = threadIdx.y; y < kWidth; y += kBlockRows) {
        float sum = 0;
#pragma unroll
        for (int x = 0; x <= 2 * kRadius; ++x) sum += constantRow[x] * tile[y][threadIdx.x + x];
        afterRows[y][threadIdx.x] = sum;
    }
    __syncthreads();

    const int col = firstCol + threadIdx.x;
    for (int j = threadIdx.y; j < kTile; j += kBlockRows) {
        float sum = 0;
#pragma unroll
        for (int y = 0; y <= 2 * kRadius; ++y)
            sum += constantColumn[y] * afterRows[j + y][threadIdx.x];
        if (firstRow + j < in.rows && col < in.cols) out[in.placeOf(firstRow + j, col)] = sum;
    }
}

// No shared memory and no barrier. A row of pixels comes in loads of 16 bytes, serves all outputs
// of the thread, and is forgotten. A block lies inside as a whole or not: a warp with some lanes at
// the border would execute both ways. Still wrong: the arithmetic grows with the square of the
// radius.
template <int kRadius>
__global__ void __launch_bounds__(kPatchThreads, kPatchBlocks)
    convRegisters(Image in, float* __restrict__ out) {
    const int blockRow = lab::blockY();
    const int col = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    const int row = kPatchRows * (blockRow * blockDim.y + threadIdx.y);
    if (row >= in.rows || col >= in.cols) return;
    const bool inside =
        isInside<kRadius>(in, kPatchRows * blockRow * blockDim.y, 4 * blockIdx.x * blockDim.x,
                          kPatchRows * blockDim.y, 4 * blockDim.x);
    if (!byFours<kRadius, kPatchRows>(in)) {
        oneByOne<kRadius, kPatchRows>(in, out, row, col);
    } else if (inside) {
        convolvePatch<kRadius, true>(in, out, row, col);
    } else {
        convolvePatch<kRadius, false>(in, out, row, col);
    }
}

// Filters each row of pixels along x as it comes, and adds the four results to all outputs that
// need them.
template <int kRadius>
__global__ void __launch_bounds__(kPatchThreads, kPatchBlocks)
    convSliding(Image in, float* __restrict__ out) {
    const int blockRow = lab::blockY();
    const int col = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    const int row = kSlidingRows * (blockRow * blockDim.y + threadIdx.y);
    if (row >= in.rows || col >= in.cols) return;
    const bool inside =
        isInside<kRadius>(in, kSlidingRows * blockRow * blockDim.y, 4 * blockIdx.x * blockDim.x,
                          kSlidingRows * blockDim.y, 4 * blockDim.x);
    if (!byFours<kRadius, kSlidingRows>(in)) {
        oneByOne<kRadius, kSlidingRows>(in, out, row, col);
    } else if (inside) {
        slideDown<kRadius, true>(in, out, row, col);
    } else {
        slideDown<kRadius, false>(in, out, row, col);
    }
}

// The grid of blocks that compute `width` x `height` outputs each.
dim3 gridOf(const Image& image, int width, int height) {
    return lab::gridFor(lab::blocksFor(image.cols, width), lab::blocksFor(image.rows, height), 1);
}

// All rungs, for one radius. The filter is in constant memory; `taps` has it once more.
template <int kRadius>
void climb(lab::Exercise& exercise, const Image& in, const float* taps,
           lab::DeviceBuffer<float>& target, const lab::Check& isConvolved,
           const lab::Check& isCopy) {
    float* const out = target.get();
    const lab::Work moved = lab::bytes(2.0 * target.bytes());  // each pixel is read and written
    const dim3 block(kTile, kBlockRows), grid = gridOf(in, kTile, kBlockRows);
    const dim3 tileBlock(kTile, kTile), tileGrid = gridOf(in, kTile, kTile);

    lab::Ladder ladder(exercise, target);
    ladder.rung("convGlobal", grid, block, moved, isConvolved,
                [&] { convGlobal<<<grid, block>>>(in, out, taps, kRadius); });
    ladder.rung("convConstant", grid, block, moved, isConvolved,
                [&] { convConstant<kRadius><<<grid, block>>>(in, out); });
    ladder.rung("convTile", tileGrid, tileBlock, moved, isConvolved,
                [&] { convTile<kRadius><<<tileGrid, tileBlock>>>(in, out); });
    const dim3 wideGrid = gridOf(in, kTile - 2 * kRadius, kTile - 2 * kRadius);
    ladder.rung("convTileWide", wideGrid, tileBlock, moved, isConvolved,
                [&] { convTileWide<kRadius><<<wideGrid, tileBlock>>>(in, out); });
    ladder.rung("convTileCached", tileGrid, tileBlock, moved, isConvolved,
                [&] { convTileCached<kRadius><<<tileGrid, tileBlock>>>(in, out); });

    lab::DeviceBuffer<float> between(target.size());
    const Image afterRows = {between.get(), in.rows, in.cols, in.border};
    ladder.rung("twoPasses", grid, block, moved, isConvolved, [&] {
        rowPass<kRadius><<<grid, block>>>(in, between.get());
        columnPass<kRadius><<<grid, block>>>(afterRows, out);
    });
    ladder.rung("convSeparable", tileGrid, block, moved, isConvolved,
                [&] { convSeparable<kRadius><<<tileGrid, block>>>(in, out); });
    const dim3 patchBlock(64, kPatchThreads / 64);
    const dim3 patchGrid = gridOf(in, 4 * patchBlock.x, kPatchRows * patchBlock.y);
    ladder.rung("convRegisters", patchGrid, patchBlock, moved, isConvolved,
                [&] { convRegisters<kRadius><<<patchGrid, patchBlock>>>(in, out); });
    const dim3 slidingBlock(32, kPatchThreads / 32);
    const dim3 slidingGrid = gridOf(in, 4 * slidingBlock.x, kSlidingRows * slidingBlock.y);
    ladder.rung("convSliding", slidingGrid, slidingBlock, moved, isConvolved,
                [&] { convSliding<kRadius><<<slidingGrid, slidingBlock>>>(in, out); });
    ladder.peer("cudaMemcpy", moved, isCopy, [&] {
        CUDA_CHECK(cudaMemcpyAsync(out, in.pixels, target.bytes(), cudaMemcpyDeviceToDevice));
    });
}

int main(int argc, char** argv) {
    int rows, cols, radius;
    std::string borderName = "clamp";
    Border border = Border::kClamp;
    lab::Exercise exercise("convolution", "Convolves an image with a small filter.");
    constexpr unsigned kMost = 1 << 24;
    exercise.option("rows", &rows, {8192, 160}, 1, kMost, "rows of the image");
    exercise.option("cols", &cols, {8192, 160}, 1, kMost, "columns of the image");
    exercise.option("radius", &radius, 2, 1, kMaxRadius,
                    "1, 2, 3, 4 or 7: the filter has 2 * radius + 1 rows");
    exercise.options().text("border", &borderName, "HOW", kBorders,
                            std::string("what lies outside of the image: ") + kBorders);
    exercise.parse(argc, argv);
    if (radius > 4 && radius < kMaxRadius)
        exercise.reject("radius", std::to_string(radius), "1, 2, 3, 4 or 7");
    if (!parseBorder(borderName, &border)) exercise.reject("border", borderName, kBorders);
    exercise.requireElements(rows, cols);
    const std::size_t count = std::size_t(rows) * cols;

    // A float holds all sums exactly (filter.h), so the tolerance is zero.
    const Filter filter = randomFilter(radius, exercise.seed());
    std::vector<float> pixels = lab::hostVector<float>(count);
    lab::parallelFor(count, 1 << 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            pixels[i] = static_cast<float>(lab::randomInt(exercise.seed(), i, 0, 255));
    });
    const std::vector<float> expected = convolved({pixels.data(), rows, cols, border}, filter);

    const lab::DeviceBuffer<float> source(pixels), taps(filter.taps());
    CUDA_CHECK(cudaMemcpyToSymbol(constantTaps, filter.taps().data(), taps.bytes()));
    const std::size_t side = filter.row.size() * sizeof(float);
    CUDA_CHECK(cudaMemcpyToSymbol(constantRow, filter.row.data(), side));
    CUDA_CHECK(cudaMemcpyToSymbol(constantColumn, filter.column.data(), side));
    lab::DeviceBuffer<float> target(count);
    const Image in = {source.get(), rows, cols, border};
    exercise.title("%s x %s pixels (%s), filter %zu x %zu, border %s",
                   lab::withCommas(rows).c_str(), lab::withCommas(cols).c_str(),
                   lab::inBytes(source.bytes()).c_str(), filter.row.size(), filter.row.size(),
                   borderName.c_str());

    const auto isConvolved = [&] {
        return lab::inMatrix(lab::mismatch(target, expected, 0), cols);
    };
    const auto isCopy = [&] { return lab::inMatrix(lab::mismatch(target, pixels, 0), cols); };
    const auto climbed = radius == 1   ? climb<1>
                         : radius == 2 ? climb<2>
                         : radius == 3 ? climb<3>
                         : radius == 4 ? climb<4>
                                       : climb<kMaxRadius>;
    climbed(exercise, in, taps.get(), target, isConvolved, isCopy);
    return exercise.finish();
}
