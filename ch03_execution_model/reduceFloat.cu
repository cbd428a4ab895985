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
//   6 reduceCompensated       keeps what rounding takes away (Kahan summation)
//     cub::DeviceReduce::Sum  what NVIDIA's library makes of it
//
// `results` says how many different sums 100 runs gave (5 on the cpu back end), `spread` how far
// the largest is from the smallest, and `sum` is the worst of them; `error` and `spread` are
// relative to the exact sum. Of kernels 1, 2, 3 and 6 the host adds the blocks' sums up untimed, in
// float too: as a tree, or compensated.
//
//   cmake --build build --target reduceFloat
//   build/ch03_execution_model/reduceFloat --size=64M --block=512
//   build/ch03_execution_model/reduceFloat --negative=50   (most of the sum cancels)
//   build/ch03_execution_model/reduceFloat --size=1M --bits=4   (nothing is rounded)
//   ctest --test-dir build -R reduceFloat
//   ncu build/ch03_execution_model/reduceFloat --profile

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "lab.cuh"
#include "peers_cub.cuh"

// Number of elements of the chunk that begins at `first` and has `length`, unless the array ends
// before.
__device__ unsigned elementsOfChunk(std::size_t first, unsigned length, std::size_t n) {
    return n - first < length ? static_cast<unsigned>(n - first) : length;
}

// As in reduceInteger. An element goes through one addition for each level of the tree, and not
// through one for each element that follows it.
__global__ void reduceNeighbored(float* data, float* sums, std::size_t n) {
    const unsigned tid = threadIdx.x;
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x;
    float* chunk = data + first;
    const unsigned count = elementsOfChunk(first, blockDim.x, n);

    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0 && tid + stride < count) chunk[tid] += chunk[tid + stride];
        __syncthreads();
    }
    if (tid == 0) sums[blockIdx.x] = chunk[0];
}

// Other pairs, other roundings, the same bound. (For integers, this changes nothing but the speed.)
// As reduceUnrolling8, a thread first adds 8 elements, one after the other: 7 roundings, where a
// tree has 3.
template <unsigned kParts>
__global__ void reduceInterleaved(float* data, float* sums, std::size_t n) {
    const unsigned tid = threadIdx.x;
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * kParts;
    float* chunk = data + first;
    const unsigned count = elementsOfChunk(first, blockDim.x * kParts, n);

    if (kParts > 1) {
        float sum = 0;
        if (tid + (kParts - 1) * blockDim.x < count) {
#pragma unroll
            for (unsigned part = 0; part < kParts; ++part) sum += chunk[tid + part * blockDim.x];
        } else {
            for (unsigned i = tid; i < count; i += blockDim.x) sum += chunk[i];
        }
        if (tid < count) chunk[tid] = sum;
        __syncthreads();
    }
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride && tid + stride < count) chunk[tid] += chunk[tid + stride];
        __syncthreads();
    }
    if (tid == 0) sums[blockIdx.x] = chunk[0];
}

constexpr unsigned kAllLanes = 0xFFFFFFFF;

// Sum of a warp's 32 values, in its lane 0.
__device__ float sumOfWarp(float value) {
    for (unsigned offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(kAllLanes, value, offset);
    return value;
}

// Sum of a block's values, in its thread 0.
__device__ float sumOfBlock(float value) {
    __shared__ float ofWarps[32];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    value = sumOfWarp(value);
    if (lane == 0) ofWarps[warp] = value;
    __syncthreads();
    if (warp == 0) value = sumOfWarp(lane < blockDim.x / 32 ? ofWarps[lane] : 0);
    return value;
}

__device__ void add(float& sum, float x) {
    sum += x;
}

constexpr unsigned kLoads = 4;  // of 16 bytes, in flight in each thread

// Sum of a thread's elements. The blocks walk over the array together, whatever its size and theirs
// (a grid-stride loop). Which thread adds which elements depends on n, grid and block alone.
template <typename Sum>
__device__ Sum sumOfThread(const float* data, std::size_t n) {
    const float4* const vectors = reinterpret_cast<const float4*>(data);  // aligned by cudaMalloc()
    const std::size_t count = n / 4, tile = std::size_t{kLoads} * blockDim.x;
    Sum sum = {};
    std::size_t first = blockIdx.x * tile;
    for (; first + tile <= count; first += gridDim.x * tile) {
        float4 v[kLoads];
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) v[k] = vectors[first + k * blockDim.x + threadIdx.x];
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) {
            add(sum, v[k].x);
            add(sum, v[k].y);
            add(sum, v[k].z);
            add(sum, v[k].w);
        }
    }
    // One block's next tile is not whole; those of the others begin behind the end.
    for (std::size_t i = 4 * first + threadIdx.x; i < n; i += blockDim.x) add(sum, data[i]);
    return sum;
}

