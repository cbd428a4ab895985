// Occupancy is the number of warps that are resident on a multiprocessor (SM), divided by the
// largest number that it can hold. An SM hands out warp slots, block slots, registers and shared
// memory, until one of them has run out. More warps hide more latency, but only up to a point.
//
//   1 sumLoads1   sums integers with one load in flight per thread: full speed needs all the warps
//   2 sumLoads4   has four independent loads in flight, so fewer warps are enough
//   3 sumLoads16  has up to sixteen, and half the occupancy is as fast as full occupancy
//   4 mixAtLeast2, 3, 4, 5, 6, 8
//                 make the compiler leave room for so many blocks: it keeps fewer values in
//                 registers and the rest in local memory, so high occupancy is slow
//   5 rowSumsLargeTile  sums rows with a tile in shared memory that leaves room for few blocks
//   6 rowSumsSmallTile  does it with a quarter of the shared memory, with room for all the warps
//
// The sumLoads kernels run with less and less dynamic shared memory per block, so that 1, 2, 3 ...
// blocks are resident. sumLoads1 also runs with blocks of different sizes.
//
//   regs      registers of a thread
//   local     bytes of local memory of a thread
//   warps     warps that fit on an SM by the rules of occupancy_rules.h
//   achieved  resident warps on average, in percent of the warps of a full SM (kernels 1 to 4)
//
// The CSV also has the shared memory of a block, the blocks that fit by the rules and as CUDA
// counts them, the occupancy in percent, and what limits it. `compared` is the number of other
// configurations (threads per block, shared memory) of the kernel in which the rules agree with
// CUDA. (The exercise occupancyCalculator computes occupancy for any GPU, and needs none.)
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
// its loads before it issues the next ones, so a warp has kLoads loads in flight.
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
constexpr unsigned kValues = 96;   // a thread of the mix kernels changes all of them in each step
constexpr unsigned kStarts = 256;  // the reference computes only so many different results

// __launch_bounds__(most threads per block, least blocks per SM) makes the compiler limit the
// registers, so that kMinBlocks blocks of kBlock threads fit on an SM. (std::min() keeps this to
// what an SM of an older GPU can hold. nvcc -maxrregcount=N limits all kernels in a file that have
// no launch bounds.)
template <unsigned kMinBlocks>
__global__ void __launch_bounds__(kBlock,
                                  std::min(kMinBlocks, occupancy::kResidentThreads / kBlock))
    mixAtLeast(unsigned steps, std::size_t threads, int* results, lab::Span* spans) {
    const unsigned long long begin = lab::globaltimer();
    const std::size_t t = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (t < threads) {
        unsigned value[kValues];
#pragma unroll  // every index becomes a constant: other arrays cannot live in registers
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

constexpr unsigned kRows = 128;  // rows of a block of the rowSums kernels, one for each thread

// Each thread sums a row: kPerThread integers that lie side by side. If each thread loaded its own
// row, the lanes of a warp would load from addresses 256 bytes apart. So the block first copies its
// rows to shared memory, where neighbouring lanes copy neighbouring integers. (The tile has an
// extra column, which avoids bank conflicts.) The tile takes 33,280 bytes, so only six blocks fit
// on an SM of the H200.
__global__ void rowSumsLargeTile(const int* data, std::size_t n, std::size_t rows, int* sums) {
    __shared__ int tile[kRows][kPerThread + 1];
    const std::size_t first = std::size_t{blockIdx.x} * kRows * kPerThread;
    for (unsigned i = threadIdx.x; i < kRows * kPerThread; i += kRows)
        tile[i / kPerThread][i % kPerThread] = first + i < n ? data[first + i] : 0;
    __syncthreads();
    int sum = 0;
    for (unsigned column = 0; column < kPerThread; ++column) sum += tile[threadIdx.x][column];
    const std::size_t row = std::size_t{blockIdx.x} * kRows + threadIdx.x;
    if (row < rows) sums[row] = sum;
}

// The block copies and sums 16 columns of its rows at a time, so that the tile takes 8,704 bytes.
// The block uses the tile four times. One barrier stands before the threads read the tile, and
// another stands before they write it again.
__global__ void rowSumsSmallTile(const int* data, std::size_t n, std::size_t rows, int* sums) {
    constexpr unsigned kColumns = 16;
    __shared__ int tile[kRows][kColumns + 1];
    const std::size_t first = std::size_t{blockIdx.x} * kRows * kPerThread;
    int sum = 0;
    for (unsigned begin = 0; begin < kPerThread; begin += kColumns) {
        for (unsigned i = threadIdx.x; i < kRows * kColumns; i += kRows) {
            const std::size_t from = first + i / kColumns * kPerThread + begin + i % kColumns;
            tile[i / kColumns][i % kColumns] = from < n ? data[from] : 0;
        }
        __syncthreads();
        for (unsigned column = 0; column < kColumns; ++column) sum += tile[threadIdx.x][column];
        __syncthreads();
    }
    const std::size_t row = std::size_t{blockIdx.x} * kRows + threadIdx.x;
    if (row < rows) sums[row] = sum;
}

// Computes the sums of sumLoads on the CPU, for `size` elements.
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

// Computes the sums of the rowSums kernels on the CPU, for `size` elements.
template <typename ElementOf>
std::vector<int> sumsOfRows(std::size_t size, std::size_t rows, ElementOf elementOf) {
    std::vector<int> sums = lab::hostVector<int>(rows);
    lab::parallelFor(rows, 1 << 14, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin * kPerThread; i < std::min(end * kPerThread, size); ++i)
            sums[i / kPerThread] += elementOf(i);
    });
    return sums;
}

