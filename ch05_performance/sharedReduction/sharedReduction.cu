// Sums n integers. A block copies its part of the array into shared memory and adds it up there in
// a tree, in steps: half of the numbers are left by the first, a quarter by the second. Which
// thread adds which pair decides how many warps have work, and how many turns their accesses take.
//
//   1 neighbored   neighbours are added, every other thread drops out: all warps split
//   2 consecutive  the same pairs by threads 0, 1, 2 ...: whole warps drop out, but addresses lie
//                  2 * stride apart: bank conflicts
//   3 sequential   pairs half of what is left apart: consecutive threads and consecutive words
//   4 firstAdd2,   a thread first adds 2 or 8 elements in a register: as many times fewer trees
//     firstAdd8
//   5 lastWarp     the last five steps in registers, by shuffles: no barriers
//   6 wideLoads    16 bytes a load, registers first, then a tree of shuffles in each warp: one word
//                  of shared memory for a warp
//     cub::DeviceReduce::Sum  what NVIDIA's library makes of it
//
// Each block adds its sum to the result by one atomic operation: all rungs leave the whole sum.
// Then come the first three trees step by step, each step a launch of one block, not timed.
//
//   step    of the tree; without a number: all steps together. Of a block, predicted
//           (treePasses.h):
//   warps   that add
//   passes  of all warps: one for each, two where some of its lanes add and others do not
//   turns   that shared memory takes for the additions, two loads and a store each
//
// The CSV also has what a profiler must count of the launch: split, the divergent branches of a
// step, load_wavefronts and store_wavefronts.
//
//   ./lab run sharedReduction -- --size=256M --block=512
//   ./lab test sharedReduction
//   ./lab profile sharedReduction
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target sharedReduction
//   build/ch05_performance/sharedReduction --size=256M --block=512
//   ncu build/ch05_performance/sharedReduction --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch05_performance/sharedReduction/sharedReduction.cu
//       common/*.cpp common/*.cu -o build/sharedReduction

#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "lab.cuh"
#include "peers_cub.cuh"
#include "treePasses.h"

// One step of each tree. The results of the steps before lie `stride` words apart, or, in the last
// of the three, in the first 2 * stride words.

// Still wrong: the threads that add are spread over all warps, so that each of them issues the
// addition for a few of its lanes. (And % is slow where the compiler knows no divisor.)
struct Neighbored {
    static __device__ void add(int* tree, unsigned stride) {
        const unsigned t = threadIdx.x;
        if (t % (2 * stride) == 0) tree[t] += tree[t + stride];
    }
};

// Fewer warps. Still wrong: they touch the same words, which lie in fewer and fewer banks.
struct Consecutive {
    static __device__ void add(int* tree, unsigned stride) {
        const unsigned i = 2 * stride * threadIdx.x;
        if (i < blockDim.x) tree[i] += tree[i + stride];
    }
};

// Other pairs: what is left lies side by side, in all banks. Fewer warps and fewer turns.
struct Sequential {
    static __device__ void add(int* tree, unsigned stride) {
        const unsigned t = threadIdx.x;
        if (t < stride) tree[t] += tree[t + stride];
    }
};

// A block's part of the array is kParts times as long as the block: the sum of this thread's
// element of each, in a register. Beyond the end of the array there are zeros, which add nothing.
template <unsigned kParts>
__device__ int sumOfParts(const int* data, std::size_t n) {
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * kParts + threadIdx.x;
    int sum = 0;
#pragma unroll  // the loads do not wait for one another
    for (unsigned part = 0; part < kParts; ++part) {
        const std::size_t i = first + part * blockDim.x;
        sum += i < n ? data[i] : 0;
    }
    return sum;
}

__global__ void neighbored(const int* data, std::size_t n, int* sum) {
    __shared__ int tree[lab::kMaxBlock];
    tree[threadIdx.x] = sumOfParts<1>(data, n);
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        __syncthreads();  // all threads: also those that add nothing any more
        Neighbored::add(tree, stride);
    }
    if (threadIdx.x == 0) atomicAdd(sum, tree[0]);  // thread 0 itself has written it
}

__global__ void consecutive(const int* data, std::size_t n, int* sum) {
    __shared__ int tree[lab::kMaxBlock];
    tree[threadIdx.x] = sumOfParts<1>(data, n);
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        __syncthreads();
        Consecutive::add(tree, stride);
    }
    if (threadIdx.x == 0) atomicAdd(sum, tree[0]);
}

// As textbooks have it in the end. Still wrong: a tree for each element of a thread, and half of
// the threads are done when they have loaded theirs.
__global__ void sequential(const int* data, std::size_t n, int* sum) {
    __shared__ int tree[lab::kMaxBlock];
    tree[threadIdx.x] = sumOfParts<1>(data, n);
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        __syncthreads();
        Sequential::add(tree, stride);
    }
    if (threadIdx.x == 0) atomicAdd(sum, tree[0]);
}

