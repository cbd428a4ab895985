// A grid has more blocks than the GPU can hold. They wait in one queue, and whenever an SM has room
// for a block, it takes the next block from the queue. If all blocks take equally long, they run in
// waves. The last wave is seldom full. It is the tail, in which most of the GPU has nothing to do.
//
//   1 busyBlocks   runs one thread for each element, in as many blocks as that takes
//   2 fixedShares  runs any number of blocks: a block takes every gridDim.x-th piece of the work
//     fixedUneven  is the same kernel, but every fourth piece takes four times as long
//   3 fromCounter  has the same uneven pieces: a free block takes the next piece from a counter
//
// Every block records on which SM it ran, and when. busyBlocks runs 50,000 threads, which are less
// than one wave for a large GPU. It also runs 6,250 threads for each SM, which are a little more
// than three waves if an SM holds 2048 threads. It runs both in blocks of 1024 and of 512 threads,
// and the speed-up compares these two block sizes.
//
// fixedShares does the same work on 1, 2, 4 ... SMs and on all of them. Each of its blocks takes
// more than half of an SM's shared memory, so that each block has an SM of its own.
//
//   per SM  blocks that an SM holds, as the occupancy calculator says
//   waves   blocks / (SMs x per SM)
//   SMs     SMs on which a block ran
//   idle %  share of time, over all SMs x per SM slots, in which a slot has no block, from the
//           start of the first block to the end of the last one
//
// The CSV has these columns, too. seen is the largest number of blocks that were on one SM at the
// same time. waves_rounded_up is the number of waves if each wave began only after the one before
// had ended. block_ms is the median run time of a block in milliseconds.
//
//   ./lab run blockScheduling -- --timeline=timeline.csv
//   ./lab test blockScheduling
//   ./lab profile blockScheduling
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target blockScheduling
//   build/ch03_execution_model/blockScheduling --timeline=timeline.csv
//   ncu build/ch03_execution_model/blockScheduling --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch03_execution_model/blockScheduling/blockScheduling.cu
//       common/*.cpp common/*.cu -o build/blockScheduling
//
// --timeline=FILE writes a CSV file about the last measured run of busyBlocks in each row, with a
// line for each block. threads and block_size describe the grid. sms and slots (per SM) describe
// the GPU. block is the number of the block, and sm is the SM on which it ran. slot is the lowest
// slot that was free there. wave is 1 for the first block of its slot and 2 for the next. begin_ms
// and end_ms are the times at which the block began and ended.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "blockStays.h"
#include "lab.cuh"
#include "output_file.cuh"

// Computes the work of a thread. Each step waits for the one before, so that arithmetic takes the
// time, and not memory. A step is a chaotic map of a small interval onto itself, so one step too
// many or too few changes every result. fmaf() rounds once on the CPU and on the GPU, so the
// results are identical.
__device__ float work(float x, int steps) {
    for (int i = 0; i < steps; ++i) x = fmaf(x, x, -1.9f);
    return x;
}

// An element starts with one of kStarts values of [0, 1), so that the reference has few to compute.
constexpr unsigned kStarts = 256;
__device__ float start(std::size_t element) {
    const unsigned i = element % kStarts;
    return static_cast<float>(i) / kStarts;
}

// A block calls this last. It records the SM on which the block ran, and the times at which the
// block began and ended.
__device__ void recordStay(BlockSpan* spans, unsigned long long begin) {
    __syncthreads();  // a block keeps its room until its last warp is done
    if (threadIdx.x == 0) {
        BlockSpan& span = spans[blockIdx.x];
        span.begin = begin;
        span.end = lab::globaltimer();
        span.sm = lab::smid();
        atomicAdd(&span.runs, 1u);
    }
}

// Each thread computes one element. The last block has threads beyond the end. They do no work, but
// their block takes the room of a full one. Still wrong: the kernel is right only with the number
// of blocks that the elements take, and the last wave is seldom full.
__global__ void busyBlocks(float* results, BlockSpan* spans, std::size_t threads, int steps) {
    const unsigned long long begin = lab::globaltimer();
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < threads) results[i] = work(start(i), steps);
    recordStay(spans, begin);
}

// Pieces of work for any number of blocks. A piece has an element for each thread of a block. Every
// fourth piece, from piece 0 on, takes `longSteps` steps, and all others take `steps`.
struct Pieces {
    unsigned count;
    int steps, longSteps;
};

// A block computes a piece.
__device__ void compute(float* results, const Pieces& pieces, unsigned piece) {
    const std::size_t i = std::size_t{piece} * blockDim.x + threadIdx.x;
    results[i] = work(start(i), piece % 4 == 0 ? pieces.longSteps : pieces.steps);
}

// The kernel is a grid-stride loop over pieces. It is right with any number of blocks, in any
// order. Still wrong: each block has its share before it begins. A block with short pieces ends
// early, and its SM is idle.
__global__ void fixedShares(float* results, BlockSpan* spans, Pieces pieces) {
    const unsigned long long begin = lab::globaltimer();
    for (unsigned piece = blockIdx.x; piece < pieces.count; piece += gridDim.x) {
        compute(results, pieces, piece);
    }
    recordStay(spans, begin);
}

