// An SM has units of several kinds, and each finishes a certain number of results in a cycle. So
// the same number of instructions takes very different times.
//
//    1 fp32Fma         x * x + b in FP32: the measure for all others
//    2 fp32Add         x + b
//    3 fp32Multiply    x * b
//    4 fp16Fma         x * x + b for two FP16 numbers in one instruction
//    5 fp64Fma         x * x + b in FP64
//    6 intAdd          an addition and an exclusive or
//    7 intMultiply     x * b + 1, an integer multiply-add
//    8 intDivide       b / x: no unit divides integers
//    9 convert         an integer to FP32 and back
//   10 reciprocalRoot  rsqrtf(x): the special function unit (SFU)
//   11 accurateSine    sinf(x): many instructions
//   12 fastSine        __sinf(x): the SFU, for angles of -pi to pi
//   13 loopedSine      __sinf of larger angles: a loop takes away whole circles
//   14 wrappedSine     __sinf of larger angles, without a loop
//
// A kernel repeats x = step(x). Each thread does that with 8 numbers, which are independent chains,
// so that no unit waits for a result.
//
//   per step   results that a step counts as
//   table      results per cycle of an SM, as NVIDIA states them for this GPU
//   per cycle  results per cycle of an SM, measured
//   FMAs       FP32 multiply-adds that an SM does in the time of one result
//
//   ./lab run instructionRates -- --kernel=fp
//   ./lab test instructionRates
//   ./lab profile instructionRates
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target instructionRates
//   build/ch03_execution_model/instructionRates --kernel=fp
//   ncu build/ch03_execution_model/instructionRates --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon
//       ch03_execution_model/instructionRates/instructionRates.cu
//       common/*.cpp common/*.cu -o build/instructionRates

#include <cmath>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "halfPairs.cuh"
#include "lab.cuh"
#include "nativeRates.h"

constexpr unsigned kChains = 8;  // chains of a thread

// A chain begins with one of 64 numbers, so that the CPU has few chains to check.
constexpr unsigned kStarts = 64;
__device__ unsigned startNumber(unsigned chain) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    return (thread + chain) % kStarts + 1;
}
template <typename T>
__device__ T start(unsigned number) {
    return static_cast<T>(number);
}
template <>
__device__ float start<float>(unsigned number) {
    return static_cast<float>(number) / kStarts;
}
template <>
__device__ double start<double>(unsigned number) {
    return static_cast<double>(number) / kStarts;
}
template <>
__device__ __half2 start<__half2>(unsigned number) {
    const float x = start<float>(number);
    return __floats2half2_rn(x, x / 2);
}

