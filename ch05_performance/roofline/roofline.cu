// Which limit applies, before any tuning. A kernel does I operations for each byte that it moves.
// So it can do no more operations per second than the arithmetic units do, and no more than I times
// the bytes that the memory moves. Over I, the lower of the two is a roof: it rises up to the
// ridge, and is flat behind it.
//
//   1 vectorAdd     c = a + b: one operation for 12 bytes
//   2 multiplyAdds  x = x * a + b, from 1/4 to 512 times for each element that is read and written:
//                   from 1/16 to 128 operations per byte
//   3 readL2        reads an array that fits into the L2 cache, many times: how fast is that?
//   4 readShared    reads shared memory many times, without bank conflicts
//   5 twoRoofs      a function of the host: the least time of a kernel, from two roofs
//   6 leastTime     the same with one more roof, and with additions that are no multiply-adds
//
// The roofs of kernels 1 and 2 follow from the peaks of the GPU. Kernels 3 and 4 compute next to
// nothing: they measure the roof of their memory. The rows of 5 and 6 say whether the functions are
// right for kernels whose least time we know.
//
//   FMAs     multiply-adds (two operations) for each element, on average
//   ops/B    intensity: operations for each byte of device memory
//   limit    memory or FP32: which roof is the lower one
//   roof     what it allows, in GFLOP/s
//   GB/s     bytes of the arrays that are read and written
//   % roof   the share of the roof that was reached; for readShared the roof is 128 bytes per cycle
//            and multiprocessor (SM)
//
// The CSV also has grid, block and the peaks.
//
//   ./lab run roofline -- --size=256M --kernel=multiplyAdds
//   ./lab test roofline
//   ./lab profile roofline
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target roofline
//   build/ch05_performance/roofline --size=256M --kernel=multiplyAdds
//   ncu build/ch05_performance/roofline --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch05_performance/roofline/roofline.cu
//       common/*.cpp common/*.cu -o build/roofline

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lab.cuh"
#include "rooflineModel.h"

constexpr unsigned kBlock = 256;  // threads

// A thread loads and stores four elements at a time, 16 bytes. That keeps enough bytes in flight to
// reach the bandwidth of the memory.
constexpr unsigned kGroup = 4;

__device__ std::size_t globalThread() {
    return std::size_t{blockIdx.x} * kBlock + threadIdx.x;
}

__global__ void vectorAdd(const float4* a, const float4* b, float4* c, std::size_t groups) {
    const std::size_t i = globalThread();
    if (i >= groups) return;
    const float4 x = a[i], y = b[i];
    const float4 sum = {x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w};
    c[i] = sum;
}

// Does kFmas multiply-adds for each group of four elements. Each element has a chain of its own, so
// a thread has four in flight. With one or two multiply-adds for a group, the other elements are
// only copied. (The loop is unrolled so far that its own instructions do not matter.)
template <unsigned kFmas>
__global__ void multiplyAdds(const float4* in, float4* out, std::size_t groups, float a, float b) {
    constexpr unsigned kChains = kFmas < kGroup ? kFmas : kGroup;
    const std::size_t i = globalThread();
    if (i >= groups) return;
    const float4 first = in[i];
    float x[kGroup] = {first.x, first.y, first.z, first.w};
#pragma unroll 128
    for (unsigned step = 0; step < kFmas / kChains; ++step) {
#pragma unroll
        for (unsigned c = 0; c < kChains; ++c) x[c] = fmaf(x[c], a, b);
    }
    const float4 last = {x[0], x[1], x[2], x[3]};
    out[i] = last;
}

__host__ __device__ inline unsigned sumOf(uint4 group) {
    return group.x + group.y + group.z + group.w;
}

// All threads of the grid walk over the array together, again and again. Each load is `stride`
// groups further on than the one before it. __ldcg() bypasses the L1 cache.
__global__ void readL2(const uint4* data, unsigned groups, unsigned stride, unsigned loads,
                       unsigned* sums) {
    unsigned i = static_cast<unsigned>(globalThread()) % groups;
    unsigned sum = 0;
#pragma unroll 8
    for (unsigned load = 0; load < loads; ++load) {
        sum += sumOf(__ldcg(&data[i]));
        i += stride;
        if (i >= groups) i -= groups;
    }
    sums[globalThread()] = sum;
}

// Each block keeps a part of the array, and its threads walk over this part in the same way.
// Neighbouring lanes read neighbouring groups, so there are no bank conflicts.
constexpr unsigned kShared = 512;  // groups

