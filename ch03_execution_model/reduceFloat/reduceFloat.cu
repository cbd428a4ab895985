// Sums n floats. Every addition rounds its result, so the sum depends on the order of additions.
// Each kernel below adds in another order and gets another sum. A rounding changes an element's
// share by at most the factor 1 +- 2^-24. So we know beforehand how far a sum can be from the exact
// one.
//
//     sequentialOnHost        adds in a loop on the CPU, with up to n - 1 roundings of an element
//   1 reduceNeighbored        adds neighbours as a tree, with log2(n) roundings
//   2 reduceInterleaved       adds other pairs, with the same number of roundings but another sum
//   3 reduceUnrolling8        first adds 8 elements in each thread, with 4 more roundings
//   4 reduceAtomic            takes one launch and adds in the order in which blocks end
//   5 reduceOneLaunch         takes one launch and adds in the same order in every run
//     cub::DeviceReduce::Sum  calls NVIDIA's library
//
// Each kernel runs many times (--runs). `results` is the number of different sums, `spread` is the
// distance from the smallest to the largest of them, and `sum` is the worst one. `error` and
// `spread` are relative to the exact sum. For kernels 1 to 3, the host adds the sums of the blocks
// as a tree of floats. The measured times do not include this.
//
//   ./lab run reduceFloat -- --size=64M --block=512
//   ./lab run reduceFloat -- --negative=50             (most of the sum cancels)
//   ./lab run reduceFloat -- --size=1M --bits=4        (no addition rounds)
//   ./lab test reduceFloat
//   ./lab profile reduceFloat
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target reduceFloat
//   build/ch03_execution_model/reduceFloat --size=64M --block=512
//   ncu build/ch03_execution_model/reduceFloat --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch03_execution_model/reduceFloat/reduceFloat.cu
//       common/*.cpp common/*.cu -o build/reduceFloat

#include <algorithm>
#include <cstddef>
#include <vector>

#include "../floatSums.cuh"
#include "lab.cuh"
#include "peers_cub.cuh"

// As in reduceInteger, kernels 1 to 3 work in place, and zeros fill the last chunk.

// Each element goes through one addition per level of the tree. In a loop, it goes through one
// addition for each element after it.
__global__ void reduceNeighbored(float* data, float* sums) {
    const unsigned tid = threadIdx.x;
    float* const chunk = data + std::size_t{blockIdx.x} * blockDim.x;

    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0) chunk[tid] += chunk[tid + stride];
        __syncthreads();
    }
    if (tid == 0) sums[blockIdx.x] = chunk[0];
}

// Adds other pairs: the roundings differ, but their number does not. (For integers, only the speed
// changes.) The rung reduceUnrolling8 has kParts = 8: each thread first adds 8 elements one after
// the other, which takes 7 roundings where a tree takes 3.
template <unsigned kParts>
__global__ void reduceInterleaved(float* data, float* sums) {
    const unsigned tid = threadIdx.x;
    float* const chunk = data + std::size_t{blockIdx.x} * blockDim.x * kParts;

    if (kParts > 1) {
        float sum = 0;
#pragma unroll
        for (unsigned part = 0; part < kParts; ++part) sum += chunk[tid + part * blockDim.x];
        chunk[tid] = sum;
        __syncthreads();
    }
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) chunk[tid] += chunk[tid + stride];
        __syncthreads();
    }
    if (tid == 0) sums[blockIdx.x] = chunk[0];
}

// One launch gives the whole sum: each block adds its own sum to *total, which starts at 0. What is
// still wrong: the blocks end in an order that nobody controls, so the last bits of the sum change
// from run to run. (The measured time includes setting *total to 0.)
__global__ void reduceAtomic(const float* data, float* total, std::size_t n) {
    const float sum = lab::sumOfBlock(sumOfThread<float>(data, n));
    if (threadIdx.x == 0) atomicAdd(total, sum);
}

__device__ unsigned blocksDone = 0;  // counts in reduceOneLaunch; it is 0 between two launches

// Each block stores its partial sum at its own place and draws a ticket. The block with the last
// ticket adds all partial sums, always in the same order. It may be another block in each run.
__global__ void reduceOneLaunch(const float* data, float* sums, float* total, std::size_t n) {
    __shared__ bool last;
    const float ofBlock = lab::sumOfBlock(sumOfThread<float>(data, n));
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = ofBlock;
        __threadfence();  // a block that sees this ticket drawn also sees the partial sum
        last = atomicAdd(&blocksDone, 1) == gridDim.x - 1;
        __threadfence();  // the block with the last ticket sees the partial sums of all blocks
    }
    __syncthreads();
    if (!last) return;

    float sum = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += sums[i];
    sum = lab::sumOfBlock(sum);
    if (threadIdx.x == 0) {
        *total = sum;
        blocksDone = 0;
    }
}

