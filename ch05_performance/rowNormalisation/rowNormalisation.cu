// Brings each row of a matrix to mean 0 and variance 1: out = (x - mean) / sqrt(variance +
// epsilon). Each row is needed three times: for its mean, for its variance, and for the result. How
// many bytes the memory moves depends on where the row stays in between.
//
//   1 threePasses  three kernels, each of which reads the matrix
//   2 twoPasses    mean and variance from one read
//   3 oneKernel    a block reads its row twice: the second time, the row comes from a cache
//   4 sharedRow    a block keeps its row in shared memory
//   5 registerRow  a row stays in registers, 4 to 32 floats in each thread: a warp for a short row,
//                  a block for a long one
//   6 prefetchRow  also fetches the row of a later block into the L2 cache
//     cudaMemcpy   a copy of the matrix: no kernel that reads and writes it can move fewer bytes
//
//   bytes      bytes that memory must move for each element, if a cache keeps the row for its block
//   predicted  time that these bytes take at the memory's peak
//   GB/s       rate of these bytes
//   error      largest difference from the result that the CPU computes in double
//
//   ./lab run rowNormalisation -- --rows=256K --cols=1K
//   ./lab test rowNormalisation
//   ./lab profile rowNormalisation
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target rowNormalisation
//   build/ch05_performance/rowNormalisation --rows=256K --cols=1K
//   ncu build/ch05_performance/rowNormalisation --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch05_performance/rowNormalisation/rowNormalisation.cu
//       common/*.cpp common/*.cu -o build/rowNormalisation

#include <algorithm>
#include <cstddef>
#include <vector>

#include "../allowShared.cuh"
#include "fetchIntoL2.cuh"
#include "lab.cuh"
#include "rowReference.h"

constexpr unsigned kBlock = 256;
constexpr unsigned kAhead = 4;           // loads that a thread starts before it uses the first one
constexpr unsigned kLeastThreads = 128;  // in a block of rungs 5 and 6: short rows share a block
constexpr unsigned kMostThreads = 1024;  // in a block
constexpr unsigned kLine = 128;          // bytes of a cache line
constexpr unsigned kFetched = 12 << 10;  // bytes that each SM fetches into L2 in advance
constexpr float kEpsilon = 1e-5f;        // so that a row of equal elements divides nothing by zero

// Adds up one value of each thread of a row, and returns the sum to all of them. A row has
// blockDim.x threads, which are whole warps, and a block has blockDim.y rows. Each warp adds up its
// values with a butterfly. Then the sums of the warps go through `ofWarps`. Other threads may still
// read the array of an earlier call, so each call has an array of its own.
__device__ float sumOfRow(float value, float* ofWarps) {
    for (unsigned by = 16; by > 0; by /= 2) value += __shfl_xor_sync(lab::kAllLanes, value, by);
    if (blockDim.x == 32) return value;

    const unsigned lane = threadIdx.x % 32, warpsOfRow = blockDim.x / 32;
    float* const ofRow = ofWarps + threadIdx.y * warpsOfRow;
    if (lane == 0) ofRow[threadIdx.x / 32] = value;
    __syncthreads();
    value = lane < warpsOfRow ? ofRow[lane] : 0;
    for (unsigned by = 16; by > 0; by /= 2) value += __shfl_xor_sync(lab::kAllLanes, value, by);
    return value;
}

// Kernels 1 to 4 have a block for each row. A thread takes every kBlock-th element of the row.

__global__ void rowMeans(const float* in, float* means, unsigned cols) {
    __shared__ float ofWarps[32];
    const float* const row = in + std::size_t{blockIdx.x} * cols;
    float sum = 0;
    for (unsigned c = threadIdx.x; c < cols; c += kBlock) sum += row[c];
    sum = sumOfRow(sum, ofWarps);
    if (threadIdx.x == 0) means[blockIdx.x] = sum / cols;
}

