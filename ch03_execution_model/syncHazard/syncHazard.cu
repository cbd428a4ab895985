// Threads of a block that work together have to wait for one another. Without a barrier, a thread
// reads what another one has not written yet (read after write), or overwrites what another one has
// still to read (write after read). Each kernel comes twice, without its barrier and with it.
//
//   1 readAfterWriteRace    reverses tiles, with no barrier between writing a tile and reading it
//   2 readAfterWriteSynced  has one barrier
//   3 writeAfterReadRace    reverses several tiles, one after the other, in the same shared memory,
//                           with no barrier between reading a tile and writing the next one
//   4 writeAfterReadSynced  has two barriers for each tile
//   5 lanesRace             adds up the elements of each warp, with no barrier between the steps
//   6 lanesSynced           calls __syncwarp() after each step, which waits for one warp only
//
// Each kernel runs --runs times, on the same elements. The column `wrong` counts the wrong elements
// of all runs, and `wrong runs` counts the runs with at least one. For kernels 1, 3 and 5, `check`
// says one of these words:
//
//   race   elements were wrong, and each holds what this race can leave there
//   lucky  all elements were right. The race is still there: with another GPU, another compiler or
//          another load on the machine, it may go wrong
//
// Kernels 2, 4 and 6 must have every element right, and get `ok`. The cpu back end runs threads one
// after the other, so every run is the same there. --list says which elements were wrong.
//
//   ./lab run syncHazard -- --size=1M --block=512
//   ./lab test syncHazard
//   ./lab check syncHazard    (names both lines of each race, without a GPU)
//   ./lab profile syncHazard
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target syncHazard
//   build/ch03_execution_model/syncHazard --size=1M --block=512
//   compute-sanitizer --tool racecheck build/ch03_execution_model/syncHazard --profile --size=4K
//   ncu build/ch03_execution_model/syncHazard --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch03_execution_model/syncHazard/syncHazard.cu
//       common/*.cpp common/*.cu -o build/syncHazard
//
// No kernel here has a barrier in divergent code, because that is undefined behaviour:
//
//     if (threadIdx.x < 32) { ...  __syncthreads(); } else { ...  __syncthreads(); }
//
// CUDA treats these as two barriers, and each waits for all threads of the block. A GPU may treat
// them as one today, by luck.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "lab.cuh"
#include "sumOfWarp.h"
#include "wrongStretches.h"

constexpr int kEmpty = -1;          // what a tile holds before; no element of the input is negative
constexpr unsigned kTiles = 8;      // tiles that a block of kernels 3 and 4 works on, one by one
constexpr unsigned kLaterBy = 500;  // nanoseconds
constexpr unsigned kListed = 4;     // stretches of wrong elements that --list shows

// The warps of a real kernel do not come at the same time: their data arrive sooner or later, and
// the scheduler picks which warp goes on. Here each warp comes later than the one before.
__device__ void comeLater() {
    __nanosleep(kLaterBy * (threadIdx.x / 32));
}

// Returns the number of elements of the tile that begins at `first`. It is blockDim.x, unless the
// array ends before.
__device__ unsigned elementsOfTile(std::size_t first, std::size_t n) {
    return n - first < blockDim.x ? static_cast<unsigned>(n - first) : blockDim.x;
}

// Warp 0 writes its elements, then reads elements that the last warp has not written yet. It gets
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

// No thread passes the barrier before all threads have reached it. After the barrier, every thread
// can read what any of them wrote before it. Threads without an element reach it, too, because it
// does not stand within an `if`.
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

// Each tile has its barrier, but warp 0 writes its elements of the next tile while the last warp
// still has to read this tile. (The barrier stops warp 0 from getting further ahead.)
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

// A block that uses a tile again needs two barriers: one before it reads the tile, and one before
// it writes the tile. (With two tiles that alternate, one barrier is enough.) All threads of a
// block leave the loop in the same iteration, so none waits at a barrier that others never reach.
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

// Each warp adds up its elements, as reduceInteger does at the end. Older textbooks leave out the
// barrier, because the lanes of a warp moved in lockstep. Since Volta the hardware does not promise
// that, and the compiler never did. It treats tile[t] and tile[t + 8] as two variables, and may
// read one before it writes the other.
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

// __syncwarp() waits for the lanes of the warp. It also keeps the compiler from moving the reads
// after it in front of the writes before it. That is enough as long as no warp needs anything from
// another one. __syncwarp() is cheaper than a barrier of the block.
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

// Returns the index of the element that belongs at i, after the tiles have been reversed.
std::size_t sourceOf(std::size_t i, std::size_t block, std::size_t n) {
    const std::size_t first = i / block * block;
    return first + std::min(block, n - first) - 1 - (i - first);
}

// Describes what a kernel should leave. `right` is the value of each of `count` elements.
// `possible` says whether a race can leave another value there. A kernel with barriers has no
// `possible`.
struct Expected {
    std::size_t count;
    std::function<int(std::size_t)> right;
    std::function<bool(std::size_t, int)> possible = nullptr;

    Expected& orByRace(std::function<bool(std::size_t, int)> other) {
        return possible = std::move(other), *this;
    }
};