// Computes the results of mixAtLeast on the CPU. Thread t has the same result as thread t %
// kStarts.
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
    exercise.option("steps", &steps, {128, 4}, 1, 1 << 20, "number of mixing steps");
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
        "It models no registers, so they limit nothing, and it holds no warps on an SM.");

    const occupancy::Limits& sm = occupancy::limitsOf(exercise.device());
    const auto nameOf = [&](const std::string& kernel, const char* sweep) {
        return lab::Name(kernel, exercise.parameters() + " sweep=" + sweep);
    };
    // Returns when the warps of the last run were resident, for kernels that record it.
    const auto spansOf = [&](unsigned block) {
        const std::size_t warps = occupancy::divideUp(block, occupancy::kWarp);
        return spans.toHost(lab::blocksFor(threads, block) * warps);
    };
    // Looks at the last run of a kernel. Its blocks had `shared` bytes of dynamic shared memory.
    const auto finding = [&](const void* kernel, const occupancy::Comparison& comparison,
                             unsigned block, std::size_t shared, const auto& expectedOf,
                             const std::vector<lab::Span>& ofWarps) -> lab::Finding {
        const cudaFuncAttributes attributes = occupancy::attributesOf(kernel);
        const occupancy::Occupancy predicted =
            calculate(sm, occupancy::blockOf(attributes, block, shared));
        const unsigned cudaBlocks = occupancy::blocksByCuda(kernel, block, shared);
        const lab::Cell achieved =
            ofWarps.empty() ? lab::Cell() : lab::Cell(achievedPercent(ofWarps, sm.warps), 1);

        std::string wrong = lab::mismatchOf(results, expectedOf);
        if (wrong.empty() && predicted.blocks != cudaBlocks)
            wrong = "CUDA counts another number of blocks";
        if (wrong.empty()) wrong = wrongSpans(ofWarps, predicted.warps);
        if (wrong.empty()) wrong = comparison.wrong;
        return {wrong,
                {attributes.numRegs,
                 attributes.localSizeBytes,
                 attributes.sharedSizeBytes + shared,
                 predicted.blocks,
                 cudaBlocks,
                 predicted.warps,
                 {predicted.percent, 1},
                 achieved,
                 predicted.limitedBy,
                 comparison.count}};
    };

    lab::Ladder sums(exercise, results, clear);
    const std::vector<int> sumsExpected = sumsOfThreads(size, threads, inputOf);
    const auto sumOf = [&](std::size_t t) { return sumsExpected[t]; };
    constexpr std::size_t kNoShared = 0;
    // The first rows have blocks of one size, and more and more of them fit. The next rows have
    // blocks of other sizes.
    const auto sumRows = [&](const char* name, auto* kernel,
                             const std::vector<unsigned>& otherBlocks = {}) {
        if (!exercise.selected(name)) return;
        const void* const address = reinterpret_cast<const void*>(kernel);
        occupancy::allowShared(address, sm);
        const occupancy::Comparison comparison = occupancy::compareWithCuda(sm, address);
        const auto row = [&](const char* sweep, unsigned block, std::size_t shared) {
            const unsigned grid = lab::blocksFor(threads, block);
            const auto check = [&] {
                return finding(address, comparison, block, shared, sumOf, spansOf(block));
            };
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
            [&] { return finding(address, comparison, kBlock, kNoShared, mixOf, spansOf(kBlock)); },
            [&] { kernel<<<grid, kBlock>>>(steps, threads, results.get(), spans.get()); });
    };
    mixRow(AtLeast{2}, mixAtLeast<2>);
    mixRow(AtLeast{3}, mixAtLeast<3>);
    mixRow(AtLeast{4}, mixAtLeast<4>);
    mixRow(AtLeast{5}, mixAtLeast<5>);
    mixRow(AtLeast{6}, mixAtLeast<6>);
    mixRow(AtLeast{8}, mixAtLeast<8>);

    lab::Ladder rowSums(exercise, results);
    const std::vector<int> rowSumsExpected = sumsOfRows(size, threads, inputOf);
    const auto rowSumOf = [&](std::size_t row) { return rowSumsExpected[row]; };
    const auto tileRow = [&](const char* name, auto* kernel) {
        if (!exercise.selected(name)) return;
        const void* const address = reinterpret_cast<const void*>(kernel);
        // Shared memory gets its full size on the SM, so that as many blocks fit as the rules say.
        CUDA_CHECK(cudaFuncSetAttribute(address, cudaFuncAttributePreferredSharedMemoryCarveout,
                                        cudaSharedmemCarveoutMaxShared));
        const occupancy::Comparison comparison = occupancy::compareWithCuda(sm, address);
        const unsigned grid = lab::blocksFor(threads, kRows);
        rowSums.rung(
            nameOf(name, "tile"), grid, kRows, lab::bytes(1.0 * source.bytes()),
            [&] { return finding(address, comparison, kRows, kNoShared, rowSumOf, {}); },
            [&] { kernel<<<grid, kRows>>>(source.get(), size, threads, results.get()); });
    };
    tileRow("rowSumsLargeTile", rowSumsLargeTile);
    tileRow("rowSumsSmallTile", rowSumsSmallTile);
    return exercise.finish();
}