// The variance is the mean of the squared distances from the mean.
__global__ void rowFactors(const float* in, const float* means, float* factors, unsigned cols) {
    __shared__ float ofWarps[32];
    const float* const row = in + std::size_t{blockIdx.x} * cols;
    const float mean = means[blockIdx.x];
    float squares = 0;
    for (unsigned c = threadIdx.x; c < cols; c += kBlock) {
        const float distance = row[c] - mean;
        squares += distance * distance;
    }
    squares = sumOfRow(squares, ofWarps);
    if (threadIdx.x == 0) factors[blockIdx.x] = rsqrtf(squares / cols + kEpsilon);
}

// Computes the result. All loads of an iteration come before its first store: the compiler does not
// know that `out` and `in` do not overlap, so it moves no load ahead of a store.
__device__ void normaliseRow(const float* in, float* out, unsigned cols, float mean, float factor) {
    for (unsigned first = threadIdx.x; first < cols; first += kAhead * kBlock) {
        float values[kAhead];
#pragma unroll
        for (unsigned k = 0; k < kAhead; ++k) {
            const unsigned c = first + k * kBlock;
            if (c < cols) values[k] = in[c];
        }
#pragma unroll
        for (unsigned k = 0; k < kAhead; ++k) {
            const unsigned c = first + k * kBlock;
            if (c < cols) out[c] = (values[k] - mean) * factor;
        }
    }
}

// Still wrong: this is the third kernel that reads the whole matrix.
__global__ void normalise(const float* in, const float* means, const float* factors, float* out,
                          unsigned cols) {
    const std::size_t first = std::size_t{blockIdx.x} * cols;
    normaliseRow(in + first, out + first, cols, means[blockIdx.x], factors[blockIdx.x]);
}

struct Moments {
    float mean, factor;  // factor: 1 / sqrt(variance + epsilon)
};

// Computes mean and variance from one read of the row. The textbook's formula, the mean of the
// squares minus the square of the mean, is a small difference of large numbers if the mean is
// large. So each thread keeps the mean of its elements and the sum of their squared distances from
// this mean, and updates both with each element (Welford). Then the block combines the means of its
// threads. The sum of a thread's squares grows by the squared distance between its mean and the
// mean of the row, once for each of its elements (Chan, Golub and LeVeque).
__device__ Moments momentsOfRow(const float* row, unsigned cols, float (*ofWarps)[32]) {
    float count = 0, mean = 0, squares = 0;
    for (unsigned first = threadIdx.x; first < cols; first += kAhead * kBlock) {
        float values[kAhead];
#pragma unroll
        for (unsigned k = 0; k < kAhead; ++k) {
            const unsigned c = first + k * kBlock;
            if (c < cols) values[k] = row[c];
        }
#pragma unroll
        for (unsigned k = 0; k < kAhead; ++k) {
            if (first + k * kBlock >= cols) break;
            const float distance = values[k] - mean;
            mean += __fdividef(distance, ++count);  // two instructions; an error of up to 2 ulp
            squares += distance * (values[k] - mean);
        }
    }
    const float ofAll = sumOfRow(count * mean, ofWarps[0]) / cols;
    squares += count * (mean - ofAll) * (mean - ofAll);
    return {ofAll, rsqrtf(sumOfRow(squares, ofWarps[1]) / cols + kEpsilon)};
}

__global__ void rowMoments(const float* in, float* means, float* factors, unsigned cols) {
    __shared__ float ofWarps[2][32];
    const Moments row = momentsOfRow(in + std::size_t{blockIdx.x} * cols, cols, ofWarps);
    if (threadIdx.x == 0) means[blockIdx.x] = row.mean, factors[blockIdx.x] = row.factor;
}

// The block that has read a row reads it again at once. The row is still in the L2 cache, or even
// in L1, unless rows are very long. Still wrong: nothing promises that the cache has kept the row.
__global__ void oneKernel(const float* in, float* out, unsigned cols) {
    __shared__ float ofWarps[2][32];
    const std::size_t first = std::size_t{blockIdx.x} * cols;
    const Moments row = momentsOfRow(in + first, cols, ofWarps);
    normaliseRow(in + first, out + first, cols, row.mean, row.factor);
}