// Adds the sums of the blocks on the host. This makes the upper levels of the tree.
float treeSum(std::vector<float> sums) {
    for (std::size_t count = sums.size(), half; count > 1; count = half) {
        half = (count + 1) / 2;
        for (std::size_t i = 0; i + half < count; ++i) sums[i] += sums[i + half];
    }
    return sums[0];
}

int main(int argc, char** argv) {
    std::size_t size, runs;
    unsigned block, negative, bits;
    lab::Exercise exercise("reduceFloat",
                           "Sums floats in several orders, which give different sums.");
    exercise.option("size", &size, {1 << 24, 1 << 17}, 1, lab::kMaxSize, "number of floats");
    exercise.option("block", &block, 512, 32, lab::kMaxBlock, "threads per block",
                    lab::Rule::kPowerOfTwo);
    exercise.option("negative", &negative, 0, 0, 50, "percentage of the floats that are below 0");
    exercise.option("bits", &bits, 24, 1, 24, "binary digits of a float after the point");
    exercise.option("runs", &runs, {100, 5}, 1, 10000, "runs whose sums are compared");
    exercise.parse(argc, argv);
    if (exercise.profile()) runs = 1;

    const std::vector<float> input = randomInput(size, exercise.seed(), negative, bits);
    const SumJudge judge(input, bits);
    const std::size_t longest = std::size_t{8} * block;  // length of the longest chunk
    lab::DeviceBuffer<float> source(lab::blocksFor(size, longest) * longest);
    source.fillBytes(0);
    source.copyFrom(input);
    lab::DeviceBuffer<float> work(source.size());
    lab::DeviceBuffer<float> results(lab::blocksFor(size, block) + std::size_t{1});
    float* const data = work.get();
    float* const sums = results.get();
    exercise.title("%s floats (%s), block %u", lab::withCommas(size).c_str(),
                   lab::inBytes(size * sizeof(float)).c_str(), block);
    exercise.note(judge.describeInput());
    exercise.columns(lab::Columns::kLadder, SumJudge::columns(),
                     {"grid", "block", "percent_peak", "speedup"});

    const lab::Work read = lab::bytes(1.0 * size * sizeof(float));
    // Kernels 1 to 3 work in place, so every run needs fresh input.
    lab::Ladder ladder(exercise, results, [&] { work.copyFrom(source); });
    ladder.host("sequentialOnHost", read, [&] {
        return judge.judge({sequentialOnHost(input)}, judge.bound(1.0 * (size - 1)), kSameSum);
    });

    // Checks a sum that may be wrong by this many roundings of each element.
    const auto within = [&](double roundings, Repeated repeated, auto sum) {
        return judge.ofRuns(ladder, runs, judge.bound(roundings), repeated, sum);
    };
    const auto treeOf = [&](unsigned grid) {
        return [&results, grid] { return treeSum(results.toHost(grid)); };
    };
    const auto firstOfResults = [&] { return results.toHost(1)[0]; };

    const unsigned blocks = lab::blocksFor(size, block);
    const double ofTree = log2Of(block) + log2Of(blocks);
    ladder.rung("reduceNeighbored", blocks, block, read, within(ofTree, kSameSum, treeOf(blocks)),
                [&] { reduceNeighbored<<<blocks, block>>>(data, sums); });
    ladder.rung("reduceInterleaved", blocks, block, read, within(ofTree, kSameSum, treeOf(blocks)),
                [&] { reduceInterleaved<1><<<blocks, block>>>(data, sums); });

    const unsigned eighth = lab::blocksFor(size, std::size_t{8} * block);
    const double unrolled = 7 + log2Of(block) + log2Of(eighth);
    ladder.rung("reduceUnrolling8", eighth, block, read, within(unrolled, kSameSum, treeOf(eighth)),
                [&] { reduceInterleaved<8><<<eighth, block>>>(data, sums); });

    const std::size_t tile = elementsOfTile(block);
    const unsigned many = lab::gridStrideBlocks(exercise.device(), size, tile, block);
    const double inAnyOrder = roundingsOfBlock(size, many, block) + many;
    ladder.rung("reduceAtomic", many, block, read, within(inAnyOrder, kAnySum, firstOfResults),
                [&] {
                    CUDA_CHECK(cudaMemsetAsync(sums, 0, sizeof(float)));
                    reduceAtomic<<<many, block>>>(source.get(), sums, size);
                });

    // The fences of reduceOneLaunch make every block wait at its end. So the grid has no more
    // blocks than the GPU can hold at once.
    const unsigned few =
        std::min(lab::blocksFor(size, tile), exercise.device().residentBlocks(block));
    const double inTurn =
        roundingsOfBlock(size, few, block) + lab::blocksFor(few, block) + log2Of(block);
    ladder.rung("reduceOneLaunch", few, block, read, within(inTurn, kSameSum, firstOfResults),
                [&] { reduceOneLaunch<<<few, block>>>(source.get(), sums + 1, sums, size); });
    lab::cubSum(ladder, within(inTurn, kSameSum, firstOfResults), source.get(), sums, size);
    return exercise.finish();
}
