// Sums integers by recursion: a kernel adds the upper half of each part of the array to its lower
// half, and launches itself for what remains. Each launch costs more than all of its additions.
//
//   1 reduceInterleaved  no recursion: a loop of such steps, with a barrier behind each
//   2 nestedPerBlock     each block launches a child for its part, behind a barrier
//   3 nestedTail         no barrier: the children are tail launches, which begin when the whole
//                        parent grid is complete, one after the other
//   4 nestedOnce         a single tail launch for the parts of all blocks
//   5 reduceOneLaunch    no recursion, and no steps: what it costs to do it well
//
// Each but the last leaves a sum for each part, of as many elements as a block has threads; the
// last leaves the sum of all.
//
//   grids    that ran: one, and those that kernels launched, each of which counts itself
//   pending  launches of kernels that may be pending at a time; CUDA has to be told before
//   us/grid  time for each grid that a kernel launched
//
//   ./lab run nestedReduce -- --size=256K --block=512
//   ./lab test nestedReduce
//   ./lab check nestedReduce
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target nestedReduce
//   build/dynamic_parallelism/nestedReduce --size=256K --block=512
//   nsys profile build/dynamic_parallelism/nestedReduce --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -rdc=true -Icommon dynamic_parallelism/nestedReduce/nestedReduce.cu
//       common/*.cpp common/*.cu -o build/nestedReduce

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "../pendingLaunches.cuh"
#include "lab.cuh"
#include "warp_sum.cuh"

struct Count {
    unsigned grids;  // that ran
    unsigned error;  // of launches by kernels; 0: none
};

__device__ void countGrid(Count* count) {
    if (blockIdx.x == 0 && threadIdx.x == 0) atomicAdd(&count->grids, 1u);
}

// A launch that is refused says so to the thread that asks right after it, and to nobody else.
__device__ void noteError(Count* count) {
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) atomicMax(&count->error, static_cast<unsigned>(error));
}

// A part of the array has `width` elements, `present` of them before the array's end. Adds the
// upper half to the lower one, which is what remains: returns its width. Any width will do; of an
// odd one the element in the middle remains as it is.
__device__ unsigned addUpperHalf(int* part, std::size_t present, unsigned width) {
    const unsigned half = (width + 1) / 2, i = threadIdx.x + half;
    if (i < width && i < present) part[threadIdx.x] += part[i];
    return half;
}

