// Sums n floats and keeps the sum in a float, in two floats, or in a double. A float rounds at
// every addition. The second of two floats collects what rounding takes away from the first.
//
//     sequentialOnHost          adds floats in a CPU loop, with up to n - 1 roundings of an element
//     compensatedOnHost         adds each loss of this loop to the next element (Kahan)
//   1 reducePlain               keeps a float in each thread
//   2 reduceCompensated         keeps a float and its rest in each thread
//   3 reduceCompensatedShuffle  adds these with shuffles in place of the tree in shared memory
//   4 reduceDouble              keeps a double in each thread
//     cub::DeviceReduce::Sum    calls NVIDIA's library, which adds floats
//
// In all kernels a thread adds the same elements in the same order. Each block leaves one sum, and
// the host adds these sums. The measured times do not include this. Each kernel runs many times
// (--runs). `results` is the number of different sums, `spread` is the distance from the smallest
// to the largest of them, and `sum` is the worst one. `error` and `spread` are relative to the
// exact sum.
//
//   ./lab run compensatedSum -- --size=64M --block=512
//   ./lab run compensatedSum -- --negative=50          (most of the sum cancels)
//   ./lab test compensatedSum
//   ./lab profile compensatedSum
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target compensatedSum
//   build/ch03_execution_model/compensatedSum --size=64M --block=512
//   ncu build/ch03_execution_model/compensatedSum --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch03_execution_model/compensatedSum/compensatedSum.cu
//       common/*.cpp common/*.cu -o build/compensatedSum

#include <cstddef>
#include <vector>

#include "../floatSums.cuh"
#include "lab.cuh"
#include "peers_cub.cuh"

// Holds a sum and its rest, which collects what rounding took away from `sum`. The pair stands for
// sum + rest.
struct Compensated {
    float sum, rest;
};

// Computes what the addition loses, which is a float itself (Kahan's idea, in Knuth's form). `ofB`
// is the part of b that is in `sum`, and `ofA` is the part of a that is in it. To algebra, `lost`
// is 0. A compiler that may reorder additions of floats (g++ -ffast-math) removes it. nvcc never
// reorders them.
__host__ __device__ Compensated operator+(Compensated a, Compensated b) {
    const float sum = a.sum + b.sum;
    const float ofB = sum - a.sum, ofA = sum - ofB;
    const float lost = (a.sum - ofA) + (b.sum - ofB);
    return {sum, a.rest + b.rest + lost};
}

// Adds one element, with eight operations in place of one. They cost little while memory is slower.
__device__ void operator+=(Compensated& sum, float x) {
    sum = sum + Compensated{x, 0};
}

// Returns the final float. Only this addition of sum and rest, or this conversion, rounds to 24
// bits.
float rounded(Compensated sum) {
    return sum.sum + sum.rest;
}
float rounded(float sum) {
    return sum;
}
float rounded(double sum) {
    return static_cast<float>(sum);
}

// Adds the sums of the threads as a tree in shared memory, which can hold any type.
template <typename Sum>
__device__ void reduceInto(Sum* sums, const float* data, std::size_t n) {
    __shared__ Sum tree[lab::kMaxBlock];
    const unsigned tid = threadIdx.x;
    Sum sum = sumOfThread<Sum>(data, n);
    tree[tid] = sum;
    __syncthreads();
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) {
            const Sum other = tree[tid + stride];
            sum = sum + other;
            tree[tid] = sum;
        }
        __syncthreads();
    }
    if (tid == 0) sums[blockIdx.x] = sum;
}

// Every addition may lose up to 2^-24 of the sum so far.
__global__ void reducePlain(const float* data, float* sums, std::size_t n) {
    reduceInto(sums, data, n);
}

// Loses only one rounding, when sum and rest become one float at the end. What is still wrong: the
// tree has a barrier at each level, and reads and writes two floats there.
__global__ void reduceCompensated(const float* data, Compensated* sums, std::size_t n) {
    reduceInto(sums, data, n);
}

// Keeps the tree of each warp in registers. A shuffle moves one number to another lane, so a sum
// and its rest take two shuffles. Only the sums of the warps go through shared memory, with one
// barrier.
__global__ void reduceCompensatedShuffle(const float* data, Compensated* sums, std::size_t n) {
    __shared__ Compensated ofWarps[32];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    Compensated sum = sumOfThread<Compensated>(data, n);
    for (unsigned offset = 16; offset > 0; offset /= 2) {
        const float otherSum = __shfl_down_sync(lab::kAllLanes, sum.sum, offset);
        const float otherRest = __shfl_down_sync(lab::kAllLanes, sum.rest, offset);
        sum = sum + Compensated{otherSum, otherRest};
    }
    if (lane == 0) ofWarps[warp] = sum;
    __syncthreads();
    if (warp > 0) return;

    sum = lane < blockDim.x / 32 ? ofWarps[lane] : Compensated{0, 0};
    for (unsigned offset = 16; offset > 0; offset /= 2) {
        const float otherSum = __shfl_down_sync(lab::kAllLanes, sum.sum, offset);
        const float otherRest = __shfl_down_sync(lab::kAllLanes, sum.rest, offset);
        sum = sum + Compensated{otherSum, otherRest};
    }
    if (lane == 0) sums[blockIdx.x] = sum;
}