// The blocks share a counter, `next`, which is 0 before the launch. A block that is free takes the
// piece with the counter's number and adds 1 to the counter. It repeats this until no piece is
// left. So all blocks end at nearly the same time, no matter how long the pieces take. One thread
// takes the number for its block. The first barrier makes the other threads wait for the number.
// The second barrier keeps the number until all threads have used it.
__global__ void fromCounter(float* results, BlockSpan* spans, Pieces pieces, unsigned* next) {
    __shared__ unsigned piece;
    const unsigned long long begin = lab::globaltimer();
    while (true) {
        if (threadIdx.x == 0) piece = atomicAdd(next, 1u);
        __syncthreads();
        if (piece >= pieces.count) break;
        compute(results, pieces, piece);
        __syncthreads();
    }
    recordStay(spans, begin);
}

// Computes the results of all starts on the CPU. It does not call the functions above, so a mistake
// there is not repeated here.
std::vector<float> ends(int steps) {
    std::vector<float> ofStart(kStarts);
    for (unsigned i = 0; i < kStarts; ++i) {
        float x = i / 256.0f;
        for (int step = 0; step < steps; ++step) x = std::fma(x, x, -1.9f);
        ofStart[i] = x;
    }
    return ofStart;
}

// `grid` has the columns that all blocks share.
void addToTimeline(lab::CsvFile& timeline, const std::vector<lab::Cell>& grid,
                   const std::vector<Stay>& stays) {
    const lab::SinceFirst milliseconds(firstBegin(stays));
    for (const Stay& stay : stays) {
        std::vector<lab::Cell> row = grid;
        row.insert(row.end(), {stay.block, stay.span.sm, stay.slot, stay.wave,
                               milliseconds(stay.span.begin), milliseconds(stay.span.end)});
        timeline.row(row);
    }
}

// Returns what the table says about the blocks of a grid. Each of `sms` SMs holds `perSm` blocks.
std::vector<lab::Cell> cellsOf(const std::vector<Stay>& stays, std::size_t threads, std::size_t sms,
                               int perSm) {
    const double slots = static_cast<double>(sms) * perSm, waves = stays.size() / slots;
    const Summary summary = summaryOf(stays, slots);
    return {threads,
            perSm,
            summary.mostAtOnce,
            {waves, 2},
            {std::ceil(waves), 0},
            summary.smsUsed,
            {summary.blockMs, 4},
            {summary.idlePercent, 1}};
}

template <typename Kernel>
int blocksPerSm(Kernel* kernel, unsigned block, std::size_t sharedBytes) {
    int perSm = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perSm, kernel,
                                                             static_cast<int>(block), sharedBytes));
    return perSm;
}

// Returns one byte more than half of the shared memory of an SM, so that the SM has room for only
// one block. It also allows the kernel to use that much.
template <typename Kernel>
unsigned moreThanHalfAnSm(const lab::DeviceFacts& gpu, Kernel* kernel) {
    const auto bytes = static_cast<unsigned>(gpu.sharedPerMultiprocessor / 2 + 1);
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(bytes)));
    return bytes;
}

// Returns the numbers of blocks 1, 2, 4 ... and `most`.
std::vector<unsigned> gridsUpTo(unsigned most) {
    std::vector<unsigned> grids;
    for (unsigned grid = 1; grid < most; grid *= 2) grids.push_back(grid);
    grids.push_back(most);
    return grids;
}

