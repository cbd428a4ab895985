// In two jobs, the threads of a warp need each other's values. Every four lanes transpose a 4 x 4
// matrix, and every warp sums a row. The lanes exchange the values through shared memory, or in
// registers by shuffles.
//
//   1 copyRows          no transpose: moves the same bytes, for comparison
//   2 transposeIndexed  shuffles with computed register numbers, so the arrays lie in local memory
//   3 transposeShared   through shared memory, without bank conflicts
//   4 transposeShuffle  four shuffles, and the compiler knows each register
//
//   5 sumRowsShared     a tree in shared memory
//   6 sumRowsShuffle    the tree in registers: five shuffles
//   7 sumRowsReduce     cg::reduce(): one instruction, where the GPU has it
//   8 sumRowsBy8        eight lanes to a row: three shuffles for four rows
//
// The array is taken as matrices of 16 elements, or as rows of --cols elements. Kernels 2 to 4
// transpose a matrix --rounds times before they write it. With many rounds the exchange takes the
// time, with one round the memory does. The speedups are over kernels 1 and 5.
//
//   ./lab run shuffleOrShared -- --rounds=1 --cols=1024
//   ./lab test shuffleOrShared
//   ./lab profile shuffleOrShared
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target shuffleOrShared
//   build/ch04_memory/shuffleOrShared --rounds=1 --cols=1024
//   ncu build/ch04_memory/shuffleOrShared --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch04_memory/shuffleOrShared/shuffleOrShared.cu
//       common/*.cpp common/*.cu -o build/shuffleOrShared

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "lab.cuh"

namespace cg = cooperative_groups;

constexpr unsigned kWarp = 32;
constexpr unsigned kBlock = 256;
constexpr unsigned kWarps = kBlock / kWarp;

