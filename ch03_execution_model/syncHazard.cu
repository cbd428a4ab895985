// Threads of a block that work together have to wait for one another. Without a barrier a thread
// reads what another has not written yet (read after write), or overwrites what another has still
// to read (write after read). Each kernel is here without its barrier and with it.
//
//   1 readAfterWriteRace    reverses tiles: no barrier between writing the tile and reading it
//   2 readAfterWriteSynced  one barrier
//   3 writeAfterReadRace    several tiles, one after the other, in the same shared memory: no
//                           barrier between reading a tile and writing the next one
//   4 writeAfterReadSynced  two barriers for each tile
//   5 lanesRace             each warp adds up its elements: no barrier at all
//   6 lanesSynced           __syncwarp() after each step, which waits for the lanes of a warp only
//
// `wrong` says how many elements were wrong in all runs together, `wrong runs` in how many runs any
// was. Nothing says that a race must go wrong: with another GPU, compiler or neighbour on the
// machine it goes another way. So `ok` promises little of kernels 1, 3 and 5: each element is right
// or what the race can leave there, the value before or after. Of 2, 4 and 6 it says that all are
// right. On the cpu back end, which runs threads one after the other, every run is the same.
//
//   cmake --build build --target syncHazard
//   build/ch03_execution_model/syncHazard --size=1M --block=512
//   ctest --test-dir build -R syncHazard
//   ./lab check syncHazard    (without a GPU: both lines of each race)
//   compute-sanitizer --tool racecheck build/ch03_execution_model/syncHazard --profile --size=4K
//   ncu build/ch03_execution_model/syncHazard --profile
//
// One thing no kernel here does, since it is undefined, a barrier in divergent code:
//
//     if (threadIdx.x < 48) { ...  __syncthreads(); } else { ...  __syncthreads(); }
//
// Before Volta the hardware counted warps: one that came with some of its threads counted as whole,
// and let others pass too early. Since Volta it counts threads: those that never come keep the
// others waiting for ever. One barrier in each branch is no way out: to the language they are two
// barriers, and that a GPU takes them for one today is luck.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "lab.cuh"

constexpr int kEmpty = -1;          // what a tile holds before; no element of the input is negative
constexpr unsigned kTiles = 8;      // that a block of kernels 3 and 4 works on, one after the other
constexpr unsigned kLaterBy = 500;  // nanoseconds

// Warps of a real kernel do not come at the same time: their data comes from memory sooner or
// later, and the scheduler picks which one goes on. Here each is later than the one before.
__device__ void comeLater() {
    __nanosleep(kLaterBy * (threadIdx.x / 32));
}

// Number of elements of the tile that begins at `first`: blockDim.x, unless the array ends before.
__device__ unsigned elementsOfTile(std::size_t first, std::size_t n) {
    return n - first < blockDim.x ? static_cast<unsigned>(n - first) : blockDim.x;
}

// Warp 0 writes its elements and goes on to read those that the last warp will write later: it gets
// what the tile held before.
__global__ void readAfterWriteRace(const int* in, int* out, std::size_t n) {
    __shared__ int tile[lab::kMaxBlock];
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x;
    const unsigned t = threadIdx.x, count = elementsOfTile(first, n);
    tile[t] = kEmpty;
    __syncthreads();

    comeLater();
    if (t < count) tile[t] = in[first + t];
    if (t < count) out[first + t] = tile[count - 1 - t];
}

// No thread passes the barrier before all have come to it, and what they wrote before is there for
// all to read. Threads that have no element come too: the barrier is not within an `if`.
__global__ void readAfterWriteSynced(const int* in, int* out, std::size_t n) {
    __shared__ int tile[lab::kMaxBlock];
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x;
    const unsigned t = threadIdx.x, count = elementsOfTile(first, n);
    tile[t] = kEmpty;
    __syncthreads();

    comeLater();
    if (t < count) tile[t] = in[first + t];
    __syncthreads();
    if (t < count) out[first + t] = tile[count - 1 - t];
}

