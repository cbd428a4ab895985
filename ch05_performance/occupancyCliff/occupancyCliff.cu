// Blocks fit on a multiprocessor (SM) or they do not: one register more for each thread, or one
// byte more of shared memory, can cost a whole block. Here both are dials that change nothing else:
// the registers and the bytes are taken, and never used.
//
//   1 chaseRegisters  each load has the address of the next, so that only other warps fill the
//                     wait; ever more registers, on both sides of each cliff
//   2 chaseShared     the same kernel with ever more shared memory, on both sides of each cliff
//   3 compute         arithmetic with four independent chains in a thread; a few of these
//                     registers: two blocks are as fast as eight, and one is nearly so
//   4 walk            each block reads an array of its own again and again: many blocks push one
//                     another's arrays out of L1, and fewer are faster
//
//   regs       registers of a thread; shared: bytes of shared memory that a block is launched with
//   blocks     that fit on an SM by the rules of occupancy_rules.h; occupancy: their warps, in
//              percent of those that an SM can hold
//   sets       KiB that the arrays of these blocks take together
//
// The CSV also has the grid, the block, the warps that fit, what limits them, and `achieved`: the
// warps that were there on average, in percent of those that an SM can hold.
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

// Makes a kernel take kRegisters registers: it needs as many for this code, which is never
// executed, since none is launched with more than kMostSteps. The compiler cannot know that. A
// thread has what the hungriest place of its kernel needs, from the first instruction to the last.
// (__maxnreg__ is only a limit: no kernel takes more than it needs.)
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

constexpr unsigned kPlaces = 1 << 20;  // of the chains: 4 MiB, too much for L1, little for L2
constexpr unsigned kNext = 648055;     // places from one to the next: odd, so that all have a turn
constexpr unsigned kApart = 33;        // places between the starts of warps: more than a cache line

// One load in flight for each warp, whose lanes follow the same chain, so that L2 has but a sector
// to deliver. A step takes the latency of L2: what an SM does in that time is a step of each warp
// that it holds. Time is inverse to the number of blocks.
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
constexpr unsigned kStarts = 64;  // different results, so that the reference has few to compute

// Four multiply-adds in flight for each thread: the warps of one block fill the pipelines of the
// SM, until it ends. More blocks wait in turn for the same pipelines.
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

constexpr unsigned kMostSets = 256;  // arrays of 96 KiB: 24 MiB, too much for L1, not for L2
constexpr unsigned kAhead = 4;       // loads that a thread starts before it needs the first one

// Each block reads its array, block 256 that of block 0 again. What it has read once is in L1,
// unless the other blocks have pushed it out in the meantime. L1 delivers more in a cycle than an
// SM gets from L2; so fewer blocks are better, as long as their warps suffice to keep L1 busy.
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
    exercise.option("block", &block, 256, 1, occupancy::kMaxThreads, "threads of a block");
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
    exercise.noteInEmulation("It has no registers: regs are those that the source asks for, and");
    exercise.noteInEmulation("blocks those that a GPU would hold with them.");

    const occupancy::Limits& sm = occupancy::limitsOf(exercise.device());
    const unsigned grid = lab::blocksFor(threads, block);
    lab::DeviceBuffer<unsigned> results(threads);
    lab::DeviceBuffer<lab::Span> spans(grid * occupancy::divideUp(block, occupancy::kWarp));
    const auto clear = [&] { spans.fillBytes(0); };

    // A kernel that asks for so many registers, with so much dynamic shared memory, and with an
    // array of so many KiB for each block.
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
        if (known.registers == 0) taken.registers = registers.count;  // an emulation does not know
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
        occupancy::allowShared(address, sm);  // and the same little L1 in all rows
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
        for (const unsigned more : {0, 1})  // byte than so many blocks can have
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
    // In all rows shared memory has the same size, no more of an SM than its blocks take for CUDA
    // (in percent): L1 has all the rest.
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
