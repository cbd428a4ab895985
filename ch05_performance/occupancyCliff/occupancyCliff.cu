// A block becomes resident on a multiprocessor (SM) as a whole or not at all. So one register more
// for each thread, or one byte more of shared memory, can cost a whole block. Here registers and
// bytes are dials: a kernel takes them and never uses them, so nothing else changes.
//
//     mostRegisters   computes on the host up to how many registers a number of blocks fits
//   1 chaseRegisters  each load gets its address from the load before, so only other warps can fill
//                     the wait; more and more registers, on both sides of each cliff
//   2 chaseShared     the same kernel with more and more shared memory, on both sides of each cliff
//   3 compute         arithmetic with four independent chains in each thread, for some of these
//                     registers: two blocks are as fast as eight, and one is nearly as fast
//   4 walk            each block reads an array of its own again and again: many blocks evict each
//                     other's arrays from L1, so fewer blocks are faster
//
//   regs       registers of a thread; shared: bytes of shared memory that the launch requests
//   blocks     blocks that fit on an SM by the rules of occupancy_rules.h; occupancy: their warps,
//              in percent of those that an SM can hold
//   sets       KiB that the arrays of these blocks take together
//
// The CSV also has the grid, the block, the warps that fit, what limits them, and `achieved`: the
// warps that were resident on average, in percent of those that an SM can hold.
//
//   ./lab run occupancyCliff
//   ./lab test occupancyCliff
//   ./lab profile occupancyCliff
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target occupancyCliff
//   build/ch05_performance/occupancyCliff
//   ncu build/ch05_performance/occupancyCliff --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch05_performance/occupancyCliff/occupancyCliff.cu
//       common/*.cpp common/*.cu -o build/occupancyCliff

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "achieved_occupancy.cuh"
#include "lab.cuh"
#include "occupancy_by_cuda.cuh"
#include "occupancy_rules.h"

constexpr unsigned kMostSteps = 1 << 20;

// Makes a kernel take kRegisters registers. This code needs that many, but it is never executed: no
// kernel is launched with more than kMostSteps, which the compiler cannot know. The compiler gives
// a thread as many registers as the most demanding place of its kernel needs, from the first
// instruction to the last. (__maxnreg__ is only a limit: no kernel takes more than it needs.)
template <unsigned kRegisters>
__device__ void takeRegisters(unsigned steps, unsigned* data) {
    if (steps <= kMostSteps) return;
    constexpr unsigned kValues = kRegisters - 6;  // the rest: an address, a counter
    unsigned value[kValues];
#pragma unroll  // every index becomes a constant: only then can an array live in registers
    for (unsigned i = 0; i < kValues; ++i) value[i] = data[i];
#pragma unroll 1
    for (unsigned step = 0; step < steps; ++step) {
#pragma unroll
        for (unsigned i = 0; i < kValues; ++i) value[i] = value[i] * value[(i + 1) % kValues] + i;
    }
#pragma unroll
    for (unsigned i = 0; i < kValues; ++i) data[i] = value[i];
}

constexpr unsigned kPlaces = 1 << 20;  // 4 MiB: too much for L1, little for L2
constexpr unsigned kNext = 648055;  // from one place to the next: odd, so that a chain visits all
constexpr unsigned kApart = 33;     // places between the starts of warps: more than a cache line

// Each warp has one load in flight. Its lanes follow the same chain, so L2 delivers one sector for
// each load, and bandwidth is no limit. A step takes the latency of L2. In that time an SM makes
// one step for each of its warps, so half of the blocks take twice the time.
template <unsigned kRegisters>
__global__ void __maxnreg__(kRegisters)
    chase(const unsigned* next, unsigned steps, std::size_t threads, unsigned* results,
          lab::Span* spans) {
    const unsigned long long begin = lab::globaltimer();
    const std::size_t t = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (t < threads) {
        auto place = static_cast<unsigned>(t / occupancy::kWarp * kApart % kPlaces);
#pragma unroll 1
        for (unsigned step = 0; step < steps; ++step) place = next[place];
        results[t] = place;
    }
    noteSpan(spans, begin);
    takeRegisters<kRegisters>(steps, results);
}

constexpr unsigned kChains = 4;
constexpr unsigned kStarts = 64;  // different results: few, so that the reference is quick

// Each thread has four multiply-adds in flight, so the warps of one block can fill the pipelines of
// the SM, until the block ends. More blocks share the same pipelines and gain nothing.
template <unsigned kRegisters>
__global__ void __maxnreg__(kRegisters)
    compute(unsigned steps, std::size_t threads, unsigned* results, lab::Span* spans) {
    const unsigned long long begin = lab::globaltimer();
    const std::size_t t = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (t < threads) {
        unsigned x[kChains];
        for (unsigned c = 0; c < kChains; ++c) x[c] = t % kStarts + c;
#pragma unroll 8
        for (unsigned step = 0; step < steps; ++step) {
            for (unsigned c = 0; c < kChains; ++c) x[c] = x[c] * x[c] + 3;
        }
        results[t] = x[0] ^ x[1] ^ x[2] ^ x[3];
    }
    noteSpan(spans, begin);
    takeRegisters<kRegisters>(steps, results);
}