__device__ std::size_t globalThread() {
    return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

// ---- 4 x 4 matrices ----

// A thread holds a row of four elements. Lanes 0 to 3 hold a matrix, lanes 4 to 7 the next one, and
// so on. In the end each lane holds a column. The array ends with a whole matrix, but not with a
// whole warp. Lanes past the end hold zeros and take part, because the full mask names them.

__global__ void copyRows(const int4* in, int4* out, std::size_t rows) {
    const std::size_t i = globalThread();
    if (i < rows) out[i] = in[i];
}

// In each step, lane q reads from lane q + step. The other lane decides which register it gives:
// its element q - step, which the reader wants. Still wrong: registers have no addresses. An array
// whose index is known only at run time lies in local memory, which is as far away as global
// memory.
__global__ void transposeIndexed(const int4* in, int4* out, std::size_t rows, unsigned rounds) {
    const std::size_t i = globalThread();
    const unsigned q = threadIdx.x % 4;
    int4 v = i < rows ? in[i] : int4{};

    for (unsigned round = 0; round < rounds; ++round) {
        const int row[4] = {v.x, v.y, v.z, v.w};
        int column[4];
        for (unsigned step = 0; step < 4; ++step) {
            const unsigned from = (q + step) % 4, give = (q - step) % 4;
            column[from] = __shfl_sync(lab::kAllLanes, row[give], from, 4);
        }
        v = {column[0], column[1], column[2], column[3]};
    }
    if (i < rows) out[i] = v;
}

// Goes through a tile, as in transpose, but within a warp, so it needs no barrier of the block.
// Lane l stores its four elements into column l of the tile. Rows of the tile are 40 elements
// apart, not 32. So eight lanes, which load 16 bytes each at a time, find all of these in different
// banks. Still wrong: each value travels twice, there and back.
__global__ void transposeShared(const int4* in, int4* out, std::size_t rows, unsigned rounds) {
    __shared__ __align__(16) int tiles[kWarps][4][kWarp + 8];
    const std::size_t i = globalThread();
    const unsigned lane = threadIdx.x % kWarp;
    auto& tile = tiles[threadIdx.x / kWarp];
    int4 v = i < rows ? in[i] : int4{};

    for (unsigned round = 0; round < rounds; ++round) {
        tile[0][lane] = v.x;
        tile[1][lane] = v.y;
        tile[2][lane] = v.z;
        tile[3][lane] = v.w;
        __syncwarp();  // now all lanes see what the others have stored
        v = *reinterpret_cast<const int4*>(&tile[lane % 4][lane / 4 * 4]);
        __syncwarp();  // all lanes have read before one of them stores again
    }
    if (i < rows) out[i] = v;
}

// Exchanges an element with the lane whose number differs in bit kBit. The lower lane gives `high`
// and gets the other lane's `low`. A lane selects the element that it gives by value, not by index,
// so both stay in registers.
template <unsigned kBit>
__device__ void exchange(int& low, int& high) {
    const bool upper = threadIdx.x & kBit;
    const int got = __shfl_xor_sync(lab::kAllLanes, upper ? low : high, kBit);
    (upper ? low : high) = got;
}

// A butterfly in two steps. First, elements change places within quarters of 2 x 2. Then the
// quarters change places.
__global__ void transposeShuffle(const int4* in, int4* out, std::size_t rows, unsigned rounds) {
    const std::size_t i = globalThread();
    int4 v = i < rows ? in[i] : int4{};

    for (unsigned round = 0; round < rounds; ++round) {
        exchange<1>(v.x, v.y);
        exchange<1>(v.z, v.w);
        exchange<2>(v.x, v.z);
        exchange<2>(v.y, v.w);
    }
    if (i < rows) out[i] = v;
}

// ---- sums of rows ----

// Adds up every kLanes-th element of a row. The last row may be shorter. Behind it there are rows
// without elements, whose lanes take part in the shuffles.
template <unsigned kLanes>
__device__ int sumOfLane(const int* in, std::size_t n, std::size_t row, unsigned cols) {
    const std::size_t begin = row * cols;
    if (begin >= n) return 0;
    const unsigned length = n - begin < cols ? static_cast<unsigned>(n - begin) : cols;
    int sum = 0;
    for (unsigned c = threadIdx.x % kLanes; c < length; c += kLanes) sum += in[begin + c];
    return sum;
}

// A tree in shared memory. In each step half as many lanes add as in the step before. Still wrong:
// each step takes two loads, a store and a barrier of the warp, and most lanes have nothing to do.
__global__ void sumRowsShared(const int* in, int* sums, std::size_t n, unsigned cols) {
    __shared__ int trees[kBlock];
    const std::size_t row = globalThread() / kWarp;
    const unsigned lane = threadIdx.x % kWarp;
    int* const tree = trees + threadIdx.x / kWarp * kWarp;

    tree[lane] = sumOfLane<kWarp>(in, n, row, cols);
    __syncwarp();
    for (unsigned stride = kWarp / 2; stride > 0; stride /= 2) {
        if (lane < stride) tree[lane] += tree[lane + stride];
        __syncwarp();
    }
    if (lane == 0 && row * cols < n) sums[row] = tree[0];
}

// The tree in registers, with kLanes lanes to a row. The butterfly leaves the sum in all of them,
// and no lane stores anything or waits at a barrier. A shuffle works for all 32 lanes. So with
// eight lanes to a row (sumRowsBy8), three shuffles sum four rows. Each lane then loads and adds
// four times as many elements by itself, which costs no shuffles.
template <unsigned kLanes>
__global__ void sumRowsShuffle(const int* in, int* sums, std::size_t n, unsigned cols) {
    const std::size_t row = globalThread() / kLanes;
    int sum = sumOfLane<kLanes>(in, n, row, cols);
    for (unsigned mask = kLanes / 2; mask > 0; mask /= 2)
        sum += __shfl_xor_sync(lab::kAllLanes, sum, mask);
    if (threadIdx.x % kLanes == 0 && row * cols < n) sums[row] = sum;
}

// GPUs of compute capability 8.0 and up add the integers of a warp in one instruction,
// __reduce_add_sync(). cg::reduce() uses it, and uses shuffles on GPUs that do not have it.
__global__ void sumRowsReduce(const int* in, int* sums, std::size_t n, unsigned cols) {
    const auto warp = cg::tiled_partition<kWarp>(cg::this_thread_block());
    const std::size_t row = globalThread() / kWarp;
    const int sum = cg::reduce(warp, sumOfLane<kWarp>(in, n, row, cols), cg::plus<int>());
    if (warp.thread_rank() == 0 && row * cols < n) sums[row] = sum;
}

// ---- CPU references ----

// Every 16 elements are a 4 x 4 matrix. Returns where element i of the transposed matrices was.
std::size_t transposed(std::size_t i) {
    const std::size_t row = i % 16 / 4, col = i % 4;
    return i / 16 * 16 + 4 * col + row;
}

// The sums of `size` elements in rows of `cols`.
template <typename ElementOf>
std::vector<int> sumsOfRows(std::size_t size, std::size_t cols, ElementOf elementOf) {
    std::vector<int> sums = lab::hostVector<int>((size + cols - 1) / cols);
    lab::parallelFor(sums.size(), 1 << 10, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            for (std::size_t i = row * cols; i < std::min(size, (row + 1) * cols); ++i)
                sums[row] += elementOf(i);
        }
    });
    return sums;
}

