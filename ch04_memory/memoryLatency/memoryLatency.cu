// How long does a load take? One thread follows a chain: each load brings the address of the next
// one. So no two loads overlap, and cycles / loads is the latency.
//
//   1 registers  no load: each step is a multiply-add
//   2 constant   constant memory
//   3 shared     shared memory
//   4 local      an array of the thread, in local memory
//   5 global     device memory, through the caches L1 and L2
//   6 pastL1     the same with __ldcg(), which bypasses L1
//
// The chain visits the lines of 128 bytes of its footprint in a random order. A longer footprint
// needs a larger memory, which is farther away.
//
//   fits in  the first memory that holds the footprint, by the sizes that the device reports
//            (for L1, what could be shared memory)
//   cycles   of a step
//
// With --profile, it runs the smallest footprint alone.
//
//   ./lab run memoryLatency -- --kernel=global --steps=4
//   ./lab test memoryLatency
//   ./lab profile memoryLatency
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target memoryLatency
//   build/ch04_memory/memoryLatency --kernel=global --steps=4
//   ncu build/ch04_memory/memoryLatency --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch04_memory/memoryLatency/memoryLatency.cu
//       common/*.cpp common/*.cu -o build/memoryLatency

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "lab.cuh"
#include "lineCycle.cuh"

constexpr unsigned kLineBytes = 128;  // of a cache
constexpr unsigned kLineWords = kLineBytes / sizeof(unsigned);
constexpr unsigned kRounds = 2;                               // of a chain
constexpr unsigned kConstantLines = (64 << 10) / kLineBytes;  // all of constant memory
constexpr unsigned kLocalLines = 1024;  // of local memory, 4 KiB for each thread
constexpr unsigned kReaders = 1024;     // threads of a block

// What a kernel leaves for the check: first where its chain ends, then for each thread the sum of
// the lines that it has read beforehand. That reading brings the lines into the caches.
using Found = unsigned*;

// Follows the chain from 0 for kRounds rounds of `steps` steps each, and times the last round. The
// first round fetches what is still missing, also the code of the loop.
template <typename Step>
__device__ void follow(unsigned steps, Found found, long long* cycles, Step step) {
    unsigned i = 0;
#pragma unroll 1
    for (unsigned round = 0; round < kRounds; ++round) {
        const long long begin = clock64();
#pragma unroll 16
        for (unsigned s = 0; s < steps; ++s) i = step(i);
        found[0] = i;  // the clock must wait for the last step
        *cycles = clock64() - begin;
    }
}

// Needs no memory: each multiply-add waits for the one before.
__global__ void chaseRegisters(unsigned factor, unsigned addend, unsigned hops, Found found,
                               long long* cycles) {
    found[1] = 0;  // it has read nothing
    follow(hops, found, cycles, [=](unsigned i) { return factor * i + addend; });
}

// In all others, the first word of each line is the index of the first word of the next line.

__constant__ unsigned constantNext[kConstantLines * kLineWords];

__global__ void chaseConstant(unsigned lines, unsigned hops, Found found, long long* cycles) {
    unsigned sum = 0;
    for (unsigned line = 0; line < lines; ++line) sum += constantNext[line * kLineWords];
    found[1] = sum;
    follow(hops, found, cycles, [](unsigned i) { return constantNext[i]; });
}

__global__ void chaseShared(LineCycle cycle, unsigned hops, Found found, long long* cycles) {
    extern __shared__ unsigned sharedNext[];
    unsigned sum = 0;
    for (unsigned line = 0; line < cycle.lines; ++line)
        sharedNext[line * kLineWords] = cycle.next(line) * kLineWords;
    for (unsigned line = 0; line < cycle.lines; ++line) sum += sharedNext[line * kLineWords];
    found[1] = sum;
    follow(hops, found, cycles, [&](unsigned i) { return sharedNext[i]; });
}

// The compiler does not know the index, so the array is in local memory. There, the same word of
// the 32 lanes of a warp lies side by side, so neighbouring words of a thread are 128 bytes apart:
// each word is in a line of its own.
__global__ void chaseLocal(LineCycle cycle, unsigned hops, Found found, long long* cycles) {
    unsigned localNext[kLocalLines];
    unsigned sum = 0;
    for (unsigned line = 0; line < cycle.lines; ++line) localNext[line] = cycle.next(line);
    for (unsigned line = 0; line < cycle.lines; ++line) sum += localNext[line] * kLineWords;
    found[1] = sum;
    follow(hops, found, cycles, [&](unsigned i) { return localNext[i]; });
    found[0] *= kLineWords;  // as the others count
}

__global__ void linkLines(LineCycle cycle, unsigned* next) {
    const unsigned line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line < cycle.lines) next[std::size_t{line} * kLineWords] = cycle.next(line) * kLineWords;
}

// A load that looks into L1 first, or into L2 first.
template <unsigned kFirstCache>
__device__ unsigned load(const unsigned* address) {
    return kFirstCache == 1 ? *address : __ldcg(address);  // "cache global": in L2 only
}