// The same tree for kParts times as many elements, and kParts loads in flight in each thread. Still
// wrong: the last steps are the work of a single warp, and yet the block stops at a barrier before
// each.
template <unsigned kParts>
__global__ void firstAdd(const int* data, std::size_t n, int* sum) {
    __shared__ int tree[lab::kMaxBlock];
    tree[threadIdx.x] = sumOfParts<kParts>(data, n);
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        __syncthreads();
        Sequential::add(tree, stride);
    }
    if (threadIdx.x == 0) atomicAdd(sum, tree[0]);
}

// What is left when there are as many sums as lanes goes from register to register. (Thread t < 32
// itself has written tree[t]: no barrier.) Still wrong: the steps before still have barriers, and
// a block reads its part and is gone: the next one starts with nothing in flight.
__global__ void lastWarp(const int* data, std::size_t n, int* sum) {
    __shared__ int tree[lab::kMaxBlock];
    const unsigned t = threadIdx.x;
    tree[t] = sumOfParts<8>(data, n);
    for (unsigned stride = blockDim.x / 2; stride >= tree::kWarp; stride /= 2) {
        __syncthreads();
        Sequential::add(tree, stride);
    }
    if (t < tree::kWarp) {
        const int all = lab::sumOfWarp(tree[t]);  // common/warp_sum.cuh
        if (t == 0) atomicAdd(sum, all);
    }
}

constexpr unsigned kLoads = 4;  // of 16 bytes, in flight in each thread of wideLoads

// The blocks walk over the array together, whatever its size and theirs (a grid-stride loop), and
// add in registers, which takes no other thread. Then there is one tree for a warp, of shuffles,
// and one for the block, of as many words of shared memory as it has warps: a single barrier
// (lab::sumOfBlock() in common/warp_sum.cuh).
__global__ void wideLoads(const int* data, std::size_t n, int* sum) {
    const int4* const vectors = reinterpret_cast<const int4*>(data);  // aligned by cudaMalloc()
    const std::size_t count = n / 4, tile = std::size_t{kLoads} * blockDim.x;
    int own = 0;
    std::size_t first = blockIdx.x * tile;
    for (; first + tile <= count; first += gridDim.x * tile) {
        int4 v[kLoads];
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) v[k] = vectors[first + k * blockDim.x + threadIdx.x];
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) own += v[k].x + v[k].y + v[k].z + v[k].w;
    }
    // The array ends in the turn of one block; the others are beyond the end.
    for (std::size_t i = 4 * first + threadIdx.x; i < n; i += blockDim.x) own += data[i];

    const int ofBlock = lab::sumOfBlock(own);
    if (threadIdx.x == 0) atomicAdd(sum, ofBlock);
}

// One step of a tree alone, of `words` as the steps before have left them.
template <typename Step>
__global__ void oneStep(const int* words, unsigned stride, int* result) {
    __shared__ int tree[lab::kMaxBlock];
    tree[threadIdx.x] = words[threadIdx.x];
    __syncthreads();
    Step::add(tree, stride);
    __syncthreads();
    result[threadIdx.x] = tree[threadIdx.x];
}

// CPU reference of oneStep.
std::vector<int> afterStep(std::vector<int> words, tree::Shape shape, unsigned stride) {
    const bool dense = shape == tree::Shape::kSequential;
    const std::size_t gap = dense ? 1 : 2 * stride, end = dense ? stride : words.size() - stride;
    for (std::size_t i = 0; i < end; i += gap) words[i] += words[i + stride];
    return words;
}