__global__ void readShared(const uint4* data, unsigned loads, unsigned* sums) {
    __shared__ uint4 part[kShared];
    for (unsigned i = threadIdx.x; i < kShared; i += kBlock) part[i] = data[i];
    __syncthreads();
    unsigned sum = 0;
#pragma unroll 8
    for (unsigned load = 0; load < loads; ++load) {
        const uint4 group = part[(threadIdx.x + load) % kShared];
        sum += sumOf(group);
    }
    sums[globalThread()] = sum;
}

// Elements have only 2^kValueBits different values, in an order that looks random. So the reference
// computes each value once.
constexpr unsigned kValueBits = 12;
inline std::size_t valueOf(std::size_t element) {
    return element * 0x9E3779B97F4A7C15u >> (64 - kValueBits);
}

// ---- the model ----

// The least time of a kernel in seconds, if it does only multiply-adds and uses only device memory.
// Neither part of the GPU can be faster, and at best the two work at the same time. Still wrong for
// a kernel with other operations, and for one that needs more of another memory.
double twoRoofs(const Work& work, const Roofs& gpu) {
    const double arithmetic = 2 * work.multiplyAdds / gpu.operations;
    const double memory = work.deviceBytes / gpu.bytes;
    return std::max(arithmetic, memory);
}

// An addition takes the units as long as a multiply-add, which is two operations. Shared memory has
// a roof, too. The slowest part decides.
double leastTime(const Work& work, const Roofs& gpu) {
    const double instructions = work.additions + work.multiplyAdds;
    return std::max({2 * instructions / gpu.operations, work.deviceBytes / gpu.bytes,
                     work.sharedBytes / gpu.sharedBytes});
}

// What a kernel does for each element, and its least time for 10^9 elements, worked out by hand.
struct Known {
    const char* kernel;
    Work perElement;
    double milliseconds;
};

// A GPU with round numbers, much like an H200.
constexpr Roofs kRound = {60e12, 4e12, 30e12};
// Kernels without other operations, and without shared memory.
const std::vector<Known> kMultiplyAdds = {
    {"a copy", {0, 0, 8, 0}, 2},
    {"y = a * x + y", {0, 1, 12, 0}, 3},
    {"multiplyAdds with F = 30", {0, 30, 8, 0}, 2},
    {"multiplyAdds with F = 300", {0, 300, 8, 0}, 10},
};
const std::vector<Known> kAll = {
    {"a copy", {0, 0, 8, 0}, 2},
    {"multiplyAdds with F = 300", {0, 300, 8, 0}, 10},
    {"vectorAdd", {1, 0, 12, 0}, 3},
    {"300 additions for each element", {300, 0, 8, 0}, 10},
    {"150 additions and 150 multiply-adds", {150, 150, 8, 0}, 10},
    {"a transpose through a tile", {0, 0, 8, 8}, 2},
    {"a sum of 60 floats from shared memory", {60, 0, 0, 240}, 8},
    {"600 multiply-adds and 60 bytes of shared memory", {0, 600, 8, 60}, 20},
    {"30 multiply-adds and 120 bytes of shared memory", {0, 30, 8, 120}, 4},
};

// The first of these kernels whose least time in seconds is wrong; empty if all are right.
template <typename Model>
std::string wrongTime(const std::vector<Known>& kernels, double elements, const Model& model) {
    for (const Known& known : kernels) {
        Work work = known.perElement;
        for (double* part :
             {&work.additions, &work.multiplyAdds, &work.deviceBytes, &work.sharedBytes})
            *part *= elements;
        const double expected = known.milliseconds * elements / 1e12, found = model(work, kRound);
        if (!(std::abs(found - expected) <= 1e-9 * expected))
            return lab::formatted("%s: %g s in place of %g", known.kernel, found, expected);
    }
    return "";
}

