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
// resident; sumLoads1 also with blocks of different sizes. Each row has the blocks per SM that
// occupancyCalculator.h predicts and those that CUDA does, and what part of an SM's warps were
// there on average (achieved). `compared` is the number of other configurations (threads per block,
// shared memory) of the kernel for which the two predictions are equal.
//
//   cmake --build build --target occupancy
//   build/ch03_execution_model/occupancy --size=128M
//   build/ch03_execution_model/occupancy --calculate --capability=8.6 --threads=256 --registers=48
//   ctest --test-dir build -R occupancy
//   ncu build/ch03_execution_model/occupancy --profile
//
// --calculate works for any GPU, and without one.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "achievedOccupancy.cuh"
#include "lab.cuh"
#include "occupancyCalculator.h"
#include "occupancyReport.cuh"

constexpr std::size_t kPerThread = 64;  // integers

// Thread t of `threads` sums the elements t, t + threads, t + 2 * threads ... The loop waits for
// its loads before it issues the next ones, so that a warp has kLoads of them in flight.
template <unsigned kLoads>
__global__ void sumLoads(const int* data, std::size_t n, std::size_t threads, int* sums,
                         Span* spans) {
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
__global__ void __launch_bounds__(kBlock, std::min(kMinBlocks, lab::kResidentThreads / kBlock))
    mixAtLeast(unsigned steps, std::size_t threads, int* results, Span* spans) {
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

// CPU reference of sumLoads.
std::vector<int> sumsOfThreads(const std::vector<int>& data, std::size_t threads) {
    std::vector<int> sums = lab::hostVector<int>(threads);
    for (std::size_t i = 0; i < data.size(); ++i) sums[i % threads] += data[i];
    return sums;
}

// CPU reference of mixAtLeast.
std::vector<int> mixedOfThreads(std::size_t threads, unsigned steps) {
    std::vector<int> results = lab::hostVector<int>(threads);
    for (std::size_t t = 0; t < threads; ++t) {
        if (t >= kStarts) {
            results[t] = results[t - kStarts];
            continue;
        }
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
    std::size_t size = lab::perBackend(std::size_t{1} << 27, std::size_t{1} << 16);
    lab::Exercise exercise("occupancy", "What limits the warps on an SM, and what they are for.");
    exercise.option("size", &size, 1, lab::kMaxSize, "number of integers");
    occupancy::Report report(exercise);
    exercise.parseOptions(argc, argv);
    if (report.wanted()) return report.print();
    exercise.selectDevice();
    const lab::DeviceFacts& device = exercise.device();
    const occupancy::Limits& sm = occupancy::limitsOf(device);

    // Every row has the same threads with the same work, in blocks of one size or another.
    const std::size_t threads = occupancy::divideUp(size, kPerThread);
    const unsigned steps = lab::perBackend(128, 4);
    const std::vector<int> input = lab::randomInts(size, exercise.seed(), -100, 100);
    const lab::DeviceBuffer<int> source(input);
    lab::DeviceBuffer<int> results(threads);
    lab::DeviceBuffer<Span> spans(threads / occupancy::kWarp + occupancy::kMaxThreads);
    exercise.output(results);
    exercise.prepare([&] { spans.fillBytes(0); });
    exercise.title("%s ints (%s), %zu to a thread; %u steps of mixing",
                   lab::withCommas(size).c_str(), lab::inBytes(source.bytes()).c_str(), kPerThread,
                   steps);
    if (lab::kEmulated)
        exercise.note("It knows no registers, which limit nothing, and holds no warps on an SM.");

    lab::Table table({{"", 0, "exercise"},
                      {"", 0, "device"},
                      {"", 0, "parameters"},
                      {"kernel", -11, "kernel"},
                      {"", 0, "grid"},
                      {"block", 5, "block"},
                      {"regs", 4, "registers"},
                      {"local", 5, "local"},
                      {"shared", 6, "shared"},
                      {"blocks", 6, "blocks"},
                      {"CUDA", 4, "cuda_blocks"},
                      {"warps", 5, "warps"},
                      {"occup. [%]", 10, "occupancy"},
                      {"achieved", 8, "achieved"},
                      {"limited by", -24, "limited_by"},
                      {"compared", 8, "compared"},
                      {"", 0, "reps"},
                      {"time [ms]", 9, "median_ms"},
                      {"", 0, "min_ms"},
                      {"", 0, "max_ms"},
                      {"GB/s", 7, "gbps"},
                      {"", 0, "percent_peak"},
                      {"speedup", 7, "speedup"},
                      {"check", -5, "check"}},
                     exercise.csv());
    double baseline = 0;  // milliseconds of the row that speedups refer to
    // Measures, checks and reports one row. `sweep` says what differs from row to row.
    const auto row = [&](const char* sweep, const std::string& name, const void* kernel,
                         unsigned block, std::size_t shared, double bytes,
                         const std::vector<int>& expected,
                         const std::function<void(unsigned grid)>& launch) {
        const cudaFuncAttributes attributes = occupancy::attributesOf(kernel);
        const occupancy::Occupancy predicted =
            calculate(sm, occupancy::blockOf(attributes, block, shared));
        const unsigned cudaBlocks = occupancy::blocksByCuda(kernel, block, shared);
        const unsigned grid = lab::blocksFor(threads, block);
        const lab::Statistics time = exercise.measure(name, [&] { launch(grid); });
        const std::vector<Span> ofWarps =
            spans.toHost(grid * occupancy::divideUp(block, occupancy::kWarp));

        unsigned compared = 0;
        std::string wrong = lab::mismatch(results.toHost(), expected);
        if (wrong.empty() && predicted.blocks != cudaBlocks) wrong = "CUDA counts other blocks";
        if (wrong.empty()) wrong = wrongSpans(ofWarps, predicted.warps);
        if (wrong.empty()) wrong = occupancy::compareWithCuda(sm, kernel, &compared);
        const lab::TimeCells times(time);
        lab::Cell achieved, gbps, percent, speedup;
        if (!lab::kEmulated) achieved = {100 * averageWarps(ofWarps) / sm.warps, 1};
        if (time.median > 0) {
            if (baseline == 0) baseline = time.median;
            speedup = {baseline / time.median, 2};
            const double perSecond = bytes / (1e-3 * time.median);
            if (bytes > 0) gbps = {1e-9 * perSecond, 1};
            if (bytes > 0 && device.peakBandwidth > 0)
                percent = {100 * perSecond / device.peakBandwidth, 1};
        }
        const std::string parameters = lab::formatted("size=%zu sweep=%s", size, sweep);
        table.row({"occupancy",
                   device.name,
                   parameters,
                   name,
                   grid,
                   block,
                   attributes.numRegs,
                   attributes.localSizeBytes,
                   shared,
                   predicted.blocks,
                   cudaBlocks,
                   predicted.warps,
                   lab::Cell(predicted.percent, 1),
                   achieved,
                   predicted.limitedBy,
                   compared,
                   time.count,
                   times.median,
                   times.min,
                   times.max,
                   gbps,
                   percent,
                   speedup,
                   lab::verdict(wrong)});
        exercise.report(name, wrong);
    };

    using SumKernel = void(const int*, std::size_t, std::size_t, int*, Span*);
    const std::pair<const char*, SumKernel*> sums[] = {
        {"sumLoads1", sumLoads<1>}, {"sumLoads4", sumLoads<4>}, {"sumLoads16", sumLoads<16>}};
    const std::vector<int> sumsExpected = sumsOfThreads(input, threads);
    for (const auto& [name, kernel] : sums) {
        const void* const address = reinterpret_cast<const void*>(kernel);
        occupancy::allowShared(address, sm);
        if (!exercise.selected(name)) continue;
        const auto sum = [&, name = name, kernel = kernel](const char* sweep, unsigned block,
                                                           std::size_t shared) {
            row(sweep, name, address, block, shared, source.bytes(), sumsExpected,
                [&](unsigned grid) {
                    kernel<<<grid, block, shared>>>(source.get(), size, threads, results.get(),
                                                    spans.get());
                });
        };
        for (const unsigned blocks : {1, 2, 3, 4, 6, 8}) {
            if (blocks * kBlock <= occupancy::kWarp * sm.warps)
                sum("shared", kBlock, sharedFor(sm, blocks));
        }
        if (kernel != sumLoads<1>) continue;
        for (const unsigned block : {32, 64, 96, 128, 256, 512, 768, 1024}) sum("block", block, 0);
    }

    baseline = 0;
    using MixKernel = void(unsigned, std::size_t, int*, Span*);
    const std::pair<unsigned, MixKernel*> mixes[] = {{2, mixAtLeast<2>}, {3, mixAtLeast<3>},
                                                     {4, mixAtLeast<4>}, {5, mixAtLeast<5>},
                                                     {6, mixAtLeast<6>}, {8, mixAtLeast<8>}};
    const std::vector<int> mixesExpected = mixedOfThreads(threads, steps);
    for (const auto& [blocks, kernel] : mixes) {
        const std::string name = "mixAtLeast" + std::to_string(blocks);
        if (blocks * kBlock > occupancy::kWarp * sm.warps || !exercise.selected(name)) continue;
        row("registers", name, reinterpret_cast<const void*>(kernel), kBlock, 0, 0, mixesExpected,
            [&, kernel = kernel](unsigned grid) {
                kernel<<<grid, kBlock>>>(steps, threads, results.get(), spans.get());
            });
    }
    return exercise.finish();
}
