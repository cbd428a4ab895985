// Brings each row of a matrix to mean 0 and variance 1: out = (x - mean) / sqrt(variance +
// epsilon). A row is needed three times: for its mean, for its variance, and for the result. What
// the memory has to do depends on where the row stays in between.
//
//   1 threePasses  three kernels: each reads the matrix
//   2 twoPasses    mean and variance from one reading
//   3 oneKernel    a block reads its row twice: the second time, it comes from a cache
//   4 sharedRow    a block keeps its row in shared memory
//   5 registerRow  in registers, 8 to 32 floats to a thread: from a warp to a block for each row
//     cudaMemcpy   a copy of the matrix: nothing that reads and writes it moves less
//
//   bytes      that memory must move for each element, if a cache keeps a row for a block
//   predicted  the time that these bytes take at the memory's peak
//   GB/s       of these bytes
//   error      the largest difference from what the CPU computes in double
//
//   ./lab run rowNormalisation -- --rows=64K --cols=1K
//   ./lab test rowNormalisation
//   ./lab profile rowNormalisation
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target rowNormalisation
//   build/ch05_performance/rowNormalisation --rows=64K --cols=1K
//   ctest --test-dir build -L '^rowNormalisation$'
//   ncu build/ch05_performance/rowNormalisation --profile

#include <algorithm>
#include <cstddef>
#include <vector>

#include "allowShared.cuh"
#include "lab.cuh"
#include "rowReference.h"

constexpr unsigned kBlock = 256;
constexpr unsigned kAhead = 4;           // loads that a thread starts before it needs the first one
constexpr unsigned kLeastThreads = 128;  // of a block of registerRow: short rows share one
constexpr unsigned kMostThreads = 1024;  // of a block
constexpr float kEpsilon = 1e-5f;        // so that a row of equal elements divides nothing by zero

// The sum over all threads of a row, in each of them. A row has blockDim.x threads, whole warps; a
// block has blockDim.y rows. First the warps, by a butterfly; then their sums, through `ofWarps`: a
// call must not find there what others still read, so each has an array of its own.
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

// Kernels 1 to 4 have a block for each row, of which a thread takes every kBlock-th element.

__global__ void rowMeans(const float* in, float* means, unsigned cols) {
    __shared__ float ofWarps[32];
    const float* const row = in + std::size_t{blockIdx.x} * cols;
    float sum = 0;
    for (unsigned c = threadIdx.x; c < cols; c += kBlock) sum += row[c];
    sum = sumOfRow(sum, ofWarps);
    if (threadIdx.x == 0) means[blockIdx.x] = sum / cols;
}

// Squares of what is left when the mean is gone.
__global__ void rowFactors(const float* in, const float* means, float* factors, unsigned cols) {
    __shared__ float ofWarps[32];
    const float* const row = in + std::size_t{blockIdx.x} * cols;
    const float mean = means[blockIdx.x];
    float squares = 0;
    for (unsigned c = threadIdx.x; c < cols; c += kBlock)
        squares += (row[c] - mean) * (row[c] - mean);
    squares = sumOfRow(squares, ofWarps);
    if (threadIdx.x == 0) factors[blockIdx.x] = rsqrtf(squares / cols + kEpsilon);
}

// The result. All loads of a turn come first: the compiler does not know that `out` is elsewhere,
// and moves no load ahead of a store.
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

// Still wrong: it is the third kernel that reads the whole matrix.
__global__ void normalise(const float* in, const float* means, const float* factors, float* out,
                          unsigned cols) {
    const std::size_t first = std::size_t{blockIdx.x} * cols;
    normaliseRow(in + first, out + first, cols, means[blockIdx.x], factors[blockIdx.x]);
}

struct Moments {
    float mean, factor;  // factor: 1 / sqrt(variance + epsilon)
};

// Mean and variance from one reading. The textbook's formula for that, the mean of the squares less
// the square of the mean, is a small difference of large numbers where the mean is large. So each
// thread updates the mean of its elements and the sum of their squared distances from it with every
// element (Welford). Then the mean of all is that of the threads' means, and what a thread's mean
// is off from it, all of its elements are.
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
            mean += __fdividef(distance, ++count);  // two instructions; off by up to two last bits
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

// The block that has read a row reads it again at once: it is still in the L2 cache, or even in L1,
// unless rows are very long. For these, it takes no more memory than for short ones. Still wrong:
// nothing promises that the cache has kept the row.
__global__ void oneKernel(const float* in, float* out, unsigned cols) {
    __shared__ float ofWarps[2][32];
    const std::size_t first = std::size_t{blockIdx.x} * cols;
    const Moments row = momentsOfRow(in + first, cols, ofWarps);
    normaliseRow(in + first, out + first, cols, row.mean, row.factor);
}