// All threads of the block read the lines, because one thread would take too long. Then thread 0
// alone follows the chain.
template <unsigned kFirstCache>
__global__ void chaseGlobal(const unsigned* next, unsigned lines, unsigned hops, Found found,
                            long long* cycles) {
    unsigned sum = 0;
    for (std::size_t line = threadIdx.x; line < lines; line += blockDim.x)
        sum += load<kFirstCache>(next + line * kLineWords);
    found[1 + threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x > 0) return;
    follow(hops, found, cycles, [=](unsigned i) { return load<kFirstCache>(next + i); });
}

// CPU reference: where a chain ends, and the sum of all that it reads.
std::vector<unsigned> endAndSum(const LineCycle& cycle, unsigned hops) {
    unsigned line = 0;
    for (unsigned hop = 0; hop < kRounds * hops; ++hop) line = cycle.next(line);
    const std::uint64_t sum = std::uint64_t{cycle.lines} * (cycle.lines - 1) / 2;
    return {line * kLineWords, static_cast<unsigned>(sum * kLineWords)};
}

std::vector<unsigned> endOfRegisters(unsigned factor, unsigned addend, unsigned hops) {
    unsigned i = 0;
    for (unsigned hop = 0; hop < kRounds * hops; ++hop) i = factor * i + addend;
    return {i, 0};
}

// Numbers of lines that make footprints from `smallest` to `largest` bytes, `steps` for each
// doubling.
std::vector<unsigned> linesBetween(std::size_t smallest, std::size_t largest, unsigned steps) {
    std::vector<unsigned> lines;
    for (std::size_t base = smallest; base <= largest; base *= 2) {
        for (unsigned step = 0; step < steps; ++step) {
            const std::size_t bytes = base + base * step / steps;
            const auto count = static_cast<unsigned>((bytes + kLineBytes - 1) / kLineBytes);
            if (bytes <= largest && (lines.empty() || count > lines.back())) lines.push_back(count);
        }
    }
    return lines;
}

struct Memory {
    const char* name;
    std::size_t bytes;
};