// The barrier is there, but the loop comes round: warp 0 writes its elements of the next tile while
// the last warp has not read this one. (Further ahead it cannot get: the barrier stops it.)
__global__ void writeAfterReadRace(const int* in, int* out, std::size_t n) {
    __shared__ int tile[lab::kMaxBlock];
    const unsigned t = threadIdx.x;
    std::size_t first = std::size_t{blockIdx.x} * blockDim.x * kTiles;
    for (unsigned i = 0; i < kTiles && first < n; ++i, first += blockDim.x) {
        const unsigned count = elementsOfTile(first, n);
        if (t < count) tile[t] = in[first + t];
        __syncthreads();
        comeLater();
        if (t < count) out[first + t] = tile[count - 1 - t];
    }
}

// A tile that is used again needs two barriers: one before it is read, one before it is written.
// (With two tiles in turn, one would do.) Which tile is the last one, all threads of a block agree:
// none leaves the loop while others wait in it.
__global__ void writeAfterReadSynced(const int* in, int* out, std::size_t n) {
    __shared__ int tile[lab::kMaxBlock];
    const unsigned t = threadIdx.x;
    std::size_t first = std::size_t{blockIdx.x} * blockDim.x * kTiles;
    for (unsigned i = 0; i < kTiles && first < n; ++i, first += blockDim.x) {
        const unsigned count = elementsOfTile(first, n);
        if (t < count) tile[t] = in[first + t];
        __syncthreads();
        comeLater();
        if (t < count) out[first + t] = tile[count - 1 - t];
        __syncthreads();
    }
}

// Each warp adds up its elements, as reduceInteger does at the end. Textbooks leave out the
// barrier, since the lanes of a warp move in lockstep. The compiler does not know that: tile[t] and
// tile[t + 8] are two variables to it, and it reads the one for the next step before it writes the
// other. And since Volta the hardware promises no lockstep either.
__global__ void lanesRace(const int* in, int* sums, std::size_t n) {
    __shared__ int tile[lab::kMaxBlock];
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const unsigned t = threadIdx.x, lane = t % 32;
    tile[t] = i < n ? in[i] : 0;
    __syncwarp();
    for (unsigned stride = 16; stride > 0; stride /= 2) {
        if (lane < stride) tile[t] += tile[t + stride];
    }
    if (lane == 0 && i < n) sums[i / 32] = tile[t];
}

// Waits for the lanes of the warp, and makes the compiler write before it reads on. Enough as long
// as no warp needs anything of another, and cheaper than a barrier of the block.
__global__ void lanesSynced(const int* in, int* sums, std::size_t n) {
    __shared__ int tile[lab::kMaxBlock];
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const unsigned t = threadIdx.x, lane = t % 32;
    tile[t] = i < n ? in[i] : 0;
    __syncwarp();
    for (unsigned stride = 16; stride > 0; stride /= 2) {
        if (lane < stride) tile[t] += tile[t + stride];
        __syncwarp();
    }
    if (lane == 0 && i < n) sums[i / 32] = tile[t];
}

// CPU reference: where the element comes from that a kernel which reverses tiles leaves at i.
std::size_t sourceOf(std::size_t i, std::size_t block, std::size_t n) {
    const std::size_t first = i / block * block;
    return first + std::min(block, n - first) - 1 - (i - first);
}

// CPU reference: the sum of a warp's elements, and the least that lane 0 gets of it whatever the
// order: its own element, and those that it adds itself, as they were.
struct SumOfWarp {
    int all, least;
};
SumOfWarp sumOfWarp(const std::vector<int>& in, std::size_t warp) {
    SumOfWarp sum = {0, 0};
    for (std::size_t lane = 0; lane < 32 && 32 * warp + lane < in.size(); ++lane) {
        sum.all += in[32 * warp + lane];
        if ((lane & (lane - 1)) == 0) sum.least += in[32 * warp + lane];  // 0, 1, 2, 4, 8, 16
    }
    return sum;
}