int main(int argc, char** argv) {
    std::size_t threads;
    unsigned block, pieces, mostSms;
    int steps;
    std::string timelineName;
    lab::Exercise exercise("blockScheduling", "On which SM each block of a grid runs, and when.");
    exercise.option("threads", &threads, 50000, 1, lab::kMaxSize,
                    "threads of busyBlocks; if not given, it also runs 6250 for each SM");
    exercise.option("block", &block, 1024, 1, lab::kMaxBlock,
                    "threads per block; if not given, busyBlocks also runs with 512");
    exercise.option("steps", &steps, {65536, 64}, 1, 1 << 20,
                    "steps of a thread; an element of a piece takes a sixteenth of them");
    exercise.option("pieces", &pieces, {2112, 16}, 1, 1 << 16,
                    "pieces of work for the other kernels");
    exercise.option("sms", &mostSms, 1, 1, 1024,
                    "the most SMs that these kernels use, one block on each; if not given, all");
    exercise.options().file("timeline", &timelineName, "CSV of where and when each block ran");
    exercise.parse(argc, argv);
    constexpr auto kOnGpu = lab::OwnColumn::kOnGpu;
    exercise.columns(lab::Columns::kLadder, {{"threads", 7, "threads"},
                                             {"per SM", 6, "blocks_per_sm"},
                                             {"", 0, "seen", kOnGpu},
                                             {"waves", 5, "waves"},
                                             {"", 0, "waves_rounded_up"},
                                             {"SMs", 3, "sms_used", kOnGpu},
                                             {"", 0, "block_ms", kOnGpu},
                                             {"idle %", 6, "idle_percent", kOnGpu}});
    lab::CsvFile timeline(exercise, "timeline", timelineName,
                          {"threads", "block_size", "sms", "slots", "block", "sm", "slot", "wave",
                           "begin_ms", "end_ms"});

    const std::size_t sms = exercise.device().multiprocessors;
    if (!exercise.given("sms")) mostSms = static_cast<unsigned>(sms);
    std::vector<std::size_t> threadCounts = {threads};
    if (!exercise.given("threads")) threadCounts.push_back(6250 * sms);
    std::vector<unsigned> blockSizes = {block};
    if (!exercise.given("block")) blockSizes.push_back(512);
    const unsigned smallest = *std::min_element(blockSizes.begin(), blockSizes.end());

    exercise.title("%d steps per thread", steps);
    exercise.noteInEmulation("An SM is a worker thread here, and runs one block at a time.");
    exercise.noteInEmulation("So the program leaves out the columns that need a GPU.");

    const std::vector<float> ofStart = ends(steps);
    for (const std::size_t count : threadCounts) {
        lab::DeviceBuffer<float> results(count);
        lab::DeviceBuffer<BlockSpan> spans(lab::blocksFor(count, smallest));
        // Each number of threads has a ladder, because the speed-up compares the sizes of blocks.
        lab::Ladder ladder(exercise, results, [&] { spans.fillBytes(0); });
        for (const unsigned size : blockSizes) {
            const unsigned grid = lab::blocksFor(count, size);
            const int perSm = blocksPerSm(busyBlocks, size, 0);
            // Looks at the last run, and writes its lines of the timeline.
            const auto finding = [&]() -> lab::Finding {
                const std::vector<Stay> stays = staysOf(spans.toHost(grid));
                addToTimeline(timeline, {count, size, sms, perSm}, stays);
                std::string wrong = wrongSpans(stays, static_cast<unsigned>(perSm));
                if (wrong.empty())
                    wrong = lab::mismatchOf(results, [&](auto i) { return ofStart[i % kStarts]; });
                return {wrong, cellsOf(stays, count, sms, perSm)};
            };
            const std::string parameters = exercise.parameters(
                {{"threads", std::to_string(count)}, {"block", std::to_string(size)}});
            ladder.rung({"busyBlocks", parameters}, grid, size, lab::kNoRate, finding, [&] {
                busyBlocks<<<grid, size>>>(results.get(), spans.get(), count, steps);
            });
        }
    }

    // These rows run the pieces, first with equal work, then with uneven work.
    const std::size_t count = std::size_t{pieces} * block;
    const int few = std::max(1, steps / 16);
    const Pieces equal = {pieces, few, few}, uneven = {pieces, few, 4 * few};
    const std::vector<float> ofFew = ends(few), ofMany = ends(4 * few);
    lab::DeviceBuffer<float> results(count);
    lab::DeviceBuffer<BlockSpan> spans(mostSms);
    lab::DeviceBuffer<unsigned> next(1);
    const auto reset = [&] {
        spans.fillBytes(0);
        next.fillBytes(0);
    };
    lab::Ladder onMoreSms(exercise, results, reset), unequal(exercise, results, reset);
    const unsigned shared = moreThanHalfAnSm(exercise.device(), fixedShares);
    moreThanHalfAnSm(exercise.device(), fromCounter);

    const auto rung = [&](lab::Ladder& ladder, const std::string& name, unsigned grid, auto* kernel,
                          const std::vector<float>& ofFourth, const lab::Launch& launch) {
        const int perSm = blocksPerSm(kernel, block, shared);
        const auto finding = [&]() -> lab::Finding {
            const std::vector<Stay> stays = staysOf(spans.toHost(grid));
            std::string wrong = wrongSpans(stays, static_cast<unsigned>(perSm));
            if (wrong.empty()) {
                wrong = lab::mismatchOf(results, [&](std::size_t i) {
                    return (i / block % 4 == 0 ? ofFourth : ofFew)[i % kStarts];
                });
            }
            return {wrong, cellsOf(stays, count, sms, perSm)};
        };
        const std::string parameters = exercise.parameters(
            {{"threads", std::to_string(count)}, {"sms", std::to_string(grid)}});
        ladder.rung({name, parameters}, grid, block, lab::kNoRate, finding, launch);
    };
    // With --profile, the kernel runs on the most SMs alone.
    for (const unsigned grid : exercise.profile() ? std::vector{mostSms} : gridsUpTo(mostSms)) {
        rung(onMoreSms, "fixedShares", grid, fixedShares, ofFew,
             [&] { fixedShares<<<grid, block, shared>>>(results.get(), spans.get(), equal); });
    }
    rung(unequal, "fixedUneven", mostSms, fixedShares, ofMany,
         [&] { fixedShares<<<mostSms, block, shared>>>(results.get(), spans.get(), uneven); });
    rung(unequal, "fromCounter", mostSms, fromCounter, ofMany, [&] {
        fromCounter<<<mostSms, block, shared>>>(results.get(), spans.get(), uneven, next.get());
    });

    const int status = exercise.finish();  // this ends the program if --kernel selects nothing
    timeline.close();
    return status;
}