// The row stays in shared memory, where no other block has access. The row itself needs no barrier,
// because each thread reads only what it has stored itself. Still wrong: a thread has few loads of
// 4 bytes in flight, and a short row leaves most of the block idle.
__global__ void sharedRow(const float* in, float* out, unsigned cols) {
    extern __shared__ float row[];
    __shared__ float ofWarps[2][32];
    const std::size_t first = std::size_t{blockIdx.x} * cols;
    float sum = 0, squares = 0;
    for (unsigned c = threadIdx.x; c < cols; c += kBlock) {
        const float x = in[first + c];
        row[c] = x;
        sum += x;
    }
    const float mean = sumOfRow(sum, ofWarps[0]) / cols;
    for (unsigned c = threadIdx.x; c < cols; c += kBlock) {
        const float distance = row[c] - mean;
        squares += distance * distance;
    }
    const float factor = rsqrtf(sumOfRow(squares, ofWarps[1]) / cols + kEpsilon);
    for (unsigned c = threadIdx.x; c < cols; c += kBlock) out[first + c] = (row[c] - mean) * factor;
}

// The row stays in the registers of its threads, kPerThread floats in each. All loads of a thread,
// of 16 bytes each, are in flight before it uses the first one. If cols is not a multiple of 4, a
// row may begin at any address. Then up to 3 floats lie before the first whole piece of 16 bytes,
// and up to 3 behind the last one. Each of the first threads takes one of these floats.
template <unsigned kPerThread>
__device__ void normaliseInRegisters(const float* in, float* out, std::size_t rows, unsigned cols) {
    __shared__ float ofWarps[2][32];
    struct alignas(16) Piece {
        float at[4];
    };
    constexpr unsigned kPieces = kPerThread / 4;
    const std::size_t row = std::size_t{blockIdx.x} * blockDim.y + threadIdx.y;
    const std::size_t first = row * cols;
    const unsigned length = row < rows ? cols : 0;  // 0 below the last row
    const unsigned head = min(static_cast<unsigned>(-first % 4), length);
    const unsigned whole = (length - head) / 4, tail = (length - head) % 4;
    const bool hasEdge = threadIdx.x < head + tail;
    const std::size_t edge = first + threadIdx.x + (threadIdx.x < head ? 0 : 4 * whole);
    const Piece* const from = reinterpret_cast<const Piece*>(in + first + head) + threadIdx.x;
    Piece* const to = reinterpret_cast<Piece*>(out + first + head) + threadIdx.x;
    const auto isInRow = [&](unsigned k) { return threadIdx.x + k * blockDim.x < whole; };

    Piece pieces[kPieces] = {};
#pragma unroll  // every index becomes a constant, so that the array can live in registers
    for (unsigned k = 0; k < kPieces; ++k) {
        if (isInRow(k)) pieces[k] = from[k * blockDim.x];
    }
    float atEdge = hasEdge ? in[edge] : 0;
    float sum = atEdge;
#pragma unroll
    for (const Piece& piece : pieces) {
        for (float x : piece.at) sum += x;
    }
    const float mean = sumOfRow(sum, ofWarps[0]) / cols;
    atEdge -= mean;
    float squares = hasEdge ? atEdge * atEdge : 0;
#pragma unroll
    for (unsigned k = 0; k < kPieces; ++k) {
        for (float& x : pieces[k].at) {
            x -= mean;
            if (isInRow(k)) squares += x * x;
        }
    }
    const float factor = rsqrtf(sumOfRow(squares, ofWarps[1]) / cols + kEpsilon);
#pragma unroll
    for (unsigned k = 0; k < kPieces; ++k) {
        for (float& x : pieces[k].at) x *= factor;
        if (isInRow(k)) to[k * blockDim.x] = pieces[k];
    }
    if (hasEdge) out[edge] = atEdge * factor;
}