// All steps in one kernel. A barrier behind each: a thread adds what others have added before.
__global__ void reduceInterleaved(int* data, std::size_t size, int* sums, Count* count) {
    countGrid(count);
    const std::size_t begin = std::size_t{blockIdx.x} * blockDim.x;
    for (unsigned width = blockDim.x; width > 1;) {
        width = addUpperHalf(data + begin, size - begin, width);
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = data[begin];
}

// Recursion: a block does one step, and launches a grid of one block for what remains. The child is
// sure to see what thread 0 wrote before the launch, and by the barrier what its block wrote. It
// needs nothing else, and nobody waits for it. Still wrong: a launch for every step of every part.
__global__ void nestedPerBlock(int* data, std::size_t size, unsigned width, int* sums,
                               Count* count) {
    countGrid(count);
    const std::size_t begin = std::size_t{blockIdx.x} * width, present = size - begin;
    int* const part = data + begin;
    const unsigned half = addUpperHalf(part, present, width);
    __syncthreads();
    if (threadIdx.x > 0) return;
    if (half == 1) {
        sums[blockIdx.x] = part[0];
    } else {
        nestedPerBlock<<<1, half / 2>>>(part, present < half ? present : half, half,
                                        sums + blockIdx.x, count);
        noteError(count);
    }
}

// No barrier: a tail launch begins when the parent grid is complete, with all that its threads
// wrote. But the tail launches of a grid run one after the other.
__global__ void nestedTail(int* data, std::size_t size, unsigned width, int* sums, Count* count) {
    countGrid(count);
    const std::size_t begin = std::size_t{blockIdx.x} * width, present = size - begin;
    int* const part = data + begin;
    const unsigned half = addUpperHalf(part, present, width);
    if (threadIdx.x > 0) return;
    if (half == 1) {
        sums[blockIdx.x] = part[0];  // thread 0 has added the last two itself
    } else {
        nestedTail<<<1, half / 2, 0, cudaStreamTailLaunch>>>(part, present < half ? present : half,
                                                             half, sums + blockIdx.x, count);
        noteError(count);
    }
}

// One launch for all blocks, by the first: a grid as large as this one, for the same parts, which
// begin `stride` elements apart. It has to be a tail launch: a barrier reaches no further than the
// block, and the other blocks may not even have begun.
__global__ void nestedOnce(int* data, std::size_t size, std::size_t stride, unsigned width,
                           int* sums, Count* count) {
    countGrid(count);
    const std::size_t begin = blockIdx.x * stride;
    const unsigned half = addUpperHalf(data + begin, size - begin, width);
    if (threadIdx.x > 0) return;
    if (half == 1) {
        sums[blockIdx.x] = data[begin];
    } else if (blockIdx.x == 0) {
        nestedOnce<<<gridDim.x, half / 2, 0, cudaStreamTailLaunch>>>(data, size, stride, half, sums,
                                                                     count);
        noteError(count);
    }
}

// What the blocks of reduceOneLaunch have added so far: their sum in the upper half, their number
// in the lower. 0 between two launches.
__device__ unsigned long long sumAndBlocks = 0;

// Each thread adds elements in a register, each block the registers of its threads; the last block
// that adds to `sumAndBlocks` has the sum. Nothing but the input is read, and one launch is enough.
__global__ void reduceOneLaunch(const int* data, std::size_t size, int* sums, Count* count) {
    countGrid(count);
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    int sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += threads)
        sum += data[i];
    sum = lab::sumOfBlock(sum);
    if (threadIdx.x > 0) return;
    const unsigned long long own = static_cast<unsigned long long>(sum) << 32 | 1;
    const unsigned long long all = atomicAdd(&sumAndBlocks, own) + own;
    if (static_cast<unsigned>(all) == gridDim.x) {
        *sums = static_cast<int>(all >> 32);
        sumAndBlocks = 0;
    }
}

// CPU reference: the sums of parts of so many elements.
std::vector<int> sumsOfParts(const std::vector<int>& data, std::size_t width) {
    std::vector<int> sums;
    for (std::size_t begin = 0; begin < data.size(); begin += width) {
        const auto end = data.begin() + std::min(begin + width, data.size());
        sums.push_back(std::accumulate(data.begin() + begin, end, 0));
    }
    return sums;
}

// Halvings of `width` elements until one is left.
unsigned steps(unsigned width) {
    return width == 1 ? 0 : 1 + steps((width + 1) / 2);
}

