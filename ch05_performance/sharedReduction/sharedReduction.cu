// Sums n integers. Each block copies its part of the array into shared memory and adds it up there
// in a tree: after the first step half of the numbers are left, after the second step a quarter.
// Which thread adds which pair decides how many warps work in a step, and how many wavefronts of
// shared memory their loads and stores take.
//
//   1 neighbored   adds neighbours, and every second thread drops out: all warps split
//   2 consecutive  the same pairs by threads 0, 1, 2 ...: whole warps drop out, but the words lie
//                  2 * stride apart: bank conflicts
//   3 sequential   adds words half of the rest apart: consecutive threads and consecutive words
//   4 firstAdd2,   each thread first adds 2 or 8 elements in a register: fewer trees
//     firstAdd8
//   5 lastWarp     the last five steps in registers, by shuffles: no barriers
//   6 wideLoads    loads of 16 bytes, sums in registers, then a tree of shuffles in each warp: one
//                  word of shared memory for each warp
//     cub::DeviceReduce::Sum  the sum of NVIDIA's library CUB
//
// Each block adds its sum to the result with one atomic operation, so every rung computes the whole
// sum. Behind the rungs come the first three trees step by step. Each step is a launch of a single
// block, and is not timed.
//
// These columns describe the tree of one block, as treePasses.h predicts it:
//
//   step        number of the step; a row without a number is for all steps together
//   warps       warps with at least one lane that adds
//   passes      a warp takes one pass through a step, or two if some of its lanes add and others do
//               not
//   wavefronts  wavefronts of shared memory for the additions, each with two loads and a store
//
// The CSV also has what a profiler must count for the launch: the divergent branches of a step
// (split), load_wavefronts and store_wavefronts.
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

// One step of each tree. In the first two trees, the sums so far lie `stride` words apart. In the
// third tree, they fill the first 2 * stride words.

// Still wrong: the threads that add are spread over all warps, so each warp executes the addition
// for a few of its lanes. (And % is slow if the compiler does not know the divisor.)
struct Neighbored {
    static __device__ void add(int* tree, unsigned stride) {
        const unsigned t = threadIdx.x;
        if (t % (2 * stride) == 0) tree[t] += tree[t + stride];
    }
};

// Fewer warps work. Still wrong: they touch the same words, which lie in fewer and fewer banks.
struct Consecutive {
    static __device__ void add(int* tree, unsigned stride) {
        const unsigned i = 2 * stride * threadIdx.x;
        if (i < blockDim.x) tree[i] += tree[i + stride];
    }
};

// Adds other pairs, so that the sums lie side by side, in all banks: fewer warps, fewer wavefronts.
struct Sequential {
    static __device__ void add(int* tree, unsigned stride) {
        const unsigned t = threadIdx.x;
        if (t < stride) tree[t] += tree[t + stride];
    }
};

// The part of a block is kParts times as long as the block. Returns the sum of this thread's
// kParts elements. Elements beyond the end of the array count as zeros.
template <unsigned kParts>
__device__ int sumOfParts(const int* data, std::size_t n) {
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * kParts + threadIdx.x;
    int sum = 0;
#pragma unroll  // the loads do not wait for each other
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
        __syncthreads();  // all threads of the block, also those that no longer add
        Neighbored::add(tree, stride);
    }
    if (threadIdx.x == 0) atomicAdd(sum, tree[0]);  // thread 0 has written it itself
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

// The last version of many textbooks. Still wrong: half of the threads only load one element and
// never add anything.
__global__ void sequential(const int* data, std::size_t n, int* sum) {
    __shared__ int tree[lab::kMaxBlock];
    tree[threadIdx.x] = sumOfParts<1>(data, n);
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        __syncthreads();
        Sequential::add(tree, stride);
    }
    if (threadIdx.x == 0) atomicAdd(sum, tree[0]);
}

// The same tree for kParts times as many elements, with kParts loads in flight in each thread.
// Still wrong: in the last steps only one warp adds, and yet the whole block waits at a barrier
// before each of them.
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

// When 32 sums are left, one warp adds them up with shuffles. (Thread t < 32 has written tree[t]
// itself, so it needs no barrier.) Still wrong: the steps before have barriers, and while a block
// adds up its tree, it has no loads in flight.
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

constexpr unsigned kLoads = 4;  // loads of 16 bytes in flight in each thread of wideLoads

// The blocks walk over the array in a grid-stride loop, and each thread adds in a register, without
// the other threads. Then each warp adds up its registers with shuffles and stores its sum to
// shared memory, and one warp adds up these sums. That takes a single barrier (lab::sumOfBlock() in
// common/warp_sum.cuh).
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
    // One block stops before the last, incomplete tile. All others are beyond the end.
    for (std::size_t i = 4 * first + threadIdx.x; i < n; i += blockDim.x) own += data[i];

    const int ofBlock = lab::sumOfBlock(own);
    if (threadIdx.x == 0) atomicAdd(sum, ofBlock);
}

// A single step of a tree. `words` holds what the steps before have left.
template <typename Step>
__global__ void oneStep(const int* words, unsigned stride, int* result) {
    __shared__ int tree[lab::kMaxBlock];
    tree[threadIdx.x] = words[threadIdx.x];
    __syncthreads();
    Step::add(tree, stride);
    __syncthreads();
    result[threadIdx.x] = tree[threadIdx.x];
}

// The CPU reference of oneStep.
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
                      {"wavefronts", 10, "wavefronts", kPredicted},
                      {"", 0, "split"},
                      {"", 0, "load_wavefronts"},
                      {"", 0, "store_wavefronts"}},
                     {"grid", "block", "percent_peak", "speedup"});

    // The numbers lie around zero, so an int can hold the sum of any array that fits into memory.
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
    // The blocks add to the result, so it must be 0 before each run.
    lab::Ladder ladder(exercise, result, [&] { result.fillBytes(0); });

    // Each thread adds `parts` elements before the tree of its block begins. `last` is the last
    // step of the tree.
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
            // Each warp stores its numbers before the tree, and one warp loads the sum after it.
            return {isTheSum(),
                    {lab::Cell(), cost.warps, cost.passes, cost.wavefronts(), cost.split,
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

    const std::size_t tile = std::size_t{4 * kLoads} * block;  // elements for each iteration
    const std::size_t grid = lab::gridStrideBlocks(exercise.device(), size, tile, block);
    // Each warp stores one word, and one warp loads them all.
    const auto wideCheck = [&]() -> lab::Finding {
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
            // Each warp stores its words before the step and loads them after it.
            row.finding = {lab::mismatch(after.toHost(), numbers),
                           {step, cost.warps, cost.passes, cost.wavefronts(), cost.split,
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