// Still wrong: while a block computes and waits at its barriers, it has no loads in flight.
template <unsigned kPerThread>
__global__ void __launch_bounds__(kMostThreads)
    registerRow(const float* in, float* out, std::size_t rows, unsigned cols) {
    normaliseInRegisters<kPerThread>(in, out, rows, cols);
}

// Each block first fetches the row that lies `ahead` rows below its own into the L2 cache. An
// earlier block has fetched its own row, so the row is there or on its way.
template <unsigned kPerThread>
__global__ void __launch_bounds__(kMostThreads)
    prefetchRow(const float* in, float* out, std::size_t rows, unsigned cols, std::size_t ahead) {
    const std::size_t row = std::size_t{blockIdx.x} * blockDim.y + threadIdx.y + ahead;
    const unsigned line = threadIdx.x * (kLine / sizeof(float));
    if (row < rows && line < cols) fetchIntoL2(in + row * cols + line);
    normaliseInRegisters<kPerThread>(in, out, rows, cols);
}

// With few floats in each thread, a row has many warps, and they wait longer for each other. With
// many floats, fewer warps fit on an SM. This takes the fewest floats that 256 threads can hold.
unsigned floatsPerThread(unsigned cols) {
    return cols <= 4 * 32 ? 4 : cols <= 8 * kBlock ? 8 : cols <= 16 * kBlock ? 16 : 32;
}

auto registerRowFor(unsigned perThread) {
    return perThread == 4    ? registerRow<4>
           : perThread == 8  ? registerRow<8>
           : perThread == 16 ? registerRow<16>
                             : registerRow<32>;
}

auto prefetchRowFor(unsigned perThread) {
    return perThread == 4    ? prefetchRow<4>
           : perThread == 8  ? prefetchRow<8>
           : perThread == 16 ? prefetchRow<16>
                             : prefetchRow<32>;
}

