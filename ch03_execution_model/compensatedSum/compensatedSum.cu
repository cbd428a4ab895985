// Sums n floats, and keeps the sum in three ways: in a float, which rounds at every addition; in
// two floats, of which the second collects what rounding takes away from the first; in a double.
//
//     sequentialOnHost        one loop, as on a CPU: up to n - 1 roundings
//     compensatedOnHost       the same loop, in which the next element makes up for what was lost
//   1 reducePlain             a float in each thread
//   2 reduceCompensated       a float and its rest in each thread (Kahan summation)
//   3 reduceDouble            a double in each thread
//     cub::DeviceReduce::Sum  what NVIDIA's library makes of it, in float
//
// All three kernels add the same elements in the same order, and leave a sum for each block, which
// the host adds up untimed in the same way. `results` says how many different sums the runs gave,
// `spread` how far the largest is from the smallest, and `sum` is the worst of them; `error` and
// `spread` are relative to the exact sum.
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

// A sum with what is missing in it: sum + rest is meant.
struct Compensated {
    float sum, rest;
};

// What rounding takes away is a float itself: what of each summand is in the sum, and what is not
// (Kahan's idea, in Knuth's form). To algebra it is 0, and a compiler that may reorder floating
// point (g++ -ffast-math) removes it. nvcc does not reorder additions, also with -use_fast_math;
// what it changes on its own is a * b + c, to one operation (fmaf), and there is none here.
__host__ __device__ Compensated operator+(Compensated a, Compensated b) {
    const float sum = a.sum + b.sum;
    const float ofB = sum - a.sum, ofA = sum - ofB;
    const float lost = (a.sum - ofA) + (b.sum - ofB);
    return {sum, a.rest + b.rest + lost};
}

// One more element, in eight operations in place of one: while the memory is slower still, they
// cost little.
__device__ void operator+=(Compensated& sum, float x) {
    sum = sum + Compensated{x, 0};
}

// What a sum is in the end: one rounding, where it was kept more exactly.
float rounded(Compensated sum) {
    return sum.sum + sum.rest;
}
float rounded(float sum) {
    return sum;
}
float rounded(double sum) {
    return static_cast<float>(sum);
}

// The tree is in shared memory: a shuffle moves 4 bytes, two of the three kinds have 8.
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

// Each of the additions of an element may change it by 2^-24 of the sum so far.
__global__ void reducePlain(const float* data, float* sums, std::size_t n) {
    reduceInto(sums, data, n);
}

// What is left is one rounding, when sum and rest become one float at the end.
__global__ void reduceCompensated(const float* data, Compensated* sums, std::size_t n) {
    reduceInto(sums, data, n);
}

// 53 bits instead of 24: as exact, and no more to read than for the others. One operation for an
// element, but in units of which most GPUs have few: 64 on a multiprocessor of an H100 or H200, 2
// on those of GPUs for graphics (CUDA C++ Best Practices Guide, table "Throughput of Native
// Arithmetic Instructions").
__global__ void reduceDouble(const float* data, double* sums, std::size_t n) {
    reduceInto(sums, data, n);
}

// Kahan summation as textbooks have it, for one loop: what an addition loses goes into the next
// element. (Two such sums cannot be added up like this: the kernels keep the rest beside the sum.)
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
    lab::Exercise exercise("compensatedSum", "Floating-point sums, and what a sum is kept in.");
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
    lab::Ladder ladder(exercise, floats, [&] {  // NaNs in the other outputs, too
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
    // The sum of what the blocks have left, in the kind of arithmetic that they used.
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
    ladder.rung("reduceDouble", grid, block, read, within(exactly, sumOf(doubles)),
                [&] { reduceDouble<<<grid, block>>>(data, doubles.get(), size); });
    const auto firstOfFloats = [&] { return floats.toHost(1)[0]; };
    lab::cubSum(ladder, within(judge.bound(inBlocks), firstOfFloats), data, floats.get(), size);
    return exercise.finish();
}