constexpr unsigned kMostSets = 256;  // 24 MiB in arrays of 96 KiB: too much for L1, not for L2
constexpr unsigned kAhead = 4;       // loads that a thread starts before it needs the first one

// Each block reads its array again and again; block 256 reads that of block 0. After the first pass
// an array is in L1, unless the other blocks have evicted it. L1 delivers more bytes in a cycle
// than an SM gets from L2. So fewer blocks are faster, as long as their warps can keep L1 busy.
template <unsigned kRegisters>
__global__ void __maxnreg__(kRegisters)
    walk(const int4* data, unsigned sets, unsigned setSize, unsigned passes, std::size_t threads,
         unsigned* results, lab::Span* spans) {
    const unsigned long long begin = lab::globaltimer();
    const std::size_t t = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (t < threads) {
        const int4* const set = data + std::size_t{blockIdx.x % sets} * setSize;
        unsigned sum = 0;
#pragma unroll 1
        for (unsigned pass = 0; pass < passes; ++pass) {
            for (unsigned first = threadIdx.x; first < setSize; first += kAhead * blockDim.x) {
                int4 fours[kAhead];
#pragma unroll
                for (unsigned k = 0; k < kAhead; ++k) {
                    const unsigned i = first + k * blockDim.x;
                    fours[k] = i < setSize ? set[i] : int4{};
                }
#pragma unroll
                for (const int4& four : fours) sum += four.x + four.y + four.z + four.w;
            }
        }
        results[t] = sum;
    }
    noteSpan(spans, begin);
    takeRegisters<kRegisters>(passes, results);
}

// The most registers of a thread with which `blocks` blocks fit on an SM, if each thread got
// exactly its registers. The result is often too large: registers are handed out in units, and each
// quarter of the SM has its own.
unsigned mostByDivision(const occupancy::Limits& sm, unsigned threads, unsigned blocks) {
    return std::min(sm.registers / (blocks * threads), sm.registersPerThread);
}

// The same by the rules. With one register more, fewer blocks fit.
unsigned mostRegisters(const occupancy::Limits& sm, unsigned threads, unsigned blocks) {
    const unsigned warps = blocks * ((threads + occupancy::kWarp - 1) / occupancy::kWarp);
    const unsigned inFullestQuarter = (warps + sm.partitions - 1) / sm.partitions;
    const unsigned units = sm.registers / sm.partitions / inFullestQuarter / sm.registerUnit;
    return std::min(units * sm.registerUnit / occupancy::kWarp, sm.registersPerThread);
}

// What is wrong with mostRegisters(), found by trying all numbers; empty if nothing is.
std::string wrongEdge(const occupancy::Limits& sm, unsigned threads) {
    for (unsigned blocks = calculate(sm, {threads, 0, 0}).blocks; blocks > 0; --blocks) {
        unsigned most = sm.registersPerThread;
        while (most > 0 && calculate(sm, {threads, most, 0}).blocks < blocks) --most;
        const unsigned found = mostRegisters(sm, threads, blocks);
        if (found == most) continue;
        return lab::formatted("%u blocks of %u threads fit with up to %u registers, not %u", blocks,
                              threads, most, found);
    }
    return "";
}

// The last registers before each cliff, for a note above the table.
std::pair<std::string, std::string> edges(const occupancy::Limits& sm, unsigned threads) {
    std::pair<std::string, std::string> found{"Most registers before a cliff:",
                                              "By division alone:            "};
    unsigned before = 0;
    for (unsigned blocks = calculate(sm, {threads, 0, 0}).blocks; blocks > 0; --blocks) {
        const unsigned most = mostRegisters(sm, threads, blocks);
        if (most == before || most >= sm.registersPerThread) continue;
        found.first += lab::formatted(" %3u", most);
        found.second += lab::formatted(" %3u", mostByDivision(sm, threads, blocks));
        before = most;
    }
    return found;
}

// CPU references, with numbers of their own, so that a mistake above is none here.
std::vector<unsigned> chased(std::size_t threads, unsigned steps) {
    std::vector<unsigned> places = lab::hostVector<unsigned>(threads);
    for (std::size_t t = 0; t < threads; ++t)
        places[t] = static_cast<unsigned>((t / 32 * 33 + std::size_t{steps} * 648055) % 1048576);
    return places;
}