// No partial sums are left: each block adds its own to *total, which begins as 0. Wrong: the blocks
// end in an order that nobody controls, and the last bits of the sum change from run to run. (The
// time of this row includes setting the 0.)
__global__ void reduceAtomic(const float* data, float* total, std::size_t n) {
    const float sum = sumOfBlock(sumOfThread<float>(data, n));
    if (threadIdx.x == 0) atomicAdd(total, sum);
}

__device__ unsigned blocksDone = 0;  // of reduceOneLaunch; 0 between two launches

// Each block leaves its partial sum and draws a ticket. Whoever draws the last one, which may be
// any block, adds up all partial sums, and always in the same order.
__global__ void reduceOneLaunch(const float* data, float* sums, float* total, std::size_t n) {
    __shared__ bool last;
    const float ofBlock = sumOfBlock(sumOfThread<float>(data, n));
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
    sum = sumOfBlock(sum);
    if (threadIdx.x == 0) {
        *total = sum;
        blocksDone = 0;
    }
}

// A sum with what is missing in it: sum + rest is meant.
struct Compensated {
    float sum, rest;
};

// What rounding takes away is a float itself: what of each summand is in the sum, and what is not
// (Kahan's idea, in Knuth's form). To algebra it is 0, and a compiler that may reorder floating
// point (g++ -ffast-math) removes it. nvcc does not reorder additions, also with -use_fast_math;
// what it changes on its own is a * b + c, to one operation (fmaf), and there is none here.
__host__ __device__ Compensated plus(Compensated a, Compensated b) {
    const float sum = a.sum + b.sum;
    const float ofB = sum - a.sum, ofA = sum - ofB;
    const float lost = (a.sum - ofA) + (b.sum - ofB);
    return {sum, a.rest + b.rest + lost};
}

__device__ void add(Compensated& sum, float x) {
    sum = plus(sum, {x, 0});
}

// Eight operations in place of one for each element: while the memory is slower still, they cost
// little. What is left is one rounding, when sum and rest become one float at the end.
__global__ void reduceCompensated(const float* data, float* sums, float* rests, std::size_t n) {
    __shared__ Compensated tree[lab::kMaxBlock];
    const unsigned tid = threadIdx.x;
    Compensated sum = sumOfThread<Compensated>(data, n);
    tree[tid] = sum;
    __syncthreads();
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) {
            const Compensated other = tree[tid + stride];
            sum = plus(sum, other);
            tree[tid] = sum;
        }
        __syncthreads();
    }
    if (tid == 0) {
        sums[blockIdx.x] = sum.sum;
        rests[blockIdx.x] = sum.rest;
    }
}

// Multiples of 2^-bits from 0 to 1, `negative` percent of them with a minus.
std::vector<float> randomInput(std::size_t n, std::uint64_t seed, unsigned negative,
                               unsigned bits) {
    const float unit = 1.0f / static_cast<float>(1u << bits);
    std::vector<float> values = lab::hostVector<float>(n);
    lab::parallelFor(n, 1 << 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint64_t random = lab::randomBits(seed, i);
            const float x = static_cast<float>(random >> (64 - bits)) * unit;
            values[i] = (random & 0xFFFFFFFF) * 100 >> 32 < negative ? -x : x;
        }
    });
    return values;
}

float sequentialOnHost(const std::vector<float>& values) {
    float sum = 0;
    for (const float value : values) sum += value;
    return sum;
}

