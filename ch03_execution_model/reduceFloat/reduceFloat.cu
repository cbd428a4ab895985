// Sums n floats. Every addition rounds, so that a sum depends on the order of its additions: each
// kernel gets another result, and none is the exact one. How far off it can be is known beforehand:
// each rounding that an element goes through changes its share by at most the factor 1 +- 2^-24.
//
//     sequentialOnHost        one loop, as on a CPU: up to n - 1 roundings
//   1 reduceNeighbored        a tree of pairs: log2(n) roundings
//   2 reduceInterleaved       another tree: as deep and as good, but not the same result
//   3 reduceUnrolling8        a thread first adds 8 elements: 4 roundings more
//   4 reduceAtomic            in one launch; in the order in which the blocks end, which is another
//                             one at each run
//   5 reduceOneLaunch         in the same order at each run
//     cub::DeviceReduce::Sum  what NVIDIA's library makes of it
//
// `results` says how many different sums the runs gave, `spread` how far the largest is from the
// smallest, and `sum` is the worst of them; `error` and `spread` are relative to the exact sum. Of
// kernels 1, 2 and 3 the host adds the blocks' sums up untimed, in float too, as a tree.
//
//   ./lab run reduceFloat -- --size=64M --block=512
//   ./lab run reduceFloat -- --negative=50             (most of the sum cancels)
//   ./lab run reduceFloat -- --size=1M --bits=4        (nothing is rounded)
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

// Kernels 1 to 3: as in reduceInteger, zeros fill the last chunk.

// An element goes through one addition for each level of the tree, and not through one for each
// element that follows it.
__global__ void reduceNeighbored(float* data, float* sums) {
    const unsigned tid = threadIdx.x;
    float* const chunk = data + std::size_t{blockIdx.x} * blockDim.x;

    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0) chunk[tid] += chunk[tid + stride];
        __syncthreads();
    }
    if (tid == 0) sums[blockIdx.x] = chunk[0];
}

// Other pairs, other roundings, the same bound. (For integers, this changes nothing but the speed.)
// As reduceUnrolling8, a thread first adds 8 elements, one after the other: 7 roundings, where a
// tree has 3.
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

// No partial sums are left: each block adds its own to *total, which begins as 0. Wrong: the blocks
// end in an order that nobody controls, and the last bits of the sum change from run to run. (The
// time of this row includes setting the 0.)
__global__ void reduceAtomic(const float* data, float* total, std::size_t n) {
    const float sum = lab::sumOfBlock(sumOfThread<float>(data, n));
    if (threadIdx.x == 0) atomicAdd(total, sum);
}

__device__ unsigned blocksDone = 0;  // of reduceOneLaunch; 0 between two launches

// Each block leaves its partial sum and draws a ticket. Whoever draws the last one, which may be
// any block, adds up all partial sums, and always in the same order.
__global__ void reduceOneLaunch(const float* data, float* sums, float* total, std::size_t n) {
    __shared__ bool last;
    const float ofBlock = lab::sumOfBlock(sumOfThread<float>(data, n));
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = ofBlock;
        __threadfence();  // whoever sees the ticket drawn sees the partial sum
        last = atomicAdd(&blocksDone, 1) == gridDim.x - 1;
        __threadfence();  // whoever has drawn the last one sees the partial sums of all
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

// The rest of the tree, on the host.
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
    lab::Exercise exercise("reduceFloat", "Floating-point sums, which depend on the order.");
    exercise.option("size", &size, {1 << 24, 1 << 17}, 1, lab::kMaxSize, "number of floats");
    exercise.option("block", &block, 512, 32, lab::kMaxBlock, "threads per block",
                    lab::Rule::kPowerOfTwo);
    exercise.option("negative", &negative, 0, 0, 50, "percentage of the floats that are below 0");
    exercise.option("bits", &bits, 24, 1, 24, "binary digits of a float behind the point");
    exercise.option("runs", &runs, {100, 5}, 1, 10000, "runs whose sums are compared");
    exercise.parse(argc, argv);
    if (exercise.profile()) runs = 1;

    const std::vector<float> input = randomInput(size, exercise.seed(), negative, bits);
    const SumJudge judge(input, bits);
    const std::size_t longest = std::size_t{8} * block;  // chunk
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
    // Some kernels work in place: every run needs fresh input.
    lab::Ladder ladder(exercise, results, [&] { work.copyFrom(source); });
    ladder.host("sequentialOnHost", read, [&] {
        return judge.judge({sequentialOnHost(input)}, judge.bound(1.0 * (size - 1)), kSameSum);
    });

    // A sum that may be off by so many roundings of an element.
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

    // Its fences make every block wait at its end, which many blocks would do in turn.
    const unsigned few =
        std::min(lab::blocksFor(size, tile), exercise.device().residentBlocks(block));
    const double inTurn =
        roundingsOfBlock(size, few, block) + lab::blocksFor(few, block) + log2Of(block);
    ladder.rung("reduceOneLaunch", few, block, read, within(inTurn, kSameSum, firstOfResults),
                [&] { reduceOneLaunch<<<few, block>>>(source.get(), sums + 1, sums, size); });
    lab::cubSum(ladder, within(inTurn, kSameSum, firstOfResults), source.get(), sums, size);
    return exercise.finish();
}