int main(int argc, char** argv) {
    std::size_t smallest, largest;
    unsigned steps, hops;
    lab::Exercise exercise("memoryLatency", "How long a load takes, from each kind of memory.");
    constexpr std::uint64_t kLargest = std::uint64_t{16} << 30;  // an index has 32 bits
    exercise.option("smallest", &smallest, 1 << 10, 1, kLargest, "bytes of the smallest footprint");
    exercise.option("largest", &largest, {std::uint64_t{4} << 30, 1 << 18}, 1, kLargest,
                    "bytes of the largest footprint");
    exercise.option("steps", &steps, 1, 1, 64, "footprints for each doubling");
    // The default is a prime: after a multiple of the cycle's length, the chain is where it began.
    exercise.option("hops", &hops, {1009, 61}, 1, 1 << 20, "steps of a chain");
    exercise.parse(argc, argv);
    if (largest < smallest) {
        exercise.reject("largest", lab::withSuffix(largest),
                        "at least " + lab::withSuffix(smallest) + ", the --smallest");
    }
    constexpr auto kOnGpu = lab::OwnColumn::kOnGpu;
    exercise.columns(lab::Columns::kTimed,
                     {{"footprint", 10, ""},
                      {"fits in", -8, "fits_in", kOnGpu},
                      {"cycles", 6, "cycles", kOnGpu},
                      {"", 0, "all_cycles", kOnGpu},
                      {"", 0, "lines"},
                      {"", 0, "footprint"},
                      {"", 0, "shared_bytes"},
                      {"", 0, "l2_bytes"}},
                     {"grid", "block", "median_ms"});
    exercise.title("chains of %u steps, footprints of %s to %s", hops,
                   lab::inBytes(smallest).c_str(), lab::inBytes(largest).c_str());
    exercise.noteInEmulation(
        "It has no caches and no latencies, so it leaves out cycles and where lines fit.");

    const std::vector<unsigned> footprints =
        linesBetween(smallest, exercise.profile() ? smallest : largest, steps);
    const lab::DeviceFacts& gpu = exercise.device();
    lab::DeviceBuffer<unsigned> results(1 + kReaders);
    lab::DeviceBuffer<long long> clock(1);
    unsigned* const ends = results.get();
    long long* const cycles = clock.get();
    // A kernel that does not store its cycles leaves the -1 of stopClock().
    const auto stopClock = [&] { clock.fillBytes(0xff); };
    // What is wrong with a chain, and the first cells of its row: footprint, and cycles of a step
    // and of all steps.
    const auto judged = [&](std::string wrong, const std::string& footprint,
                            const char* fitsIn) -> lab::Finding {
        const long long all = clock.toHost()[0];
        if (wrong.empty() && all < 0) wrong = "the cycles are not stored";
        std::vector<lab::Cell> cells = {footprint, fitsIn, "", ""};
        if (exercise.timesCount()) {
            if (wrong.empty() && all < hops)
                wrong = lab::formatted("%lld cycles are too few for %u steps", all, hops);
            cells[2] = {1.0 * all / hops, 1};
            cells[3] = all;
        }
        return {wrong, cells};
    };

    // Odd numbers, so that no bits are lost from step to step.
    const unsigned factor = static_cast<unsigned>(lab::randomBits(exercise.seed(), 0)) | 1;
    const unsigned addend = static_cast<unsigned>(lab::randomBits(exercise.seed(), 1)) | 1;
    lab::Ladder(exercise, results, stopClock)
        .rung(
            "registers", 1, 1, lab::kNoRate,
            [&] {
                return judged(
                    lab::mismatch(results.toHost(2), endOfRegisters(factor, addend, hops)), "-",
                    "-");
            },
            [&] { chaseRegisters<<<1, 1>>>(factor, addend, hops, ends, cycles); });

    // Makes a row for each footprint that one of these memories holds. `before` writes the chain.
    using Chain = std::function<void(const LineCycle&)>;
    const auto rows = [&](const char* name, const std::vector<Memory>& memories, unsigned block,
                          const Chain& before, const Chain& chase) {
        for (const unsigned lines : footprints) {
            const std::size_t bytes = std::size_t{lines} * kLineBytes;
            const auto holds = [&](const Memory& memory) { return bytes <= memory.bytes; };
            const auto first = std::find_if(memories.begin(), memories.end(), holds);
            if (first == memories.end()) return;

            const LineCycle cycle(lines, addend);
            const auto check = [&]() -> lab::Finding {
                const std::vector<unsigned> all = results.toHost(1 + block);
                const unsigned sum = std::accumulate(all.begin() + 1, all.end(), 0u);
                lab::Finding finding = judged(lab::mismatch({all[0], sum}, endAndSum(cycle, hops)),
                                              lab::inBytes(bytes), first->name);
                finding.cells.insert(finding.cells.end(),
                                     {lines, bytes, gpu.sharedPerMultiprocessor, gpu.l2Bytes});
                return finding;
            };
            lab::Ladder ladder(exercise, results, [&] {
                before(cycle);
                stopClock();
            });
            ladder.rung(name, 1, block, lab::kNoRate, check, [&] { chase(cycle); });
        }
    };

    constexpr unsigned kOneThread = 1;
    const auto nothing = [](const LineCycle&) {};
    const auto toConstant = [](const LineCycle& cycle) {
        std::vector<unsigned> next(cycle.lines * kLineWords);
        for (unsigned line = 0; line < cycle.lines; ++line)
            next[line * kLineWords] = cycle.next(line) * kLineWords;
        CUDA_CHECK(cudaMemcpyToSymbol(constantNext, next.data(), next.size() * sizeof(unsigned)));
    };
    rows("constant", {{"constant", sizeof(constantNext)}}, kOneThread, toConstant,
         [&](const auto& cycle) { chaseConstant<<<1, 1>>>(cycle.lines, hops, ends, cycles); });

    int device;
    CUDA_CHECK(cudaGetDevice(&device));
    const int shared = lab::deviceAttribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    CUDA_CHECK(
        cudaFuncSetAttribute(chaseShared, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    rows("shared", {{"shared", static_cast<std::size_t>(shared)}}, kOneThread, nothing,
         [&](const auto& cycle) {
             chaseShared<<<1, 1, cycle.lines * kLineBytes>>>(cycle, hops, ends, cycles);
         });

    // L1 is what an SM does not set aside for shared memory. These kernels ask for as much L1 as
    // possible. The device does not report its size, but it is at least what could be shared
    // memory.
    for (const void* kernel : {reinterpret_cast<const void*>(chaseLocal),
                               reinterpret_cast<const void*>(chaseGlobal<1>)}) {
        CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                        cudaSharedmemCarveoutMaxL1));
    }
    const Memory l1 = {"L1", gpu.sharedPerMultiprocessor}, l2 = {"L2", gpu.l2Bytes},
                 memory = {"memory", SIZE_MAX};
    rows("local", {{"L1", std::min(l1.bytes, std::size_t{kLocalLines} * kLineBytes)}}, kOneThread,
         nothing, [&](const auto& cycle) { chaseLocal<<<1, 1>>>(cycle, hops, ends, cycles); });

    if (!exercise.selected("global") && !exercise.selected("pastL1")) return exercise.finish();
    lab::DeviceBuffer<unsigned> chain(std::size_t{footprints.back()} * kLineWords);
    unsigned* const next = chain.get();
    const auto toGlobal = [&](const LineCycle& cycle) {
        const unsigned block = 256;
        chain.fillBytes(0);  // a line without a link leads to line 0, and not out of the array
        linkLines<<<lab::blocksFor(cycle.lines, block), block>>>(cycle, next);
    };
    rows("global", {l1, l2, memory}, kReaders, toGlobal, [&](const auto& cycle) {
        chaseGlobal<1><<<1, kReaders>>>(next, cycle.lines, hops, ends, cycles);
    });
    rows("pastL1", {l2, memory}, kReaders, toGlobal, [&](const auto& cycle) {
        chaseGlobal<2><<<1, kReaders>>>(next, cycle.lines, hops, ends, cycles);
    });
    return exercise.finish();
}