int main(int argc, char** argv) {
    std::size_t rows;
    unsigned cols, mean;
    lab::Exercise exercise("rowNormalisation",
                           "Brings each row of a matrix to mean 0, variance 1.");
    exercise.option("rows", &rows, {1 << 14, 64}, 1, lab::kMaxSize, "rows");
    exercise.option("cols", &cols, {1 << 12, 500}, 1, 1u << 31, "columns");
    exercise.option("mean", &mean, 0, 0, 1 << 14,
                    "mean of the elements, which differ from it by up to 1");
    exercise.parse(argc, argv);
    exercise.requireElements(rows, cols);
    exercise.columns(lab::Columns::kLadder,
                     {{"bytes", 5, "bytes", lab::OwnColumn::kPredicted},
                      {"predicted", 9, "predicted_ms", lab::OwnColumn::kOnGpu},
                      {"error", 7, "error"}},
                     {"percent_peak"});

    const std::size_t count = rows * cols;
    const float center = static_cast<float>(mean);
    const std::vector<float> input =
        lab::randomFloats(count, exercise.seed(), center - 1, center + 1);
    const lab::DeviceBuffer<float> source(input);
    lab::DeviceBuffer<float> target(count), bufferMeans(rows), bufferFactors(rows);
    const float* const in = source.get();
    float *const out = target.get(), *const means = bufferMeans.get(),
                 *const factors = bufferFactors.get();
    exercise.title("%s x %s floats (%s)", lab::withCommas(rows).c_str(),
                   lab::withCommas(cols).c_str(), lab::inBytes(source.bytes()).c_str());

    const unsigned inPieces = cols / 4 * 4;  // the most floats of a row in whole pieces
    const unsigned perThread = floatsPerThread(inPieces);
    // Additions in a thread, in its warp, and between warps.
    const unsigned additions = std::max(perThread + 1, lab::blocksFor(cols, kBlock)) + 5 + 5;
    const RowReference reference(input, cols, kEpsilon, additions);
    const auto cells = [&](unsigned bytes, double error) -> std::vector<lab::Cell> {
        const double peak = exercise.device().peakBandwidth;
        return {bytes, peak > 0 ? lab::Cell(1e3 * bytes * count / peak, 4) : lab::Cell(),
                lab::formatted("%.1e", error)};
    };
    // Poison also replaces the means and factors that the rungs before have left.
    lab::Ladder ladder(exercise, target, [&] {
        bufferMeans.fillBytes(lab::poisonByte<float>());
        bufferFactors.fillBytes(lab::poisonByte<float>());
    });
    struct BytesEach {
        unsigned count;  // for each element
    };
    const auto rung = [&](const char* name, dim3 grid, dim3 block, BytesEach bytes,
                          const lab::Launch& launch) {
        const auto check = [&, bytes]() -> lab::Finding {
            RowReference::Comparison found;
            lab::forEachPiece(target, count,
                              [&](const float* values, std::size_t first, std::size_t n) {
                                  reference.compare(values, first, n, &found);
                                  return true;
                              });
            return {found.wrong, cells(bytes.count, found.error)};
        };
        ladder.rung(name, grid, block, lab::bytes(1.0 * bytes.count * count), check, launch);
    };

    const unsigned grid = lab::blocksFor(rows, 1);
    rung("threePasses", grid, kBlock, BytesEach{16}, [&] {
        rowMeans<<<grid, kBlock>>>(in, means, cols);
        rowFactors<<<grid, kBlock>>>(in, means, factors, cols);
        normalise<<<grid, kBlock>>>(in, means, factors, out, cols);
    });
    rung("twoPasses", grid, kBlock, BytesEach{12}, [&] {
        rowMoments<<<grid, kBlock>>>(in, means, factors, cols);
        normalise<<<grid, kBlock>>>(in, means, factors, out, cols);
    });
    rung("oneKernel", grid, kBlock, BytesEach{8},
         [&] { oneKernel<<<grid, kBlock>>>(in, out, cols); });

    // If a row is too long for the next three kernels, only oneKernel can normalise it.
    const std::size_t shared = cols * sizeof(float);
    if (allowShared(sharedRow, shared)) {
        rung("sharedRow", grid, kBlock, BytesEach{8},
             [&] { sharedRow<<<grid, kBlock, shared>>>(in, out, cols); });
    } else {
        exercise.note("sharedRow: a row does not fit into the shared memory of a block");
    }
    if (inPieces <= perThread * kMostThreads) {
        unsigned threads = 32;
        while (threads * perThread < inPieces) threads *= 2;
        const dim3 block(threads, std::max(kLeastThreads / threads, 1u));
        const unsigned blocks = lab::blocksFor(rows, block.y);
        rung("registerRow", blocks, block, BytesEach{8}, [&] {
            const auto kernel = registerRowFor(perThread);
            kernel<<<blocks, block>>>(in, out, rows, cols);
        });

        const std::size_t fetched = std::size_t{kFetched} * exercise.device().multiprocessors;
        const std::size_t ahead = std::max<std::size_t>(fetched / (cols * sizeof(float)), 1);
        rung("prefetchRow", blocks, block, BytesEach{8}, [&] {
            const auto kernel = prefetchRowFor(perThread);
            kernel<<<blocks, block>>>(in, out, rows, cols, ahead);
        });
    } else {
        exercise.note("registerRow, prefetchRow: a row does not fit into the registers of a block");
    }

    const auto isCopy = [&]() -> lab::Finding {
        return {lab::mismatch(target, input, 0), cells(8, 0)};
    };
    ladder.peer("cudaMemcpy", lab::bytes(8.0 * count), isCopy, [&] {
        CUDA_CHECK(cudaMemcpyAsync(out, in, source.bytes(), cudaMemcpyDeviceToDevice));
    });
    return exercise.finish();
}
