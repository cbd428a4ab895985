// Adds two matrices, element by element: C = A + B. There is next to nothing to compute, so memory
// decides the time. The shape of a block decides how well a kernel uses memory: whether a warp uses
// all bytes of the sectors that it touches, and how many loads are in flight.
//
//   1 sumMatrix1D        a thread for each column walks down the rows: far too few threads
//   2 sumMatrixMix       a 2D grid of 1D blocks has a thread for each element
//   3 sumMatrix2D        a 2D grid has 2D blocks, in all shapes from 32 to 1024 threads
//   4 sumMatrixFloat4    a thread loads 16 bytes at a time, and the matrix is one long array
//     sumMatrixFloat4x2  a thread makes two such loads of each input
//     sumMatrixFloat4x4  a thread makes four such loads of each input
//     cudaMemcpy         copies a matrix: the rate (GB/s) shows what memory gives
//
// Speedups of kernels 1 and 2 are relative to the first row. Speedups of kernels 3 and 4 are
// relative to the textbook's block of 32 x 32 threads. cudaMemcpy moves two matrices and a sum
// moves three, so compare GB/s, not times.
//
//   ./lab run sumMatrix
//   ./lab run sumMatrix -- --block=32x8
//   ./lab test sumMatrix
//   ./lab profile sumMatrix -- --block=32x8
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target sumMatrix
//   build/ch03_execution_model/sumMatrix --block=32x8
//   ncu build/ch03_execution_model/sumMatrix --profile --block=32x8
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch03_execution_model/sumMatrix/sumMatrix.cu
//       common/*.cpp common/*.cu -o build/sumMatrix

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "../parseBlock.h"
#include "lab.cuh"

// All kernels work on rows x cols elements, stored row by row (row-major). __restrict__ promises
// that the matrices do not overlap, so that a thread may begin its next loads before it has stored.

// Consecutive threads take consecutive columns, so every load of a warp is 128 bytes in one piece:
// one line, if rows begin where lines do. Still wrong: a matrix has far more elements than columns.
// Most of the GPU has no thread, and the loads of a few threads do not keep the memory busy.
__global__ void sumMatrix1D(const float* __restrict__ a, const float* __restrict__ b,
                            float* __restrict__ c, std::size_t rows, std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t i = row * cols + col;
        c[i] = a[i] + b[i];
    }
}

// There is a row of blocks for each row of the matrix, and a thread for each element, so all of the
// GPU works. Still wrong: if the matrix is narrower than a block, most threads of a block have no
// element.
__global__ void sumMatrixMix(const float* __restrict__ a, const float* __restrict__ b,
                             float* __restrict__ c, std::size_t rows, std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t row = lab::blockY();
    if (row >= rows || col >= cols) return;
    const std::size_t i = row * cols + col;
    c[i] = a[i] + b[i];
}

// A block covers a tile. The GPU puts threads into warps along x first. If block.x is a multiple of
// 32, a warp lies in one row. If it is 8, a warp has a piece of 8 floats in each of four rows. A
// piece of 8 floats fills a sector of 32 bytes, the smallest piece that moves. A narrower piece
// wastes the rest of its sector. (If rows do not begin where sectors do, a piece may touch one more
// sector.) Still wrong: a thread asks for 4 bytes of each input and then only waits.
__global__ void sumMatrix2D(const float* __restrict__ a, const float* __restrict__ b,
                            float* __restrict__ c, std::size_t rows, std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t row = lab::blockY() * blockDim.y + threadIdx.y;
    if (row >= rows || col >= cols) return;
    const std::size_t i = row * cols + col;
    c[i] = a[i] + b[i];
}

__device__ float4 sum(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// A load of 16 bytes must begin at a multiple of 16. Rows do not, unless their length is a multiple
// of four. But a sum need not know where rows begin. The matrix is one array of `count` elements,
// which cudaMalloc() has aligned. A thread takes kLoads float4 of each input, blockDim.x apart, and
// none of these loads waits for another. (With four loads, the compiler delays some of them: it
// keeps to 32 registers for each thread, so that an SM can still hold 2048 threads.)
template <unsigned kLoads>
__global__ void sumMatrixFloat4(const float* __restrict__ a, const float* __restrict__ b,
                                float* __restrict__ c, std::size_t count) {
    const auto a4 = reinterpret_cast<const float4*>(a), b4 = reinterpret_cast<const float4*>(b);
    const auto c4 = reinterpret_cast<float4*>(c);
    const std::size_t count4 = count / 4;
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * kLoads + threadIdx.x;

    if (first + (kLoads - 1) * blockDim.x < count4) {
        float4 fromA[kLoads], fromB[kLoads];
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) {
            fromA[k] = a4[first + k * blockDim.x];
            fromB[k] = b4[first + k * blockDim.x];
        }
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) c4[first + k * blockDim.x] = sum(fromA[k], fromB[k]);
    } else {  // the end of the array
        for (std::size_t i = first; i < count4; i += blockDim.x) c4[i] = sum(a4[i], b4[i]);
    }
    if (first == 0) {  // up to three elements that do not fill a float4
        for (std::size_t i = 4 * count4; i < count; ++i) c[i] = a[i] + b[i];
    }
}