// The row stays where nobody else has access. No barrier is needed for it: each thread reads what
// it has stored itself. Still wrong: a thread has few loads in flight, of 4 bytes, and short rows
// leave most of a block idle.
__global__ void sharedRow(const float* in, float* out, unsigned cols) {
    extern __shared__ float row[];
    __shared__ float ofWarps[2][32];
    const std::size_t first = std::size_t{blockIdx.x} * cols;
    float sum = 0, squares = 0;
    for (unsigned c = threadIdx.x; c < cols; c += kBlock) sum += row[c] = in[first + c];
    const float mean = sumOfRow(sum, ofWarps[0]) / cols;
    for (unsigned c = threadIdx.x; c < cols; c += kBlock)
        squares += (row[c] - mean) * (row[c] - mean);
    const float factor = rsqrtf(sumOfRow(squares, ofWarps[1]) / cols + kEpsilon);
    for (unsigned c = threadIdx.x; c < cols; c += kBlock) out[first + c] = (row[c] - mean) * factor;
}

// The row is in the registers of its threads, of which there are as many as it takes: kPerThread
// floats to each, in loads of 16 bytes that are all in flight before one of them is needed. Where
// cols is no multiple of 4, rows begin anywhere. Then a thread takes pieces of 16 bytes as memory
// has them, of which the first and the last may belong to the neighbouring rows, too.
template <unsigned kPerThread, bool kAligned>
__global__ void __launch_bounds__(kMostThreads)
    registerRow(const float* in, float* out, std::size_t rows, unsigned cols) {
    __shared__ float ofWarps[2][32];
    struct alignas(16) Piece {
        float at[4];
    };
    const std::size_t row = std::size_t{blockIdx.x} * blockDim.y + threadIdx.y;
    const unsigned begin = kAligned ? 0 : row * cols % 4;  // of the row in its first piece
    const unsigned end = row < rows ? begin + cols : 0;    // below the last row there is none
    const float* const from = in + row * cols - begin;
    float* const to = out + row * cols - begin;
    const auto isWhole = [&](unsigned place) {
        return kAligned ? place < end : place >= begin && place + 4 <= end;
    };
    const auto isInside = [&](unsigned place, unsigned i) {
        return kAligned ? place < end : place + i >= begin && place + i < end;
    };

    Piece pieces[kPerThread / 4];
    float sum = 0, squares = 0;
#pragma unroll  // every index becomes a constant: only then can an array live in registers
    for (unsigned k = 0; k < kPerThread / 4; ++k) {
        const unsigned place = 4 * (threadIdx.x + k * blockDim.x);
        pieces[k] = {};
        if (isWhole(place)) {
            pieces[k] = *reinterpret_cast<const Piece*>(from + place);
        } else if (!kAligned) {
            for (unsigned i = 0; i < 4; ++i) {
                if (isInside(place, i)) pieces[k].at[i] = from[place + i];
            }
        }
    }
#pragma unroll
    for (Piece& piece : pieces) {
        for (float x : piece.at) sum += x;
    }
    const float mean = sumOfRow(sum, ofWarps[0]) / cols;
#pragma unroll
    for (unsigned k = 0; k < kPerThread / 4; ++k) {
        const unsigned place = 4 * (threadIdx.x + k * blockDim.x);
        for (unsigned i = 0; i < 4; ++i) {
            float& x = pieces[k].at[i];
            x -= mean;
            if (isInside(place, i)) squares += x * x;
        }
    }
    const float factor = rsqrtf(sumOfRow(squares, ofWarps[1]) / cols + kEpsilon);
#pragma unroll
    for (unsigned k = 0; k < kPerThread / 4; ++k) {
        const unsigned place = 4 * (threadIdx.x + k * blockDim.x);
        for (float& x : pieces[k].at) x *= factor;
        if (isWhole(place)) {
            *reinterpret_cast<Piece*>(to + place) = pieces[k];
        } else if (!kAligned) {
            for (unsigned i = 0; i < 4; ++i) {
                if (isInside(place, i)) to[place + i] = pieces[k].at[i];
            }
        }
    }
}

// Few floats to a thread are many threads that move little each, which suits the memory best; but
// the more warps a row has, the longer they wait for each other. So: as few as 256 threads allow.
unsigned floatsPerThread(unsigned cols) {
    return cols <= 8 * kBlock ? 8 : cols <= 16 * kBlock ? 16 : 32;
}

