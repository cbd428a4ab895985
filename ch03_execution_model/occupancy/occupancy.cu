// Occupancy is how many warps are resident on a multiprocessor (SM), of the most that it can hold.
// Warps, blocks, registers and shared memory are handed out until one of them has run out; the
// more warps there are, the better they hide one another's latency. Up to a point, and not only so.
//
//   1 sumLoads1   sums integers, one load in flight per thread: speed needs all the warps
//   2 sumLoads4   four independent loads in flight: fewer warps do
//   3 sumLoads16  up to sixteen: half occupancy is as fast as full occupancy
//   4 mixAtLeast2, 3, 4, 5, 6, 8
//                 the compiler must leave room for so many blocks: it keeps fewer values in
//                 registers, the rest goes to local memory, and high occupancy is slow
//
// The sums run with ever less dynamic shared memory per block, which lets 1, 2, 3 ... blocks be
// resident; sumLoads1 also with blocks of different sizes.
//
//   regs      registers of a thread; local: bytes of its local memory
//   warps     that fit on an SM, as the rules of occupancy_rules.h have it
//   achieved  the part of the warps of a full SM that were there on average, in percent
//
// The CSV also has shared (memory of a block), the blocks that fit by the rules and as CUDA counts
// them, the occupancy in percent, what limits it, and `compared`: the number of other
// configurations (threads per block, shared memory) of the kernel for which the two are equal.
// (The exercise occupancyCalculator does the same for any GPU, and without one.)
//
//   ./lab run occupancy -- --size=128M
//   ./lab test occupancy
//   ./lab profile occupancy
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target occupancy
//   build/ch03_execution_model/occupancy --size=128M
//   ncu build/ch03_execution_model/occupancy --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch03_execution_model/occupancy/occupancy.cu
//       common/*.cpp common/*.cu -o build/occupancy

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "achieved_occupancy.cuh"
#include "lab.cuh"
#include "occupancy_rules.h"
#include "rulesAgainstCuda.cuh"

constexpr std::size_t kPerThread = 64;  // integers

// Thread t of `threads` sums the elements t, t + threads, t + 2 * threads ... The loop waits for
// its loads before it issues the next ones, so that a warp has kLoads of them in flight.
template <unsigned kLoads>
__global__ void sumLoads(const int* data, std::size_t n, std::size_t threads, int* sums,
                         lab::Span* spans) {
    const unsigned long long begin = lab::globaltimer();
    const std::size_t t = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (t < threads) {
        int sum = 0;
        std::size_t i = t;
#pragma unroll 1
        for (; i + (kLoads - 1) * threads < n; i += kLoads * threads) {
#pragma unroll
            for (unsigned load = 0; load < kLoads; ++load) sum += data[i + load * threads];
        }
        for (; i < n; i += threads) sum += data[i];  // fewer than kLoads are left
        sums[t] = sum;
    }
    noteSpan(spans, begin);
}

constexpr unsigned kBlock = 256;   // threads
constexpr unsigned kValues = 96;   // that a thread of the mix kernels works on, all in every step
constexpr unsigned kStarts = 256;  // different results, so that the reference has few to compute

// __launch_bounds__(most threads per block, least blocks per SM): the compiler may use only so many
// registers that kMinBlocks blocks of kBlock threads fit, or as many as an SM has threads for.
// (nvcc -maxrregcount=N is a limit for all kernels of a file that do not say so themselves.)
template <unsigned kMinBlocks>
__global__ void __launch_bounds__(kBlock,
                                  std::min(kMinBlocks, occupancy::kResidentThreads / kBlock))
    mixAtLeast(unsigned steps, std::size_t threads, int* results, lab::Span* spans) {
    const unsigned long long begin = lab::globaltimer();
    const std::size_t t = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (t < threads) {
        unsigned value[kValues];
#pragma unroll  // every index becomes a constant: only then can an array live in registers
        for (unsigned i = 0; i < kValues; ++i) value[i] = t % kStarts + i;
#pragma unroll 1
        for (unsigned step = 0; step < steps; ++step) {
#pragma unroll
            for (unsigned i = 0; i < kValues; ++i)
                value[i] = value[i] * 1664525u + value[(i + 1) % kValues];
        }
        unsigned result = 0;
#pragma unroll
        for (unsigned i = 0; i < kValues; ++i) result ^= value[i];
        results[t] = static_cast<int>(result);
    }
    noteSpan(spans, begin);
}