// Returns all shapes of powers of two with 32 to 1024 threads. The textbook's shape is the first.
std::vector<dim3> allShapes() {
    std::vector<dim3> shapes = {dim3(32, 32)};
    for (unsigned threads = lab::kMaxBlock; threads >= 32; threads /= 2) {
        for (unsigned x = threads; x > 0; x /= 2) {
            const dim3 shape(x, threads / x);
            if (shape.x != 32 || shape.y != 32) shapes.push_back(shape);
        }
    }
    return shapes;
}

int main(int argc, char** argv) {
    const char* const kShape = "a shape such as 32x8 or 256, of 1 to 1024 threads";
    std::size_t rows, cols;
    std::string onlyBlock;
    lab::Exercise exercise("sumMatrix", "Adds two matrices with blocks of many shapes.");
    exercise.option("rows", &rows, {4096, 256}, 1, lab::kMaxSize, "rows of the matrices");
    exercise.option("cols", &cols, {4096, 256}, 1, lab::kMaxSize, "columns of the matrices");
    exercise.options().text("block", &onlyBlock, "XxY", kShape, "only blocks of this shape");
    exercise.parseOptions(argc, argv);
    exercise.requireElements(rows, cols);
    std::vector<dim3> shapes = allShapes();
    if (!onlyBlock.empty()) {
        const std::optional<dim3> shape = parseBlock(onlyBlock, 2);
        if (!shape) exercise.reject("block", onlyBlock, kShape);
        shapes = {*shape};
    }
    std::vector<unsigned> rowShapes;  // kernels with 1D blocks take shapes one thread high
    for (const dim3 shape : shapes) {
        if (shape.y == 1) rowShapes.push_back(shape.x);
    }
    exercise.selectDevice();

    const std::size_t count = rows * cols;
    const std::uint64_t seed = exercise.seed();
    const auto aOf = [=](std::size_t i) { return lab::randomFloat(seed, i, -1, 1); };
    const auto bOf = [=](std::size_t i) { return lab::randomFloat(seed + 1, i, -1, 1); };
    const auto bufferA = lab::filled<float>(count, aOf), bufferB = lab::filled<float>(count, bOf);
    lab::DeviceBuffer<float> bufferC(count);
    const float *const a = bufferA.get(), *const b = bufferB.get();
    float* const c = bufferC.get();

    exercise.title("%s x %s floats (3 times %s)", lab::withCommas(rows).c_str(),
                   lab::withCommas(cols).c_str(), lab::inBytes(bufferC.bytes()).c_str());

    const lab::Work moved = lab::bytes(3.0 * bufferC.bytes());  // a sum reads two and writes one
    // This is the CPU reference. The comparison below is exact, because CPU and GPU round an
    // addition the same way.
    std::vector<float> sums = lab::hostVector<float>(count);
    lab::parallelFor(count, 1 << 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) sums[i] = aOf(i) + bOf(i);
    });
    const auto isTheSum = [&] { return lab::inMatrix(lab::mismatch(bufferC, sums, 0), cols); };

    lab::Ladder naive(exercise, bufferC);
    for (const unsigned block : rowShapes) {
        const unsigned grid = lab::blocksFor(cols, block);
        naive.rung("sumMatrix1D", grid, block, moved, isTheSum,
                   [&] { sumMatrix1D<<<grid, block>>>(a, b, c, rows, cols); });
    }
    for (const unsigned block : rowShapes) {
        const dim3 grid = lab::gridFor(lab::blocksFor(cols, block), rows, 1);
        naive.rung("sumMatrixMix", grid, block, moved, isTheSum,
                   [&] { sumMatrixMix<<<grid, block>>>(a, b, c, rows, cols); });
    }

    lab::Ladder textbook(exercise, bufferC);  // its block of 32 x 32 is the baseline
    for (const dim3 block : shapes) {
        const dim3 grid =
            lab::gridFor(lab::blocksFor(cols, block.x), lab::blocksFor(rows, block.y), 1);
        textbook.rung("sumMatrix2D", grid, block, moved, isTheSum,
                      [&] { sumMatrix2D<<<grid, block>>>(a, b, c, rows, cols); });
    }
    for (const unsigned block : rowShapes) {
        const unsigned grid = lab::blocksFor(count, std::size_t{4} * block);
        textbook.rung("sumMatrixFloat4", grid, block, moved, isTheSum,
                      [&] { sumMatrixFloat4<1><<<grid, block>>>(a, b, c, count); });
    }
    for (const unsigned block : rowShapes) {
        const unsigned grid = lab::blocksFor(count, std::size_t{8} * block);
        textbook.rung("sumMatrixFloat4x2", grid, block, moved, isTheSum,
                      [&] { sumMatrixFloat4<2><<<grid, block>>>(a, b, c, count); });
    }
    for (const unsigned block : rowShapes) {
        const unsigned grid = lab::blocksFor(count, std::size_t{16} * block);
        textbook.rung("sumMatrixFloat4x4", grid, block, moved, isTheSum,
                      [&] { sumMatrixFloat4<4><<<grid, block>>>(a, b, c, count); });
    }

    lab::Ladder copies(exercise, bufferC);  // a copy is other work, so it has no speedup
    copies.peer(
        "cudaMemcpy", lab::bytes(2.0 * bufferC.bytes()),
        [&] { return lab::inMatrix(lab::mismatchOf(bufferC, aOf), cols); },
        [&] { CUDA_CHECK(cudaMemcpyAsync(c, a, bufferC.bytes(), cudaMemcpyDeviceToDevice)); });
    textbook.announceFastest();
    return exercise.finish();
}