int main(int argc, char** argv) {
    std::size_t size;
    unsigned cols, rounds;
    lab::Exercise exercise(
        "shuffleOrShared",
        "Lanes of a warp exchange values: through shared memory, or by shuffles.");
    exercise.option("size", &size, {1 << 26, 1 << 16}, 1, lab::kMaxSize, "number of integers");
    exercise.option("cols", &cols, 32, 1, 1 << 20, "integers in a row that is summed");
    exercise.option("rounds", &rounds, {33, 3}, 1, 1 << 20,
                    "times that a 4 x 4 matrix is transposed");
    exercise.parse(argc, argv);

    const std::uint64_t seed = exercise.seed();
    const auto inputOf = [=](std::size_t i) {  // zeros fill the last matrix
        return i < size ? lab::randomInt(seed, i, -100, 100) : 0;
    };
    const std::size_t padded = (size + 15) / 16 * 16;
    const auto source = lab::filled<int>(padded, inputOf);
    const std::vector<int> sumsExpected = sumsOfRows(size, cols, inputOf);
    exercise.title("%s ints (%s), %u x transposed, rows of %u", lab::withCommas(size).c_str(),
                   lab::inBytes(size * sizeof(int)).c_str(), rounds, cols);

    {
        lab::DeviceBuffer<int> target(padded);
        const int4* const in = reinterpret_cast<const int4*>(source.get());
        int4* const out = reinterpret_cast<int4*>(target.get());
        const std::size_t rows = padded / 4;
        const unsigned grid = lab::blocksFor(rows, kBlock);
        const lab::Work moved = lab::bytes(2.0 * source.bytes());  // each is read and written
        const auto isCopy = [&] { return lab::mismatchOf(target, inputOf); };
        const auto isTransposed = [&] {  // twice transposed is as it was
            return lab::mismatchOf(target, [&](std::size_t i) {
                return inputOf(rounds % 2 == 1 ? transposed(i) : i);
            });
        };

        lab::Ladder ladder(exercise, target);
        ladder.rung("copyRows", grid, kBlock, moved, isCopy,
                    [&] { copyRows<<<grid, kBlock>>>(in, out, rows); });
        ladder.rung("transposeIndexed", grid, kBlock, moved, isTransposed,
                    [&] { transposeIndexed<<<grid, kBlock>>>(in, out, rows, rounds); });
        ladder.rung("transposeShared", grid, kBlock, moved, isTransposed,
                    [&] { transposeShared<<<grid, kBlock>>>(in, out, rows, rounds); });
        ladder.rung("transposeShuffle", grid, kBlock, moved, isTransposed,
                    [&] { transposeShuffle<<<grid, kBlock>>>(in, out, rows, rounds); });
    }

    lab::DeviceBuffer<int> results(sumsExpected.size());
    const int* const in = source.get();
    int* const sums = results.get();
    const unsigned byWarp = lab::blocksFor(results.size(), kWarps);
    const unsigned by8 = lab::blocksFor(results.size(), kBlock / 8);
    const lab::Work read = lab::bytes(1.0 * (size * sizeof(int) + results.bytes()));
    const auto areSums = [&] { return lab::mismatch(results, sumsExpected); };

    lab::Ladder ladder(exercise, results);
    ladder.rung("sumRowsShared", byWarp, kBlock, read, areSums,
                [&] { sumRowsShared<<<byWarp, kBlock>>>(in, sums, size, cols); });
    ladder.rung("sumRowsShuffle", byWarp, kBlock, read, areSums,
                [&] { sumRowsShuffle<kWarp><<<byWarp, kBlock>>>(in, sums, size, cols); });
    ladder.rung("sumRowsReduce", byWarp, kBlock, read, areSums,
                [&] { sumRowsReduce<<<byWarp, kBlock>>>(in, sums, size, cols); });
    ladder.rung("sumRowsBy8", by8, kBlock, read, areSums,
                [&] { sumRowsShuffle<8><<<by8, kBlock>>>(in, sums, size, cols); });
    return exercise.finish();
}