// Looks at the results of the current rung of `ladder`, from the run that it has measured and from
// further runs. `firstWrong` gets the results of the first run with wrong elements, if any.
lab::Finding finding(const lab::Ladder& ladder, const lab::DeviceBuffer<int>& result,
                     const Expected& expected, std::size_t runs, std::vector<int>* firstWrong) {
    std::size_t wrong = 0, wrongRuns = 0;
    std::string impossible;
    for (std::size_t run = 0; run < runs; ++run) {
        if (run > 0) ladder.again();
        const std::vector<int> values = result.toHost(expected.count);
        const auto isWrong = [&](std::size_t i) { return values[i] != expected.right(i); };
        const auto isImpossible = [&](std::size_t i) {
            return isWrong(i) && !(expected.possible && expected.possible(i, values[i]));
        };
        std::atomic<std::size_t> wrongOfRun{0};
        lab::parallelFor(expected.count, 1 << 14, [&](std::size_t begin, std::size_t end) {
            std::size_t count = 0;
            for (std::size_t i = begin; i < end; ++i) count += isWrong(i);
            wrongOfRun += count;
        });
        if (wrongOfRun == 0) continue;
        wrong += wrongOfRun;
        const std::size_t first = lab::firstWrong(expected.count, isImpossible);
        if (impossible.empty() && first < expected.count)
            impossible = lab::describeMismatch(first, values[first], expected.right(first));
        if (++wrongRuns == 1) *firstWrong = values;
    }
    lab::Finding finding(impossible, {runs, wrongRuns, wrong, runs * expected.count});
    if (expected.possible) finding.word = wrong > 0 ? "race" : "lucky";
    return finding;
}

int main(int argc, char** argv) {
    std::size_t size, runs;
    unsigned block;
    bool list = false;
    lab::Exercise exercise("syncHazard", "Races in shared memory, and the barriers against them.");
    exercise.option("size", &size, {1 << 20, 1 << 14}, 1, lab::kMaxSize, "number of integers");
    exercise.option("block", &block, 512, 32, lab::kMaxBlock, "threads per block",
                    lab::Rule::kPowerOfTwo);
    exercise.option("runs", &runs, {20, 3}, 1, 1000000,
                    "runs of each kernel whose results the program checks; 1 with --profile");
    exercise.options().flag("list", &list, "say which elements were wrong");
    exercise.parse(argc, argv);
    const std::size_t results = exercise.profile() ? 1 : runs;

    const std::vector<int> input = lab::randomInts(size, exercise.seed(), 0, 1000000);
    const lab::DeviceBuffer<int> source(input);
    lab::DeviceBuffer<int> result(size);
    const int* const in = source.get();
    int* const out = result.get();
    exercise.title("%s ints, block %u", lab::withCommas(size).c_str(), block);
    // A kernel that is wrong is no baseline, so the table has no speed-ups.
    exercise.columns(lab::Columns::kTimed, {{"", 0, "runs"},
                                            {"wrong runs", 10, "wrong_runs"},
                                            {"wrong", 8, "wrong_elements"},
                                            {"of", 8, "elements"}});

    const auto reversed = [&](std::size_t i) { return input[sourceOf(i, block, size)]; };
    const auto empty = [](std::size_t, int value) { return value == kEmpty; };
    const auto ofNextTile = [&](std::size_t i, int value) {  // of the same block
        const std::size_t next = sourceOf(i, block, size) + block;
        return next / block % kTiles != 0 && next < size && value == input[next];
    };
    const auto sum = [&](std::size_t warp) { return sumOfWarp(input, warp).all; };
    const auto part = [&](std::size_t warp, int value) {
        return isPart(value, sumOfWarp(input, warp));
    };

    const unsigned tiles = lab::blocksFor(size, block);
    const unsigned groups = lab::blocksFor(size, std::size_t{kTiles} * block);  // of tiles
    const std::size_t warps = lab::blocksFor(size, 32);

    lab::Ladder ladder(exercise, result);
    const auto rung = [&](const char* name, unsigned grid, const Expected& expected,
                          const lab::Launch& launch) {
        std::vector<int> wrong;
        ladder.rung(
            name, grid, block, lab::kNoRate,
            [&] { return finding(ladder, result, expected, results, &wrong); }, launch);
        if (list && !wrong.empty()) {
            exercise.note(lab::formatted("%s, the first run with wrong elements:\n%s", name,
                                         wrongStretches(wrong, expected.right, kListed).c_str()));
        }
    };
    rung("readAfterWriteRace", tiles, Expected{size, reversed}.orByRace(empty),
         [&] { readAfterWriteRace<<<tiles, block>>>(in, out, size); });
    rung("readAfterWriteSynced", tiles, Expected{size, reversed},
         [&] { readAfterWriteSynced<<<tiles, block>>>(in, out, size); });
    rung("writeAfterReadRace", groups, Expected{size, reversed}.orByRace(ofNextTile),
         [&] { writeAfterReadRace<<<groups, block>>>(in, out, size); });
    rung("writeAfterReadSynced", groups, Expected{size, reversed},
         [&] { writeAfterReadSynced<<<groups, block>>>(in, out, size); });
    rung("lanesRace", tiles, Expected{warps, sum}.orByRace(part),
         [&] { lanesRace<<<tiles, block>>>(in, out, size); });
    rung("lanesSynced", tiles, Expected{warps, sum},
         [&] { lanesSynced<<<tiles, block>>>(in, out, size); });
    return exercise.finish();
}