int main(int argc, char** argv) {
    std::size_t size;
    unsigned loads;
    lab::Exercise exercise("roofline", "Which limit applies: memory or arithmetic.");
    exercise.option("size", &size, {1 << 26, 1 << 12}, 1, lab::kMaxSize, "floats of an array");
    exercise.option("loads", &loads, {1 << 10, 32}, 1, 1 << 20,
                    "loads of a thread in readL2 and readShared");
    exercise.parse(argc, argv);
    constexpr auto kOnGpu = lab::OwnColumn::kOnGpu;
    exercise.columns(lab::Columns::kTimed,
                     {{"FMAs", 5, "fmas"},
                      {"ops/B", 6, "intensity", lab::OwnColumn::kPredicted},
                      {"limit", 6, "limit", kOnGpu},
                      {"roof", 8, "roof_gflops", kOnGpu},
                      {"GFLOP/s", 8, "gflops", kOnGpu},
                      {"GB/s", 8, "gbps", kOnGpu},
                      {"% roof", 6, "percent_roof", kOnGpu},
                      {"", 0, "peak_gbps", kOnGpu},
                      {"", 0, "peak_shared_gbps", kOnGpu},
                      {"", 0, "peak_gflops", kOnGpu},
                      {"", 0, "peak_tensor_gflops", kOnGpu}},
                     {"grid", "block"});

    const lab::DeviceFacts& gpu = exercise.device();
    const Roofs roofs = {gpu.peakFlops, gpu.peakBandwidth,
                         sharedBandwidth(gpu.multiprocessors, gpu.clock)};
    exercise.title("arrays of %s floats (%s)", lab::withCommas(size).c_str(),
                   lab::inBytes(size * sizeof(float)).c_str());
    exercise.noteInEmulation("It has no roofs, so limits and rates are left out.");
    if (!lab::kEmulated && roofs.attainable(1) > 0)
        exercise.note(lab::formatted("The roofs meet at %.1f operations per byte.", roofs.ridge()));

    // The cells of a row, from the operations and the bytes of a run. Without operations, the limit
    // is a memory that moves `peak` bytes per second. A `peak` of 0 is not known.
    struct Operations {
        double count;
    };
    struct Bytes {
        double count;
    };
    const auto cells = [&](const lab::Cell& fmas, Operations ofRun, Bytes moved,
                           const lab::Statistics& time, double peak = 0) -> std::vector<lab::Cell> {
        const double operations = ofRun.count, bytes = moved.count;
        const auto known = [](double value, int decimals) {
            return value > 0 ? lab::Cell(value, decimals) : lab::Cell();
        };
        const double intensity = operations / bytes, attainable = roofs.attainable(intensity);
        const double most = operations > 0 ? attainable / intensity : peak;  // bytes per second
        const double perSecond = time.count > 0 ? 1e3 / time.median : 0;     // such runs
        return {fmas,
                known(intensity, 3),
                attainable > 0 ? roofs.limit(intensity) : "",
                known(attainable / 1e9, 0),
                known(operations * perSecond / 1e9, 0),
                known(bytes * perSecond / 1e9, 0),
                known(most > 0 ? 100 * bytes * perSecond / most : 0, 1),
                known(roofs.bytes / 1e9, 0),
                known(roofs.sharedBytes / 1e9, 0),
                known(roofs.operations / 1e9, 0),
                known(gpu.peakTensorFlops / 1e9, 0)};
    };

    // The last group may have elements behind the end of the arrays. Nobody looks at them.
    const std::size_t groups = size / kGroup + (size % kGroup != 0);
    const std::vector<float> values =
        lab::randomFloats(std::size_t{1} << kValueBits, exercise.seed(), 0, 1);
    const auto aOf = [&](std::size_t i) { return values[valueOf(i)]; };
    const auto bOf = [&](std::size_t i) { return values[valueOf(i + 1)]; };
    const auto bufferA = lab::filled<float>(groups * kGroup, aOf);
    const auto bufferB = lab::filled<float>(groups * kGroup, bOf);
    lab::DeviceBuffer<float> bufferC(groups * kGroup);
    const auto* a = reinterpret_cast<const float4*>(bufferA.get());
    const auto* b = reinterpret_cast<const float4*>(bufferB.get());
    auto* c = reinterpret_cast<float4*>(bufferC.get());

    // CPU and GPU round an addition and a fused multiply-add once, so the results are equal.
    const auto mismatch = [&](const auto& expectedOf) {
        return lab::mismatchOf(bufferC, size, expectedOf);
    };

    lab::Ladder ladder(exercise, bufferC);
    const unsigned grid = lab::blocksFor(groups, kBlock);
    const auto n = static_cast<double>(size);
    const auto isSum = [&](const lab::Statistics& time) -> lab::Finding {
        return {mismatch([&](std::size_t i) { return aOf(i) + bOf(i); }),
                cells({}, Operations{n}, Bytes{12 * n}, time)};
    };
    ladder.rung("vectorAdd", grid, kBlock, lab::kNoRate, isSum,
                [&] { vectorAdd<<<grid, kBlock>>>(a, b, c, groups); });

    const float factor = 1.0001f, summand = 0.5f;  // one step too many changes the result
    struct Fmas {
        unsigned count;  // to a float4
    };
    const auto rung = [&](auto* kernel, Fmas ofKernel) {
        const unsigned fmas = ofKernel.count;
        const auto isChain = [&, fmas](const lab::Statistics& time) -> lab::Finding {
            const unsigned chains = std::min(fmas, kGroup);
            std::vector<float> ends = values;
            for (float& x : ends) {
                for (unsigned step = 0; step < fmas / chains; ++step)
                    x = std::fma(x, factor, summand);
            }
            const double perElement = 1.0 * fmas / kGroup;
            return {mismatch([&](std::size_t i) {
                        return i % kGroup < chains ? ends[valueOf(i)] : values[valueOf(i)];
                    }),
                    cells({perElement, fmas < kGroup ? 2 : 0}, Operations{2 * perElement * n},
                          Bytes{8 * n}, time)};
        };
        ladder.rung("multiplyAdds", grid, kBlock, lab::kNoRate, isChain,
                    [&] { kernel<<<grid, kBlock>>>(a, c, groups, factor, summand); });
    };
    rung(multiplyAdds<1>, Fmas{1});
    rung(multiplyAdds<2>, Fmas{2});
    rung(multiplyAdds<4>, Fmas{4});
    rung(multiplyAdds<8>, Fmas{8});
    rung(multiplyAdds<16>, Fmas{16});
    rung(multiplyAdds<32>, Fmas{32});
    rung(multiplyAdds<64>, Fmas{64});
    rung(multiplyAdds<128>, Fmas{128});
    rung(multiplyAdds<256>, Fmas{256});
    rung(multiplyAdds<512>, Fmas{512});
    rung(multiplyAdds<1024>, Fmas{1024});
    rung(multiplyAdds<2048>, Fmas{2048});

    // The array is a quarter of the L2 cache, or less with a small size. The grid has as many
    // threads as the GPU holds at a time.
    const std::size_t quarter = std::max(gpu.l2Bytes, std::size_t{4} << 20) / 4 / sizeof(uint4);
    const auto cached = static_cast<unsigned>(std::clamp(groups, std::size_t{kShared}, quarter));
    std::vector<uint4> words(cached);
    for (unsigned i = 0; i < cached; ++i) {
        const std::uint64_t low = lab::randomBits(exercise.seed(), 2 * i);
        const std::uint64_t high = lab::randomBits(exercise.seed(), 2 * i + 1);
        words[i] = {unsigned(low), unsigned(low >> 32), unsigned(high), unsigned(high >> 32)};
    }
    const lab::DeviceBuffer<uint4> data(words);
    const unsigned blocks = gpu.residentBlocks(kBlock), threads = blocks * kBlock;
    const unsigned stride = threads % cached;
    lab::DeviceBuffer<unsigned> sums(threads);
    lab::Ladder reading(exercise, sums);
    const double bytes = 1.0 * sizeof(uint4) * threads * loads;

    const auto isReadFromL2 = [&](const lab::Statistics& time) -> lab::Finding {
        std::vector<unsigned> ofGroups(cached), expected(threads);
        std::transform(words.begin(), words.end(), ofGroups.begin(), sumOf);
        lab::parallelFor(threads, 1 << 10, [&](std::size_t begin, std::size_t end) {
            for (std::size_t t = begin; t < end; ++t) {
                std::size_t group = t % cached;
                for (unsigned load = 0; load < loads; ++load) {
                    expected[t] += ofGroups[group];
                    group += threads % cached;
                    if (group >= cached) group -= cached;  // much faster than another %
                }
            }
        });
        return {lab::mismatch(sums.toHost(), expected),
                cells({}, Operations{0}, Bytes{bytes}, time)};
    };
    reading.rung("readL2", blocks, kBlock, lab::kNoRate, isReadFromL2, [&] {
        readL2<<<blocks, kBlock>>>(data.get(), cached, stride, loads, sums.get());
    });

    const auto isReadFromShared = [&](const lab::Statistics& time) -> lab::Finding {
        std::vector<unsigned> expected(threads, 0);
        for (unsigned t = 0; t < threads; ++t) {
            for (unsigned load = 0; load < loads && t < kBlock; ++load)
                expected[t] += sumOf(words[(t + load) % kShared]);
            if (t >= kBlock) expected[t] = expected[t - kBlock];  // all blocks do the same
        }
        return {lab::mismatch(sums.toHost(), expected),
                cells({}, Operations{0}, Bytes{bytes}, time, roofs.sharedBytes)};
    };
    reading.rung("readShared", blocks, kBlock, lab::kNoRate, isReadFromShared,
                 [&] { readShared<<<blocks, kBlock>>>(data.get(), loads, sums.get()); });

    // A function of the host runs no kernel, so its row has no operations and no time.
    const auto isRight = [&](const auto& model, const std::vector<Known>& kernels) {
        return lab::Finding{wrongTime(kernels, n, model),
                            cells({}, Operations{0}, Bytes{1}, lab::Statistics{})};
    };
    reading.host("twoRoofs", lab::kNoRate, [&] { return isRight(twoRoofs, kMultiplyAdds); });
    reading.host("leastTime", lab::kNoRate, [&] { return isRight(leastTime, kAll); });
    return exercise.finish();
}