// All kernels call this function. It computes x = step(x) in each chain, `steps` times. The
// barriers make the two readings of the clock span the work of the whole block. The compiler
// unrolls the loop kUnroll times, so that its own instructions hardly count.
template <unsigned kUnroll, typename T, typename Step>
__device__ void timeChains(unsigned steps, T* results, long long* cycles, Step step) {
    T x[kChains];
    for (unsigned c = 0; c < kChains; ++c) x[c] = start<T>(startNumber(c));

    __syncthreads();  // all warps begin together
    const long long begin = clock64();
#pragma unroll(kUnroll)
    for (unsigned s = 0; s < steps; ++s) {
        for (unsigned c = 0; c < kChains; ++c) x[c] = step(x[c]);
    }
    __syncthreads();  // all warps have ended
    if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;

    T* const mine = results + (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (unsigned c = 0; c < kChains; ++c) mine[c * threads] = x[c];
}

// kShort unrolls the loop 32 times, for steps of one or two instructions. kLong does not unroll it,
// for steps of many instructions.
constexpr unsigned kShort = 32, kLong = 1;

// A step is one instruction, FFMA. The chain x = x * x - 1.9 is chaotic, so a single wrong bit
// shows.
__global__ void fp32Fma(float b, unsigned steps, float* results, long long* cycles) {
    timeChains<kShort>(steps, results, cycles, [=](float x) { return fmaf(x, x, b); });
}

__global__ void fp32Add(float b, unsigned steps, float* results, long long* cycles) {
    timeChains<kShort>(steps, results, cycles, [=](float x) { return x + b; });
}

__global__ void fp32Multiply(float b, unsigned steps, float* results, long long* cycles) {
    timeChains<kShort>(steps, results, cycles, [=](float x) { return x * b; });
}

// HFMA2 works on both halves of a 32-bit register.
__global__ void fp16Fma(float b, unsigned steps, __half2* results, long long* cycles) {
    const __half2 both = __floats2half2_rn(b, b);
    timeChains<kShort>(steps, results, cycles, [=](__half2 x) { return __hfma2(x, x, both); });
}

__global__ void fp64Fma(double b, unsigned steps, double* results, long long* cycles) {
    timeChains<kShort>(steps, results, cycles, [=](double x) { return fma(x, x, b); });
}

// Each step has an addition and a logical operation. (The compiler would combine x + b + b + b into
// a single addition.)
__global__ void intAdd(unsigned b, unsigned steps, unsigned* results, long long* cycles) {
    timeChains<kShort>(steps, results, cycles, [=](unsigned x) { return (x + b) ^ b; });
}

__global__ void intMultiply(unsigned b, unsigned steps, unsigned* results, long long* cycles) {
    timeChains<kShort>(steps, results, cycles, [=](unsigned x) { return x * b + 1; });
}

// The division takes about 18 instructions, among them two conversions and an FP32 reciprocal. The
// addition keeps x from becoming 0.
__global__ void intDivide(unsigned b, unsigned steps, unsigned* results, long long* cycles) {
    timeChains<kLong>(steps, results, cycles, [=](unsigned x) { return b / x + 1; });
}

// The multiplication and the exclusive or change x from step to step.
__global__ void convert(int b, unsigned steps, int* results, long long* cycles) {
    timeChains<kShort>(steps, results, cycles,
                       [=](int x) { return __float2int_rz(__int2float_rn(x) * 0.75f) ^ b; });
}

// rsqrtf() is the SFU's instruction MUFU.RSQ, with three more instructions around it for tiny x.
__global__ void reciprocalRoot(float b, unsigned steps, float* results, long long* cycles) {
    timeChains<kShort>(steps, results, cycles, [=](float x) { return rsqrtf(x) + b; });
}

// sinf() takes about 24 instructions for angles below 105,615. Larger angles take a much longer
// path.
__global__ void accurateSine(float b, unsigned steps, float* results, long long* cycles) {
    timeChains<kLong>(steps, results, cycles, [=](float x) { return sinf(x) + b; });
}

// The sine of the SFU takes a multiplication and MUFU.SIN. NVIDIA states its error only for -pi to
// pi, so any other angle gives a NaN here.
constexpr float kPi = 3.14159265f;
__device__ float unitSine(float angle) {
    return fabsf(angle) < kPi + 0.01f ? __sinf(angle) : NAN;
}

__global__ void fastSine(float b, unsigned steps, float* results, long long* cycles) {
    timeChains<kShort>(steps, results, cycles, [=](float x) { return unitSine(x) + b; });
}

// The angles are up to 96, which is 15 circles. The kernel is still slow: the lanes of a warp take
// away different numbers of circles, and all lanes wait for the lane with the most.
__global__ void loopedSine(float b, unsigned steps, float* results, long long* cycles) {
    const float first = b * static_cast<float>(startNumber(0));
    timeChains<kLong>(steps, results, cycles, [=](float x) {
        float angle = x;
        while (angle > kPi) angle -= 2 * kPi;
        return fmaf(0.5f, unitSine(angle), first);
    });
}

// The number of circles is the nearest whole number to x / 2 pi, and one FMA takes all of them
// away.
__global__ void wrappedSine(float b, unsigned steps, float* results, long long* cycles) {
    const float first = b * static_cast<float>(startNumber(0));
    timeChains<kShort>(steps, results, cycles, [=](float x) {
        const float circles = rintf(x * (0.5f / kPi));
        return fmaf(0.5f, unitSine(fmaf(circles, -2 * kPi, x)), first);
    });
}

// The CPU reference computes where the chains end that begin with 1, 2 ... 64, or with these
// numbers divided by 64.
template <typename T, typename Step>
std::vector<T> ends(unsigned steps, Step step) {
    std::vector<T> x;
    for (int number = 1; number <= 64; ++number) {
        x.push_back(static_cast<T>(std::is_floating_point_v<T> ? number / 64.0 : number));
        for (unsigned s = 0; s < steps; ++s) x.back() = step(x.back());
    }
    return x;
}

// This is the same reference for the two numbers in a pair of halves.
std::vector<unsigned> endsOfHalves(unsigned steps, double b) {
    const double half = halfValue(nearestHalf(b));
    const auto step = [=](double x) { return halfValue(nearestHalf(x * x + half)); };
    std::vector<unsigned> pairs;
    for (int number = 1; number <= 64; ++number) {
        double x = number / 64.0, y = number / 128.0;
        for (unsigned s = 0; s < steps; ++s) x = step(x), y = step(y);
        pairs.push_back(nearestHalf(x) | unsigned{nearestHalf(y)} << 16);
    }
    return pairs;
}

// Names the first result that differs from the expected one by more than `most`. The text is empty
// if there is none.
template <typename ExpectedOf>
std::string furtherThan(double most, const std::vector<float>& results,
                        const ExpectedOf& expectedOf) {
    for (std::size_t i = 0; i < results.size(); ++i) {
        const double expected = expectedOf(i);
        if (std::fabs(results[i] - expected) <= most) continue;  // a NaN never passes
        return lab::describeMismatch(i, results[i], static_cast<float>(expected)) +
               lab::formatted(" (at most %g off)", most);
    }
    return "";
}

int main(int argc, char** argv) {
    unsigned steps, block;
    lab::Exercise exercise("instructionRates",
                           "Measures the results per cycle of the units of an SM.");
    exercise.option("steps", &steps, {1 << 14, 8}, 1, 1 << 18, "steps of a chain");
    exercise.option("block", &block, {1024, 64}, 1, lab::kMaxBlock,
                    "threads of the one block on each SM");
    exercise.parse(argc, argv);
    constexpr auto kOnGpu = lab::OwnColumn::kOnGpu;
    exercise.columns(lab::Columns::kTimed,
                     {{"per step", 8, "per_step"},
                      {"table", 5, "table_per_cycle", lab::OwnColumn::kPredicted},
                      {"per cycle", 9, "per_cycle", kOnGpu},
                      {"% table", 7, "percent_table", kOnGpu},
                      {"FMAs", 6, "fmas", kOnGpu}},
                     {"grid", "block"});
    exercise.title("%u chains of %u steps in a thread, %u threads on an SM", kChains, steps, block);
    exercise.noteInEmulation("It has no units and no cycles, so the program measures no rates.");

    const lab::DeviceFacts& gpu = exercise.device();
    const NativeRates table = nativeRatesOf(gpu.major, gpu.minor);
    const auto grid = static_cast<unsigned>(gpu.multiprocessors);
    const std::size_t threads = std::size_t{grid} * block;
    lab::DeviceBuffer<long long> blockCycles(grid);
    lab::DeviceBuffer<float> floats(threads * kChains);
    lab::DeviceBuffer<double> doubles(floats.size());
    lab::DeviceBuffer<unsigned> words(floats.size());  // integers, and pairs of halves
    lab::Ladder ofFloats(exercise, floats), ofDoubles(exercise, doubles), ofWords(exercise, words);
    long long* const cycles = blockCycles.get();

    struct Results {
        unsigned perStep;
        int inTable;  // results per cycle; 0 if the table has no such row, or if we do not know
    };
    double fmasPerCycle = 0;  // 0 until it is measured
    const auto cellsOf = [&](const std::string& name, Results count, const lab::Statistics& time) {
        const bool known = count.inTable > 0;
        const lab::Cell inTable = known ? lab::Cell(count.inTable) : "-";
        if (time.count == 0) return std::vector<lab::Cell>{count.perStep, inTable};
        const std::vector<long long> all = blockCycles.toHost();
        const double typical = lab::statistics({all.begin(), all.end()}).median;  // over all SMs
        const double perCycle = 1.0 * block * kChains * steps * count.perStep / typical;
        if (name == "fp32Fma") fmasPerCycle = perCycle;
        return std::vector<lab::Cell>{
            count.perStep,
            inTable,
            {perCycle, 1},
            known ? lab::Cell(100 * perCycle / count.inTable, 1) : lab::Cell(),
            fmasPerCycle > 0 ? lab::Cell(fmasPerCycle / perCycle, 1) : lab::Cell()};
    };
    const auto rung = [&](lab::Ladder& ladder, const char* name, Results count, const auto& wrong,
                          const lab::Launch& launch) {
        const auto check = [&](const lab::Statistics& time) -> lab::Finding {
            return {wrong(), cellsOf(name, count, time)};
        };
        ladder.rung(name, grid, block, lab::kNoRate, check, launch);
    };

    // Result i is the end of chain i / threads of thread i % threads.
    const auto startOf = [&](std::size_t i) { return (i % threads + i / threads) % 64; };
    const auto exactly = [&](const auto& results, const auto& ends) {
        return lab::mismatchOf(results, [&](std::size_t i) { return ends[startOf(i)]; });
    };
    const auto within = [&](double most, const std::vector<double>& ends) {
        return furtherThan(most, floats.toHost(), [&](std::size_t i) { return ends[startOf(i)]; });
    };

    rung(
        ofFloats, "fp32Fma", Results{1, table.fp32},
        [&] {
            return exactly(floats,
                           ends<float>(steps, [](float x) { return std::fma(x, x, -1.9f); }));
        },
        [&] { fp32Fma<<<grid, block>>>(-1.9f, steps, floats.get(), cycles); });
    rung(
        ofFloats, "fp32Add", Results{1, table.fp32},
        [&] { return exactly(floats, ends<float>(steps, [](float x) { return x + 0.5f; })); },
        [&] { fp32Add<<<grid, block>>>(0.5f, steps, floats.get(), cycles); });
    rung(
        ofFloats, "fp32Multiply", Results{1, table.fp32},
        [&] { return exactly(floats, ends<float>(steps, [](float x) { return x * 1.0001f; })); },
        [&] { fp32Multiply<<<grid, block>>>(1.0001f, steps, floats.get(), cycles); });
    rung(
        ofWords, "fp16Fma", Results{2, table.fp16},
        [&] { return exactly(words, endsOfHalves(steps, -1.9)); },
        [&] {
            auto* const pairs = reinterpret_cast<__half2*>(words.get());
            fp16Fma<<<grid, block>>>(-1.9f, steps, pairs, cycles);
        });
    rung(
        ofDoubles, "fp64Fma", Results{1, table.fp64},
        [&] {
            return exactly(doubles,
                           ends<double>(steps, [](double x) { return std::fma(x, x, -1.9); }));
        },
        [&] { fp64Fma<<<grid, block>>>(-1.9, steps, doubles.get(), cycles); });

    constexpr unsigned kMixed = 0x9E3779B9, kPrime = 16777619, kLarge = 4000000007;
    rung(
        ofWords, "intAdd", Results{2, table.intAdd},
        [&] {
            return exactly(words,
                           ends<unsigned>(steps, [](unsigned x) { return (x + kMixed) ^ kMixed; }));
        },
        [&] { intAdd<<<grid, block>>>(kMixed, steps, words.get(), cycles); });
    rung(
        ofWords, "intMultiply", Results{1, table.intMultiply},
        [&] {
            return exactly(words, ends<unsigned>(steps, [](unsigned x) { return x * kPrime + 1; }));
        },
        [&] { intMultiply<<<grid, block>>>(kPrime, steps, words.get(), cycles); });
    rung(
        ofWords, "intDivide", Results{1, 0},
        [&] {
            return exactly(words, ends<unsigned>(steps, [](unsigned x) { return kLarge / x + 1; }));
        },
        [&] { intDivide<<<grid, block>>>(kLarge, steps, words.get(), cycles); });
    constexpr unsigned kFewBits = 0xF0F0;  // so that FP32 has all integers that occur
    rung(
        ofWords, "convert", Results{2, 0},
        [&] {
            const auto step = [](unsigned x) {
                return static_cast<unsigned>(static_cast<float>(x) * 0.75f) ^ kFewBits;
            };
            return exactly(words, ends<unsigned>(steps, step));
        },
        [&] {
            auto* const integers = reinterpret_cast<int*>(words.get());
            convert<<<grid, block>>>(kFewBits, steps, integers, cycles);
        });

    // The check allows the error of a step, as NVIDIA states it, and the rounding of the sum. An
    // error disappears after a few steps, since each step makes errors smaller.
    rung(
        ofFloats, "reciprocalRoot", Results{1, table.special},
        [&] {
            return within(2e-6,
                          ends<double>(steps, [](double x) { return 1 / std::sqrt(x) + 0.5; }));
        },
        [&] { reciprocalRoot<<<grid, block>>>(0.5f, steps, floats.get(), cycles); });
    const auto isSine = [&](double most) {
        return within(most, ends<double>(steps, [](double x) { return std::sin(x) + 1; }));
    };
    rung(
        ofFloats, "accurateSine", Results{1, 0}, [&] { return isSine(3e-7); },
        [&] { accurateSine<<<grid, block>>>(1, steps, floats.get(), cycles); });
    rung(
        ofFloats, "fastSine", Results{1, table.special}, [&] { return isSine(7e-7); },
        [&] { fastSine<<<grid, block>>>(1, steps, floats.get(), cycles); });

    // Here a step depends on the thread, too, but thread 64 has the same step as thread 0.
    const auto isSineOfAngle = [&](double most) {
        std::vector<std::vector<double>> ofThread;
        for (int number = 1; number <= 64; ++number) {
            ofThread.push_back(
                ends<double>(steps, [=](double x) { return 0.5 * std::sin(x) + 1.5 * number; }));
        }
        return furtherThan(most, floats.toHost(),
                           [&](std::size_t i) { return ofThread[i % threads % 64][startOf(i)]; });
    };
    rung(
        ofFloats, "loopedSine", Results{1, 0}, [&] { return isSineOfAngle(5e-5); },
        [&] { loopedSine<<<grid, block>>>(1.5f, steps, floats.get(), cycles); });
    rung(
        ofFloats, "wrappedSine", Results{1, 0}, [&] { return isSineOfAngle(1.2e-5); },
        [&] { wrappedSine<<<grid, block>>>(1.5f, steps, floats.get(), cycles); });
    return exercise.finish();
}