int main(int argc, char** argv) {
    std::size_t size;
    unsigned block;
    lab::Exercise exercise("nestedReduce", "A reduction by kernels that launch themselves.");
    exercise.option("size", &size, {1 << 18, 1 << 12}, 1, lab::kMaxSize, "number of integers");
    exercise.option("block", &block, 512, 1, lab::kMaxBlock,
                    "threads per block, and elements of a part");
    exercise.parse(argc, argv);

    // The first step is that of the grid which the host launches.
    const std::size_t parts = (size - 1) / block + 1, nested = std::max(steps(block), 1u) - 1;
    const std::size_t launches = parts * nested;
    // A quarter more: an H200 gives room back a little after a grid is complete.
    const auto withSlack = [](std::size_t pending) { return pending + pending / 4; };
    if (withSlack(launches) > kMostPendingLaunches) {
        exercise.reject(lab::formatted(
            "--size=%s --block=%u: room for %zu launches by kernels, expected at most %zu",
            lab::withSuffix(size).c_str(), block, withSlack(launches), kMostPendingLaunches));
    }
    exercise.columns(lab::Columns::kLadder,
                     {{"grids", 7, "grids"},
                      {"pending", 7, "pending", lab::OwnColumn::kPredicted},
                      {"us/grid", 8, "us_per_grid", lab::OwnColumn::kOnGpu}},
                     {"block", "percent_peak"});
    exercise.title("%s ints (%s) in parts of %u", lab::withCommas(size).c_str(),
                   lab::inBytes(size * sizeof(int)).c_str(), block);

    // Around zero, so that sums stay small.
    const std::vector<int> input = lab::randomInts(size, exercise.seed(), -100, 100);
    const lab::DeviceBuffer<int> source(input);
    lab::DeviceBuffer<int> work(size);
    lab::DeviceBuffer<int> partial(parts);
    lab::DeviceBuffer<Count> count(1);
    int *const data = work.get(), *const sums = partial.get();

    // Most kernels work in place: every run needs fresh input.
    lab::Ladder ladder(exercise, partial, [&] {
        work.copyFrom(source);
        count.fillBytes(0);
    });
    // A kernel in a grid of so many blocks, whose kernels launch so many grids, of which so many
    // may be pending at a time. It leaves the sums of parts of `width` elements.
    struct Launched {
        std::size_t grids;
    };
    struct Pending {
        std::size_t grids;
    };
    struct Width {
        std::size_t elements;
    };
    const auto rung = [&](const char* name, unsigned grid, unsigned threads, Launched byKernels,
                          Pending atATime, Width width, const lab::Launch& launch) {
        if (!exercise.selected(name)) return;
        const std::size_t launched = byKernels.grids, pending = atATime.grids;
        allowPendingLaunches(std::max(withSlack(pending), kDefaultPendingLaunches));
        const auto check = [&](const lab::Statistics& time) -> lab::Finding {
            const std::vector<int> expected = sumsOfParts(input, width.elements);
            const auto [ran, error] = count.toHost()[0];
            std::string wrong;
            if (error != cudaSuccess)
                wrong = lab::formatted("a launch by a kernel was refused: %s",
                                       cudaGetErrorName(static_cast<cudaError_t>(error)));
            if (wrong.empty()) wrong = lab::mismatch(partial.toHost(expected.size()), expected);
            if (wrong.empty() && ran != 1 + launched)
                wrong = lab::formatted("%u grids ran, expected %zu", ran, 1 + launched);
            lab::Cell each;
            if (launched > 0 && time.count > 0) each = {1e3 * time.median / launched, 3};
            return {wrong, {ran, pending, each}};
        };
        ladder.rung(name, grid, threads, lab::bytes(1.0 * size * sizeof(int)), check, launch);
    };
    const unsigned grid = lab::blocksFor(size, block);
    rung("reduceInterleaved", grid, block, Launched{0}, Pending{0}, Width{block},
         [&] { reduceInterleaved<<<grid, block>>>(data, size, sums, count.get()); });
    // A grid is pending until all that it launched is complete: here to the last step of its part.
    rung("nestedPerBlock", grid, block, Launched{launches}, Pending{launches}, Width{block},
         [&] { nestedPerBlock<<<grid, block>>>(data, size, block, sums, count.get()); });
    // A tail launch begins when its parent is complete, and the next in line when that and its own
    // tail launches are: those of the first grid are pending, and at most one more.
    rung("nestedTail", grid, block, Launched{launches}, Pending{std::min(launches, parts + 1)},
         Width{block}, [&] { nestedTail<<<grid, block>>>(data, size, block, sums, count.get()); });
    rung("nestedOnce", grid, block, Launched{nested}, Pending{std::min<std::size_t>(nested, 2)},
         Width{block},
         [&] { nestedOnce<<<grid, block>>>(data, size, block, block, sums, count.get()); });

    // sumOfBlock() takes whole warps.
    const unsigned wholeWarps = (block + 31) / 32 * 32;
    const unsigned fewer =
        lab::gridStrideBlocks(exercise.device(), size, 4 * wholeWarps, wholeWarps);
    rung("reduceOneLaunch", fewer, wholeWarps, Launched{0}, Pending{0}, Width{size},
         [&] { reduceOneLaunch<<<fewer, wholeWarps>>>(data, size, sums, count.get()); });
    ladder.announceFastest();
    return exercise.finish();
}