// CPU reference of sumLoads, for `size` elements.
template <typename ElementOf>
std::vector<int> sumsOfThreads(std::size_t size, std::size_t threads, ElementOf elementOf) {
    std::vector<int> sums = lab::hostVector<int>(threads);
    lab::parallelFor(threads, 1 << 14, [&](std::size_t begin, std::size_t end) {
        for (std::size_t t = begin; t < end; ++t) {
            for (std::size_t i = t; i < size; i += threads) sums[t] += elementOf(i);
        }
    });
    return sums;
}

// CPU reference of mixAtLeast: thread t leaves the same as thread t % kStarts.
std::vector<int> mixedOfStarts(unsigned steps) {
    std::vector<int> results(kStarts);
    for (std::size_t t = 0; t < kStarts; ++t) {
        std::vector<unsigned> value(kValues);
        std::iota(value.begin(), value.end(), static_cast<unsigned>(t));
        for (std::size_t k = 0; k < std::size_t{steps} * kValues; ++k) {
            unsigned& next = value[k % kValues];
            next = next * 1664525u + value[(k + 1) % kValues];
        }
        for (const unsigned v : value) results[t] ^= static_cast<int>(v);
    }
    return results;
}

int main(int argc, char** argv) {
    std::size_t size;
    unsigned steps;
    lab::Exercise exercise("occupancy", "What limits the warps on an SM, and what they are for.");
    exercise.option("size", &size, {1 << 25, 1 << 16}, 1, lab::kMaxSize, "number of integers");
    exercise.option("steps", &steps, {128, 4}, 1, 1 << 20, "of mixing");
    exercise.parse(argc, argv);
    constexpr auto kOnGpu = lab::OwnColumn::kOnGpu;
    exercise.columns(lab::Columns::kLadder,
                     {{"regs", 4, "registers", kOnGpu},
                      {"local", 5, "local", kOnGpu},
                      {"", 0, "shared"},
                      {"", 0, "blocks"},
                      {"", 0, "cuda_blocks"},
                      {"warps", 5, "warps"},
                      {"", 0, "occupancy"},
                      {"achieved", 8, "achieved", kOnGpu},
                      {"", 0, "limited_by"},
                      {"", 0, "compared"}},
                     {"grid", "percent_peak"});

    // Every row has the same threads with the same work, in blocks of one size or another.
    const std::size_t threads = occupancy::divideUp(size, kPerThread);
    const std::uint64_t seed = exercise.seed();
    const auto inputOf = [=](std::size_t i) { return lab::randomInt(seed, i, -100, 100); };
    const auto source = lab::filled<int>(size, inputOf);
    lab::DeviceBuffer<int> results(threads);
    lab::DeviceBuffer<lab::Span> spans(threads / occupancy::kWarp + occupancy::kMaxThreads);
    const auto clear = [&] { spans.fillBytes(0); };
    exercise.title("%s ints (%s), %zu to a thread; %u steps of mixing",
                   lab::withCommas(size).c_str(), lab::inBytes(source.bytes()).c_str(), kPerThread,
                   steps);
    exercise.noteInEmulation(
        "It knows no registers, which limit nothing, and holds no warps on an SM.");

    const occupancy::Limits& sm = occupancy::limitsOf(exercise.device());
    const auto nameOf = [&](const std::string& kernel, const char* sweep) {
        return lab::Name(kernel, exercise.parameters() + " sweep=" + sweep);
    };
    // Looks at the last run of a kernel, which had so much dynamic shared memory in a block.
    const auto finding = [&](const void* kernel, const occupancy::Comparison& comparison,
                             unsigned block, std::size_t shared,
                             const auto& expectedOf) -> lab::Finding {
        const cudaFuncAttributes attributes = occupancy::attributesOf(kernel);
        const occupancy::Occupancy predicted =
            calculate(sm, occupancy::blockOf(attributes, block, shared));
        const unsigned cudaBlocks = occupancy::blocksByCuda(kernel, block, shared);
        const std::size_t warps = occupancy::divideUp(block, occupancy::kWarp);
        const std::vector<lab::Span> ofWarps = spans.toHost(lab::blocksFor(threads, block) * warps);

        std::string wrong = lab::mismatchOf(results, expectedOf);
        if (wrong.empty() && predicted.blocks != cudaBlocks) wrong = "CUDA counts other blocks";
        if (wrong.empty()) wrong = wrongSpans(ofWarps, predicted.warps);
        if (wrong.empty()) wrong = comparison.wrong;
        return {wrong,
                {attributes.numRegs,
                 attributes.localSizeBytes,
                 shared,
                 predicted.blocks,
                 cudaBlocks,
                 predicted.warps,
                 {predicted.percent, 1},
                 {achievedPercent(ofWarps, sm.warps), 1},
                 predicted.limitedBy,
                 comparison.count}};
    };

    lab::Ladder sums(exercise, results, clear);
    const std::vector<int> sumsExpected = sumsOfThreads(size, threads, inputOf);
    const auto sumOf = [&](std::size_t t) { return sumsExpected[t]; };
    constexpr std::size_t kNoShared = 0;
    // Blocks of one size, of which ever more fit, then blocks of other sizes.
    const auto sumRows = [&](const char* name, auto* kernel,
                             const std::vector<unsigned>& otherBlocks = {}) {
        if (!exercise.selected(name)) return;
        const void* const address = reinterpret_cast<const void*>(kernel);
        occupancy::allowShared(address, sm);
        const occupancy::Comparison comparison = occupancy::compareWithCuda(sm, address);
        const auto row = [&](const char* sweep, unsigned block, std::size_t shared) {
            const unsigned grid = lab::blocksFor(threads, block);
            const auto check = [&] { return finding(address, comparison, block, shared, sumOf); };
            sums.rung(nameOf(name, sweep), grid, block, lab::bytes(1.0 * source.bytes()), check,
                      [&] {
                          kernel<<<grid, block, shared>>>(source.get(), size, threads,
                                                          results.get(), spans.get());
                      });
        };
        for (const unsigned resident : {1, 2, 3, 4, 6, 8}) {
            if (resident * kBlock <= occupancy::kWarp * sm.warps)
                row("shared", kBlock, sharedFor(sm, resident));
        }
        for (const unsigned block : otherBlocks) row("block", block, kNoShared);
    };
    sumRows("sumLoads1", sumLoads<1>, {32, 64, 96, 128, 256, 512, 768, 1024});
    sumRows("sumLoads4", sumLoads<4>);
    sumRows("sumLoads16", sumLoads<16>);

    lab::Ladder mixes(exercise, results, clear);
    const std::vector<int> mixesExpected = mixedOfStarts(steps);
    const auto mixOf = [&](std::size_t t) { return mixesExpected[t % kStarts]; };
    struct AtLeast {
        unsigned blocks;  // on an SM
    };
    const auto mixRow = [&](AtLeast atLeast, auto* kernel) {
        const std::string name = "mixAtLeast" + std::to_string(atLeast.blocks);
        if (atLeast.blocks * kBlock > occupancy::kWarp * sm.warps || !exercise.selected(name))
            return;
        const void* const address = reinterpret_cast<const void*>(kernel);
        const occupancy::Comparison comparison = occupancy::compareWithCuda(sm, address);
        const unsigned grid = lab::blocksFor(threads, kBlock);
        mixes.rung(
            nameOf(name, "registers"), grid, kBlock, lab::kNoRate,
            [&] { return finding(address, comparison, kBlock, kNoShared, mixOf); },
            [&] { kernel<<<grid, kBlock>>>(steps, threads, results.get(), spans.get()); });
    };
    mixRow(AtLeast{2}, mixAtLeast<2>);
    mixRow(AtLeast{3}, mixAtLeast<3>);
    mixRow(AtLeast{4}, mixAtLeast<4>);
    mixRow(AtLeast{5}, mixAtLeast<5>);
    mixRow(AtLeast{6}, mixAtLeast<6>);
    mixRow(AtLeast{8}, mixAtLeast<8>);
    return exercise.finish();
}