// CPU reference: the sum and the sum of the magnitudes, in double. It has 53 bits, which is enough
// for all those of a sum of 2^29 multiples of 2^-24 below 1: nothing is rounded.
struct Reference {
    double sum = 0, magnitudes = 0;
};
Reference reference(const std::vector<float>& values) {
    constexpr std::size_t kLength = 1 << 20;
    std::vector<Reference> chunks(lab::blocksFor(values.size(), kLength));
    lab::parallelFor(chunks.size(), 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin * kLength; i < std::min(values.size(), end * kLength); ++i) {
            chunks[i / kLength].sum += values[i];
            chunks[i / kLength].magnitudes += std::fabs(values[i]);
        }
    });
    Reference all;
    for (const Reference& chunk : chunks) {
        all.sum += chunk.sum;
        all.magnitudes += chunk.magnitudes;
    }
    return all;
}

// The rest of the tree, on the host. `add` is a float's addition or plus().
template <typename Sum, typename Add>
Sum treeSum(std::vector<Sum> sums, Add add) {
    for (std::size_t count = sums.size(), half; count > 1; count = half) {
        half = (count + 1) / 2;
        for (std::size_t i = 0; i + half < count; ++i) sums[i] = add(sums[i], sums[i + half]);
    }
    return sums[0];
}

double log2Of(std::size_t n) {
    return std::ceil(std::log2(static_cast<double>(n)));
}