int main(int argc, char** argv) {
    std::size_t size;
    unsigned block;
    lab::Exercise exercise("sharedReduction",
                           "Sums integers by trees of different shapes in shared memory.");
    exercise.option("size", &size, {1 << 26, 1 << 18}, 1, lab::kMaxSize, "number of integers");
    exercise.option("block", &block, 1024, 32, lab::kMaxBlock, "threads per block",
                    lab::Rule::kPowerOfTwo);
    exercise.parse(argc, argv);
    constexpr auto kPredicted = lab::OwnColumn::kPredicted;
    exercise.columns(lab::Columns::kLadder,
                     {{"step", 4, "step"},
                      {"warps", 5, "warps", kPredicted},
                      {"passes", 6, "passes", kPredicted},
                      {"turns", 5, "turns", kPredicted},
                      {"", 0, "split"},
                      {"", 0, "load_wavefronts"},
                      {"", 0, "store_wavefronts"}},
                     {"grid", "block", "percent_peak"});

    // Around zero, so that sums stay small: an int holds the sum of as many as fit into memory.
    const std::vector<int> input = lab::randomInts(size, exercise.seed(), -100, 100);
    const lab::DeviceBuffer<int> source(input);
    lab::DeviceBuffer<int> result(1);
    const int* const data = source.get();
    int* const sum = result.get();
    exercise.title("%s ints (%s), block %u", lab::withCommas(size).c_str(),
                   lab::inBytes(size * sizeof(int)).c_str(), block);

    const unsigned warps = block / tree::kWarp, steps = tree::steps(block);
    const lab::Work read = lab::bytes(1.0 * size * sizeof(int));
    const std::vector<int> expected = {std::accumulate(input.begin(), input.end(), 0)};
    const auto isTheSum = [&] { return lab::mismatch(result.toHost(), expected); };
    // The blocks add to the result: before each run it is 0.
    lab::Ladder ladder(exercise, result, [&] { result.fillBytes(0); });

    // A tree for each block, of `parts` elements of each thread; its last step is `last`.
    struct Parts {
        unsigned count;
    };
    struct LastStep {
        unsigned number;
    };
    const auto rung = [&](const char* name, tree::Shape shape, Parts parts, LastStep last,
                          auto kernel) {
        const std::size_t grid = lab::blocksFor(size, std::size_t{parts.count} * block);
        const auto check = [&]() -> lab::Finding {
            const tree::Cost cost = tree::costOfTree(shape, block, last.number);
            // A warp stores its numbers first; in the end one of them loads.
            return {isTheSum(),
                    {lab::Cell(), cost.warps, cost.passes, cost.turns(), cost.split,
                     grid * (cost.loads + 1), grid * (cost.stores + warps)}};
        };
        ladder.rung(name, grid, block, read, check,
                    [&] { kernel<<<grid, block>>>(data, size, sum); });
    };
    using tree::Shape;
    rung("neighbored", Shape::kNeighbored, Parts{1}, LastStep{steps}, neighbored);
    rung("consecutive", Shape::kConsecutive, Parts{1}, LastStep{steps}, consecutive);
    rung("sequential", Shape::kSequential, Parts{1}, LastStep{steps}, sequential);
    rung("firstAdd2", Shape::kSequential, Parts{2}, LastStep{steps}, firstAdd<2>);
    rung("firstAdd8", Shape::kSequential, Parts{8}, LastStep{steps}, firstAdd<8>);
    rung("lastWarp", Shape::kSequential, Parts{8}, LastStep{steps - tree::steps(tree::kWarp)},
         lastWarp);

    const std::size_t tile = std::size_t{4 * kLoads} * block;  // that a block reads at a time
    const std::size_t grid = lab::gridStrideBlocks(exercise.device(), size, tile, block);
    const auto wideCheck = [&]() -> lab::Finding {  // a word stored for each warp, one load of all
        const lab::Cell none;
        return {isTheSum(), {none, none, none, none, none, grid, grid * warps}};
    };
    ladder.rung("wideLoads", grid, block, read, wideCheck,
                [&] { wideLoads<<<grid, block>>>(data, size, sum); });
    lab::cubSum(ladder, isTheSum, data, sum, size);

    lab::DeviceBuffer<int> words(block), after(block);
    const auto eachStep = [&](const char* name, Shape shape, auto kernel) {
        if (!exercise.selected(name)) return;
        std::vector<int> numbers = lab::randomInts(block, exercise.seed() + 1, -100, 100);
        for (unsigned step = 1; step <= steps; ++step) {
            const unsigned stride = tree::strideOf(shape, block, step);
            words.copyFrom(numbers);
            after.fillBytes(lab::poisonByte<int>());
            lab::Measure::once(name, {},
                               [&] { kernel<<<1, block>>>(words.get(), stride, after.get()); });
            numbers = afterStep(numbers, shape, stride);
            const tree::Cost cost = tree::costOfStep(shape, block, step);
            lab::Row row;
            row.kernel = name;
            row.parameters = exercise.parameters() + " step=" + std::to_string(step);
            // Each warp stores its words before the step, and loads them behind it.
            row.finding = {lab::mismatch(after.toHost(), numbers),
                           {step, cost.warps, cost.passes, cost.turns(), cost.split,
                            cost.loads + warps, cost.stores + warps}};
            exercise.row(row);
        }
    };
    eachStep("neighboredStep", Shape::kNeighbored, oneStep<Neighbored>);
    eachStep("consecutiveStep", Shape::kConsecutive, oneStep<Consecutive>);
    eachStep("sequentialStep", Shape::kSequential, oneStep<Sequential>);
    ladder.announceFastest();
    return exercise.finish();
}