std::vector<unsigned> computed(std::size_t threads, unsigned steps) {
    std::vector<unsigned> results = lab::hostVector<unsigned>(threads);
    for (std::size_t t = 0; t < threads; ++t) {
        for (unsigned c = 0; c < 4 && t < 64; ++c) {
            unsigned x = static_cast<unsigned>(t) + c;
            for (unsigned step = 0; step < steps; ++step) x = x * x + 3;
            results[t] ^= x;
        }
        if (t >= 64) results[t] = results[t - 64];
    }
    return results;
}

std::vector<unsigned> walked(std::size_t threads, unsigned block, unsigned passes,
                             const std::vector<int>& data, std::size_t setSize) {
    std::vector<unsigned> sums(data.size() / setSize * block);  // one for each thread and set
    for (std::size_t i = 0; i < data.size(); ++i)
        sums[i / setSize * block + i % setSize / 4 % block] += passes * data[i];
    std::vector<unsigned> results = lab::hostVector<unsigned>(threads);
    for (std::size_t t = 0; t < threads; ++t) results[t] = sums[t % sums.size()];
    return results;
}

int main(int argc, char** argv) {
    std::size_t threads;
    unsigned block, steps, operations, passes, setKiB;
    lab::Exercise exercise("occupancyCliff", "One register more for a thread, one block fewer.");
    exercise.option("threads", &threads, {1 << 22, 1 << 12}, 1, lab::kMaxSize, "of each kernel");
    exercise.option("block", &block, 256, 1, occupancy::kMaxThreads, "threads in a block");
    exercise.option("steps", &steps, {256, 8}, 1, kMostSteps, "loads of each chain of chase");
    exercise.option("operations", &operations, {4096, 8}, 1, kMostSteps,
                    "multiply-adds of each chain of compute");
    exercise.option("passes", &passes, {64, 2}, 1, kMostSteps,
                    "over the array of each block of walk");
    exercise.option("set", &setKiB, 96, 1, 1024, "KiB that a block of walk reads in each pass");
    exercise.parse(argc, argv);
    exercise.columns(lab::Columns::kLadder,
                     {{"regs", 4, "registers"},
                      {"shared", 6, "shared"},
                      {"blocks", 6, "blocks"},
                      {"", 0, "warps"},
                      {"occupancy", 9, "occupancy"},
                      {"", 0, "achieved", lab::OwnColumn::kOnGpu},
                      {"", 0, "limited_by"},
                      {"sets", 4, "sets_kib"}},
                     {"grid", "block"});
    exercise.title("%s threads in blocks of %u", lab::withCommas(threads).c_str(), block);
    exercise.noteInEmulation(
        "It has no registers: regs are those that the source is written for, and");
    exercise.noteInEmulation("blocks are those that an SM of a GPU would hold with them.");

    const occupancy::Limits& sm = occupancy::limitsOf(exercise.device());
    const auto [byRules, byDivision] = edges(sm, block);
    exercise.note(byRules);
    exercise.note(byDivision);
    const unsigned grid = lab::blocksFor(threads, block);
    lab::DeviceBuffer<unsigned> results(threads);
    lab::DeviceBuffer<lab::Span> spans(grid * occupancy::divideUp(block, occupancy::kWarp));
    const auto clear = [&] { spans.fillBytes(0); };

    lab::Ladder onHost(exercise, results);
    onHost.host("mostRegisters", lab::kNoRate, [&] { return wrongEdge(sm, block); });

    // The registers of a thread, the dynamic shared memory of a block, and the KiB of its array.
    struct Registers {
        unsigned count;
    };
    struct SharedBytes {
        std::size_t count;
    };
    struct SetOfBlock {
        unsigned kib;
    };
    const auto row = [&](lab::Ladder& ladder, const char* name, const void* kernel,
                         Registers registers, SharedBytes shared, SetOfBlock set,
                         const std::vector<unsigned>& expected, const lab::Launch& launch) {
        const occupancy::Block known =
            occupancy::blockOf(occupancy::attributesOf(kernel), block, shared.count);
        occupancy::Block taken = known;
        if (known.registers == 0) taken.registers = registers.count;  // no compiler has told
        const occupancy::Occupancy predicted = calculate(sm, taken);
        if (predicted.blocks == 0) {
            exercise.note(lab::formatted("%s: no block of %u threads with %u registers fits.", name,
                                         block, taken.registers));
            return;
        }
        const auto check = [&]() -> lab::Finding {
            const std::vector<lab::Span> ofWarps = spans.toHost();
            std::string wrong = lab::mismatch(results, expected);
            if (wrong.empty() &&
                calculate(sm, known).blocks != occupancy::blocksByCuda(kernel, block, shared.count))
                wrong = "CUDA counts other blocks";
            if (wrong.empty() && countByPlacing(sm, taken) != predicted.blocks)
                wrong = "placed one by one, other blocks fit";
            if (wrong.empty()) wrong = wrongSpans(ofWarps, predicted.warps);
            return {wrong,
                    {taken.registers,
                     shared.count,
                     predicted.blocks,
                     predicted.warps,
                     {predicted.percent, 1},
                     {achievedPercent(ofWarps, sm.warps), 1},
                     predicted.limitedBy,
                     set.kib > 0 ? lab::Cell(predicted.blocks * set.kib) : lab::Cell()}};
        };
        ladder.rung(name, grid, block, lab::kNoRate, check, launch);
    };

    lab::Ladder byRegisters(exercise, results, clear), byShared(exercise, results, clear);
    std::vector<unsigned> table = lab::hostVector<unsigned>(kPlaces);
    for (unsigned i = 0; i < kPlaces; ++i) table[i] = (i + kNext) % kPlaces;
    const lab::DeviceBuffer<unsigned> next(table);
    const std::vector<unsigned> places = chased(threads, steps);
    const auto chaseRow = [&](lab::Ladder& ladder, const char* name, auto* kernel,
                              Registers registers, SharedBytes shared) {
        if (!exercise.selected(name)) return;
        const void* const address = reinterpret_cast<const void*>(kernel);
        occupancy::allowShared(address, sm);  // also gives L1 the same small size in all rows
        row(ladder, name, address, registers, shared, SetOfBlock{0}, places, [&] {
            kernel<<<grid, block, shared.count>>>(next.get(), steps, threads, results.get(),
                                                  spans.get());
        });
    };
    const std::pair<decltype(&chase<32>), unsigned> chases[] = {
        {chase<32>, 32}, {chase<33>, 33}, {chase<40>, 40},   {chase<41>, 41},
        {chase<48>, 48}, {chase<49>, 49}, {chase<64>, 64},   {chase<65>, 65},
        {chase<80>, 80}, {chase<81>, 81}, {chase<128>, 128}, {chase<129>, 129}};
    for (const auto& [kernel, registers] : chases)
        chaseRow(byRegisters, "chaseRegisters", kernel, Registers{registers}, SharedBytes{0});
    for (const unsigned blocks : {8, 6, 4, 2}) {
        for (const unsigned more : {0, 1})  // with one byte more, a block is lost
            chaseRow(byShared, "chaseShared", chase<32>, Registers{32},
                     SharedBytes{sharedFor(sm, blocks) + more});
    }

    lab::Ladder computes(exercise, results, clear);
    const std::vector<unsigned> ends = computed(threads, operations);
    const auto computeRow = [&](auto* kernel, Registers registers) {
        if (!exercise.selected("compute")) return;
        row(computes, "compute", reinterpret_cast<const void*>(kernel), registers, SharedBytes{0},
            SetOfBlock{0}, ends,
            [&] { kernel<<<grid, block>>>(operations, threads, results.get(), spans.get()); });
    };
    computeRow(compute<32>, Registers{32});
    computeRow(compute<64>, Registers{64});
    computeRow(compute<128>, Registers{128});
    computeRow(compute<129>, Registers{129});

    lab::Ladder walks(exercise, results, clear);
    const unsigned setSize = setKiB * 1024 / sizeof(int), sets = std::min(grid, kMostSets);
    const std::vector<int> input =
        lab::randomInts(std::size_t{sets} * setSize, exercise.seed(), -100, 100);
    const lab::DeviceBuffer<int> data(input);
    const std::vector<unsigned> sums = walked(threads, block, passes, input, setSize);
    // Shared memory has the same size in all rows, in percent of the most: just what CUDA takes for
    // each block. L1 has all the rest.
    const std::size_t reserved = calculate(sm, {block, 32, 0}).blocks * sm.sharedReserved;
    const std::size_t forAllBlocks = occupancy::divideUp(100 * reserved, sm.shared);
    const auto walkRow = [&](auto* kernel, Registers registers) {
        if (!exercise.selected("walk")) return;
        const void* const address = reinterpret_cast<const void*>(kernel);
        CUDA_CHECK(cudaFuncSetAttribute(address, cudaFuncAttributePreferredSharedMemoryCarveout,
                                        static_cast<int>(forAllBlocks)));
        row(walks, "walk", address, registers, SharedBytes{0}, SetOfBlock{setKiB}, sums, [&] {
            const auto* const first = reinterpret_cast<const int4*>(data.get());
            kernel<<<grid, block>>>(first, sets, setSize / 4, passes, threads, results.get(),
                                    spans.get());
        });
    };
    walkRow(walk<32>, Registers{32});
    walkRow(walk<40>, Registers{40});
    walkRow(walk<64>, Registers{64});
    walkRow(walk<80>, Registers{80});
    walkRow(walk<128>, Registers{128});
    walkRow(walk<129>, Registers{129});
    return exercise.finish();
}