int main(int argc, char** argv) {
    std::size_t size = lab::perBackend(std::size_t{1} << 24, std::size_t{1} << 17);
    unsigned block = 512, negative = 0, bits = 24;
    lab::Exercise exercise("reduceFloat", "Floating-point sums, which depend on the order.");
    exercise.option("size", &size, 1, lab::kMaxSize, "number of floats");
    exercise.option("block", &block, 32, lab::kMaxBlock, "threads per block",
                    lab::Rule::kPowerOfTwo);
    exercise.option("negative", &negative, 0, 50, "percentage of the floats that are below 0");
    exercise.option("bits", &bits, 1, 24, "binary digits of a float behind the point");
    exercise.parse(argc, argv);

    const std::vector<float> input = randomInput(size, exercise.seed(), negative, bits);
    const Reference exact = reference(input);
    const lab::DeviceBuffer<float> source(input);
    lab::DeviceBuffer<float> work(size);
    lab::DeviceBuffer<float> results(lab::blocksFor(size, block) + std::size_t{1});
    float* const data = work.get();
    float* const sums = results.get();

    exercise.title("%s floats (%s), block %u", lab::withCommas(size).c_str(),
                   lab::inBytes(work.bytes()).c_str(), block);
    std::string inputSums = lab::formatted("The sum is %.12g, that of the magnitudes %.12g",
                                           exact.sum, exact.magnitudes);
    if (exact.sum != 0)
        inputSums +=
            lab::formatted(": condition number %.3g", exact.magnitudes / std::fabs(exact.sum));
    exercise.note(inputSums + ".");
    exercise.bytesPerRun(work.bytes());
    exercise.output(results);
    exercise.prepare([&] { work.copyFrom(source); });  // in place: every run needs fresh input

    std::vector<lab::Cell> cells;
    exercise.details({{"sum", 12, "sum"},
                      {"error", 8, "relative_error"},
                      {"results", 7, "results"},
                      {"spread", 8, "spread"}},
                     [&](const lab::Statistics&) { return cells; });
    const auto relative = [&](double difference) {
        return lab::formatted("%.2e", difference == 0 ? 0 : std::fabs(difference / exact.sum));
    };

    // How far a result may be from the exact sum: Higham, Accuracy and Stability of Numerical
    // Algorithms, chapter 4. Not at all where all sums of such numbers fit into the 24 bits of a
    // float: then nothing is rounded, in no order.
    const double unit = 0x1p-24;
    const bool fits = std::ldexp(exact.magnitudes, static_cast<int>(bits)) <= 0x1p24;
    const auto bound = [&](double roundings) {
        return fits ? 0 : roundings * unit * exact.magnitudes;
    };

    // What is wrong with the results of several runs.
    const auto judge = [&](const std::vector<float>& ofRuns, double allowed, bool repeatable) {
        cells.clear();
        for (const float sum : ofRuns) {
            if (std::isnan(sum)) return std::string("the sum is not a number, or never written");
        }
        const std::set<float> different(ofRuns.begin(), ofRuns.end());
        const float least = *different.begin(), most = *different.rbegin();
        const bool tooLow = std::fabs(least - exact.sum) > std::fabs(most - exact.sum);
        const float worst = tooLow ? least : most;
        cells = {lab::formatted("%.9g", worst), relative(worst - exact.sum)};
        if (ofRuns.size() > 1)
            cells.insert(cells.end(), {different.size(), relative(most - least)});
        if (std::fabs(worst - exact.sum) > allowed) {
            return lab::formatted("the sum is %.9g, expected %.12g +- %.3g", worst, exact.sum,
                                  allowed);
        }
        if (repeatable && different.size() > 1)
            return lab::formatted("%zu different sums in %zu runs", different.size(),
                                  ofRuns.size());
        return std::string();
    };
    const std::size_t runs = exercise.profile() ? 1 : lab::perBackend(100, 5);
    const auto expect = [&](double allowed, bool repeatable, const std::function<float()>& sum) {
        exercise.check([&, allowed, repeatable, sum] {
            std::vector<float> ofRuns = {sum()};
            while (ofRuns.size() < runs) {
                exercise.again();
                ofRuns.push_back(sum());
            }
            return judge(ofRuns, allowed, repeatable);
        });
    };

    exercise.check([&] {
        return judge({sequentialOnHost(input)}, bound(static_cast<double>(size - 1)), true);
    });
    exercise.hostRow("sequentialOnHost");

    unsigned grid = lab::blocksFor(size, block);
    const auto ofPartialSums = [&] { return treeSum(results.toHost(grid), std::plus<float>()); };
    expect(bound(log2Of(block) + log2Of(grid)), true, ofPartialSums);
    exercise.rung("reduceNeighbored", grid, block,
                  [&] { reduceNeighbored<<<grid, block>>>(data, sums, size); });
    exercise.rung("reduceInterleaved", grid, block,
                  [&] { reduceInterleaved<1><<<grid, block>>>(data, sums, size); });
    grid = lab::blocksFor(size, std::size_t{8} * block);
    expect(bound(7 + log2Of(block) + log2Of(grid)), true, ofPartialSums);
    exercise.rung("reduceUnrolling8", grid, block,
                  [&] { reduceInterleaved<8><<<grid, block>>>(data, sums, size); });

    // As in reduceInteger: enough blocks to fill the GPU, and no more than four tiles for each.
    const unsigned tiles = lab::blocksFor(size, std::size_t{4 * kLoads} * block);
    const unsigned resident = exercise.device().residentBlocks(block);
    const unsigned many = std::min(tiles, std::max(resident, tiles / 4));
    // The roundings on the way of an element into its block's sum: of a thread, and of the tree.
    const auto depth = [&](unsigned blocks) {
        return 4.0 * kLoads * (lab::blocksFor(tiles, blocks) + 1) + log2Of(block);
    };
    const auto oneSum = [&] { return results.toHost(1)[0]; };
    grid = many;
    expect(bound(depth(grid) + grid), false, oneSum);
    exercise.rung("reduceAtomic", grid, block, [&] {
        CUDA_CHECK(cudaMemsetAsync(sums, 0, sizeof(float)));
        reduceAtomic<<<grid, block>>>(source.get(), sums, size);
    });
    // Its fences make every block wait at its end, which many blocks would do in turn.
    grid = std::min(tiles, resident);
    const double deepest = bound(depth(grid) + lab::blocksFor(grid, block) + log2Of(block));
    expect(deepest, true, oneSum);
    exercise.rung("reduceOneLaunch", grid, block,
                  [&] { reduceOneLaunch<<<grid, block>>>(source.get(), sums + 1, sums, size); });

    // One rounding at the end; those of the rests count with the square of 2^-24.
    grid = many;
    const double roundings = depth(grid) + grid;
    expect(fits ? 0 : unit * std::fabs(exact.sum) + roundings * unit * bound(roundings), true, [&] {
        const std::vector<float> all = results.toHost(std::size_t{2} * grid);
        Compensated sum = {};
        for (unsigned i = 0; i < grid; ++i) sum = plus(sum, {all[i], all[grid + i]});
        return sum.sum + sum.rest;
    });
    exercise.rung("reduceCompensated", grid, block, [&] {
        reduceCompensated<<<grid, block>>>(source.get(), sums, sums + grid, size);
    });
    expect(deepest, true, oneSum);
    lab::cubSum(exercise, source.get(), sums, size);
    return exercise.finish();
}