template <bool kAligned>
auto registerRowFor(unsigned perThread) {
    return perThread == 8    ? registerRow<8, kAligned>
           : perThread == 16 ? registerRow<16, kAligned>
                             : registerRow<32, kAligned>;
}

int main(int argc, char** argv) {
    std::size_t rows;
    unsigned cols, mean;
    lab::Exercise exercise("rowNormalisation",
                           "Brings each row of a matrix to mean 0, variance 1.");
    exercise.option("rows", &rows, {1 << 14, 64}, 1, lab::kMaxSize, "rows");
    exercise.option("cols", &cols, {1 << 12, 500}, 1, 1u << 31, "columns");
    exercise.option("mean", &mean, 0, 0, 1 << 14, "of the elements, which are up to 1 from it");
    exercise.parse(argc, argv);
    exercise.requireElements(rows, cols);
    exercise.columns(lab::Columns::kLadder,
                     {{"bytes", 5, "bytes"},
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

    // In each thread of a sum, in its warp, and between warps.
    const unsigned perThread = floatsPerThread(cols);
    const unsigned additions = std::max(perThread, lab::blocksFor(cols, kBlock)) + 5 + 5;
    const RowReference reference(input, cols, kEpsilon, additions);
    const auto cells = [&](unsigned bytes, double error) -> std::vector<lab::Cell> {
        const double peak = exercise.device().peakBandwidth;
        return {bytes, peak > 0 ? lab::Cell(1e3 * bytes * count / peak, 4) : lab::Cell(),
                lab::formatted("%.1e", error)};
    };
    // What the rungs before left in the rows' means and factors is poisoned, too.
    lab::Ladder ladder(exercise, target, [&] {
        bufferMeans.fillBytes(lab::poisonByte<float>());
        bufferFactors.fillBytes(lab::poisonByte<float>());
    });
    const auto rung = [&](const char* name, dim3 grid, dim3 block, unsigned bytes,
                          const lab::Launch& launch) {
        const auto check = [&, bytes]() -> lab::Finding {
            const RowReference::Comparison found = reference.compare(target.toHost());
            return {found.wrong, cells(bytes, found.error)};
        };
        ladder.rung(name, grid, block, lab::bytes(1.0 * bytes * count), check, launch);
    };

    const unsigned grid = lab::blocksFor(rows, 1);
    rung("threePasses", grid, kBlock, 16, [&] {
        rowMeans<<<grid, kBlock>>>(in, means, cols);
        rowFactors<<<grid, kBlock>>>(in, means, factors, cols);
        normalise<<<grid, kBlock>>>(in, means, factors, out, cols);
    });
    rung("twoPasses", grid, kBlock, 12, [&] {
        rowMoments<<<grid, kBlock>>>(in, means, factors, cols);
        normalise<<<grid, kBlock>>>(in, means, factors, out, cols);
    });
    rung("oneKernel", grid, kBlock, 8, [&] { oneKernel<<<grid, kBlock>>>(in, out, cols); });

    // Rows that are too long for these two are left to the one before.
    const std::size_t shared = cols * sizeof(float);
    if (allowShared(sharedRow, shared)) {
        rung("sharedRow", grid, kBlock, 8,
             [&] { sharedRow<<<grid, kBlock, shared>>>(in, out, cols); });
    } else {
        exercise.note("sharedRow: a row does not fit into the shared memory of a block");
    }
    const bool aligned = cols % 4 == 0;
    const unsigned places = aligned ? cols : cols + 3;  // up to 3 before the row in its first piece
    if (places <= perThread * kMostThreads) {
        unsigned threads = 32;
        while (threads * perThread < places) threads *= 2;
        const dim3 block(threads, std::max(kLeastThreads / threads, 1u));
        const unsigned blocks = lab::blocksFor(rows, block.y);
        rung("registerRow", blocks, block, 8, [&] {
            const auto kernel =
                aligned ? registerRowFor<true>(perThread) : registerRowFor<false>(perThread);
            kernel<<<blocks, block>>>(in, out, rows, cols);
        });
    } else {
        exercise.note("registerRow: a row does not fit into the registers of a block");
    }

    const auto isCopy = [&]() -> lab::Finding {
        return {lab::mismatch(target.toHost(), input, 0), cells(8, 0)};
    };
    ladder.peer("cudaMemcpy", lab::bytes(8.0 * count), isCopy, [&] {
        CUDA_CHECK(cudaMemcpyAsync(out, in, source.bytes(), cudaMemcpyDeviceToDevice));
    });
    return exercise.finish();
}