// A double is as exact, with 53 bits instead of 24. The kernel loads the same 4 bytes for each
// element. An addition is one operation, but most GPUs have few units for it. A multiprocessor of
// an H100 or H200 has 64 units, and a multiprocessor of a graphics GPU has 2 (CUDA C++ Best
// Practices Guide, table "Throughput of Native Arithmetic Instructions").
__global__ void reduceDouble(const float* data, double* sums, std::size_t n) {
    reduceInto(sums, data, n);
}

// Kahan summation as in textbooks: the loop adds what one addition loses to the next element. You
// cannot add two such sums like this, so the kernels keep the rest beside the sum.
float compensatedOnHost(const std::vector<float>& values) {
    float sum = 0, rest = 0;
    for (const float value : values) {
        const float x = value + rest;
        const float next = sum + x;
        rest = x - (next - sum);
        sum = next;
    }
    return sum;
}

int main(int argc, char** argv) {
    std::size_t size, runs;
    unsigned block, negative, bits;
    lab::Exercise exercise(
        "compensatedSum",
        "Sums floats, and keeps the sum in a float, in two floats, or in a double.");
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
    const unsigned grid =
        lab::gridStrideBlocks(exercise.device(), size, elementsOfTile(block), block);
    const lab::DeviceBuffer<float> source(input);
    lab::DeviceBuffer<float> floats(grid);
    lab::DeviceBuffer<Compensated> pairs(grid);
    lab::DeviceBuffer<double> doubles(grid);
    const float* const data = source.get();
    exercise.title("%s floats (%s), block %u", lab::withCommas(size).c_str(),
                   lab::inBytes(source.bytes()).c_str(), block);
    exercise.note(judge.describeInput());
    exercise.columns(lab::Columns::kLadder, SumJudge::columns(),
                     {"grid", "block", "percent_peak", "speedup"});

    const lab::Work read = lab::bytes(source.bytes());
    const double inLoop = 1.0 * (size - 1), inBlocks = roundingsOfBlock(size, grid, block) + grid;
    lab::Ladder ladder(exercise, floats, [&] {  // fills the other outputs with NaNs, too
        pairs.fillBytes(lab::poisonByte<float>());
        doubles.fillBytes(lab::poisonByte<double>());
    });
    ladder.host("sequentialOnHost", read, [&] {
        return judge.judge({sequentialOnHost(input)}, judge.bound(inLoop), kSameSum);
    });
    ladder.host("compensatedOnHost", read, [&] {
        return judge.judge({compensatedOnHost(input)}, judge.boundOfKahan(), kSameSum);
    });

    const auto within = [&](double allowed, auto sum) {
        return judge.ofRuns(ladder, runs, allowed, kSameSum, sum);
    };
    // Adds the sums of the blocks, in the arithmetic of the kernel.
    const auto sumOf = [](const auto& buffer) {
        return [&buffer] {
            const auto sums = buffer.toHost();
            auto all = sums[0];
            for (std::size_t i = 1; i < sums.size(); ++i) all = all + sums[i];
            return rounded(all);
        };
    };
    const double exactly = judge.boundCompensated(inBlocks);
    ladder.rung("reducePlain", grid, block, read, within(judge.bound(inBlocks), sumOf(floats)),
                [&] { reducePlain<<<grid, block>>>(data, floats.get(), size); });
    ladder.rung("reduceCompensated", grid, block, read, within(exactly, sumOf(pairs)),
                [&] { reduceCompensated<<<grid, block>>>(data, pairs.get(), size); });
    ladder.rung("reduceCompensatedShuffle", grid, block, read, within(exactly, sumOf(pairs)),
                [&] { reduceCompensatedShuffle<<<grid, block>>>(data, pairs.get(), size); });
    ladder.rung("reduceDouble", grid, block, read, within(exactly, sumOf(doubles)),
                [&] { reduceDouble<<<grid, block>>>(data, doubles.get(), size); });
    const auto firstOfFloats = [&] { return floats.toHost(1)[0]; };
    lab::cubSum(ladder, within(judge.bound(inBlocks), firstOfFloats), data, floats.get(), size);
    return exercise.finish();
}