int main(int argc, char** argv) {
    std::size_t size = lab::perBackend(std::size_t{1} << 20, std::size_t{1} << 14);
    unsigned block = 512;
    lab::Exercise exercise("syncHazard", "Races in shared memory, and the barriers against them.");
    exercise.option("size", &size, 1, lab::kMaxSize, "number of integers");
    exercise.option("block", &block, 32, lab::kMaxBlock, "threads per block",
                    lab::Rule::kPowerOfTwo);
    exercise.parse(argc, argv);

    const std::vector<int> input = lab::randomInts(size, exercise.seed(), 0, 1000000);
    const lab::DeviceBuffer<int> source(input);
    lab::DeviceBuffer<int> result(size);
    const int* const in = source.get();
    int* const out = result.get();
    exercise.title("%s ints, block %u", lab::withCommas(size).c_str(), block);
    exercise.output(result);

    const std::size_t runs = exercise.profile() ? 1 : lab::perBackend(20, 3);
    std::size_t wrong = 0, wrongRuns = 0, elements = 0;  // in all runs of a kernel
    exercise.details({{"", 0, "runs"},
                      {"wrong runs", 10, "wrong_runs"},
                      {"wrong", 9, "wrong_elements"},
                      {"of", 9, "elements"}},
                     [&](const lab::Statistics&) {
                         return std::vector<lab::Cell>{runs, wrongRuns, wrong, elements};
                     });
    // Counts elements that are not right(i). Those that are not possible(i, value) either would
    // come of something else than the race.
    const auto expect = [&](std::size_t count, const std::function<int(std::size_t)>& right,
                            const std::function<bool(std::size_t, int)>& possible) {
        exercise.check([&, count, right, possible] {
            wrong = wrongRuns = elements = 0;
            std::string mismatch;
            for (std::size_t run = 0; run < runs; ++run) {
                if (run > 0) exercise.again();
                const std::vector<int> values = result.toHost(count);
                const std::size_t before = wrong;
                for (std::size_t i = 0; i < count; ++i) {
                    if (values[i] == right(i)) continue;
                    ++wrong;
                    if (mismatch.empty() && !possible(i, values[i]))
                        mismatch = lab::describeMismatch(i, values[i], right(i));
                }
                wrongRuns += wrong > before;
                elements += count;
            }
            return mismatch;
        });
    };
    const auto never = [](std::size_t, int) { return false; };

    unsigned grid = lab::blocksFor(size, block);
    const auto reversed = [&](std::size_t i) { return input[sourceOf(i, block, size)]; };
    expect(size, reversed, [](std::size_t, int value) { return value == kEmpty; });
    exercise.rung("readAfterWriteRace", grid, block,
                  [&] { readAfterWriteRace<<<grid, block>>>(in, out, size); });
    expect(size, reversed, never);
    exercise.rung("readAfterWriteSynced", grid, block,
                  [&] { readAfterWriteSynced<<<grid, block>>>(in, out, size); });

    exercise.newBaseline();
    grid = lab::blocksFor(size, std::size_t{kTiles} * block);
    expect(size, reversed, [&](std::size_t i, int value) {  // that of the block's next tile
        const std::size_t next = sourceOf(i, block, size) + block;
        return next / block % kTiles != 0 && next < size && value == input[next];
    });
    exercise.rung("writeAfterReadRace", grid, block,
                  [&] { writeAfterReadRace<<<grid, block>>>(in, out, size); });
    expect(size, reversed, never);
    exercise.rung("writeAfterReadSynced", grid, block,
                  [&] { writeAfterReadSynced<<<grid, block>>>(in, out, size); });

    exercise.newBaseline();
    grid = lab::blocksFor(size, block);
    const std::size_t warps = lab::blocksFor(size, 32);
    const auto sum = [&](std::size_t warp) { return sumOfWarp(input, warp).all; };
    expect(warps, sum, [&](std::size_t warp, int value) {
        return value >= sumOfWarp(input, warp).least && value < sum(warp);
    });
    exercise.rung("lanesRace", grid, block, [&] { lanesRace<<<grid, block>>>(in, out, size); });
    expect(warps, sum, never);
    exercise.rung("lanesSynced", grid, block, [&] { lanesSynced<<<grid, block>>>(in, out, size); });
    return exercise.finish();
}
