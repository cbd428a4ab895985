// A grid has more blocks than the GPU can hold. They wait in one queue, and whenever an SM has room
// for a block, the next one of the queue takes it. If all blocks take equally long, they run in
// waves, and the last wave is seldom full: a tail in which most of the GPU has nothing to do.
//
//   1 busyBlocks  every block does the same work and records on which SM it ran, and when
//
// A grid of 50,000 threads is less than one wave for a large GPU. With 6,250 threads for each SM
// there are as many blocks for each SM as 50,000 threads give a GPU of 8 SMs: three waves and a
// little, where an SM holds 2048 threads. Both are run in blocks of 1024 and of 512 threads; the
// speedup compares these two.
//
//   per SM  blocks that an SM holds, as the occupancy calculator says
//   waves   blocks / (SMs x per SM)
//   SMs     SMs on which a block ran
//   idle %  all SMs together have SMs x per SM slots, and each is there from the begin of the first
//           block to the end of the last one: the share of this time without a block
//
// The CSV also has seen (the most blocks that were on one SM at the same time), waves_rounded_up
// (the waves if a wave began when one has ended) and block_ms (the median of how long blocks took).
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
// --timeline=FILE writes a CSV line for each block of the last measured run of each row: threads
// and block_size of the grid, sms and slots (per SM) of the GPU, block, the sm it ran on, slot (the
// lowest that was free there), wave (it was the how-manyeth block of its slot), begin_ms and
// end_ms.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "blockStays.h"
#include "lab.cuh"
#include "output_file.cuh"

// The work of a thread: each step waits for the one before, so that its time is that of arithmetic
// and not of memory. A chaotic map of a small interval onto itself: a step too many or too few
// changes every result. fmaf() rounds once, on the CPU as on the GPU: results are identical.
__device__ float work(float x, int steps) {
    for (int i = 0; i < steps; ++i) x = fmaf(x, x, -1.9f);
    return x;
}

// Where a thread starts: kStarts values of [0, 1), so that the reference has few to compute.
constexpr unsigned kStarts = 256;
__device__ float start(std::size_t thread) {
    const unsigned i = thread % kStarts;
    return static_cast<float>(i) / kStarts;
}

// The last block has threads beyond the end. They do no work, but their block takes the room of a
// full one.
__global__ void busyBlocks(float* results, BlockSpan* spans, std::size_t threads, int steps) {
    const unsigned long long begin = lab::globaltimer();
    const std::size_t tid = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (tid < threads) results[tid] = work(start(tid), steps);
    __syncthreads();  // a block keeps its room until its last warp is done
    if (threadIdx.x == 0) {
        BlockSpan& span = spans[blockIdx.x];
        span.begin = begin;
        span.end = lab::globaltimer();
        span.sm = lab::smid();
        atomicAdd(&span.runs, 1u);
    }
}

// CPU reference, in words of its own, so that a mistake in the functions above is none here.
std::vector<float> reference(std::size_t threads, int steps) {
    std::vector<float> ofStart(kStarts);
    for (unsigned i = 0; i < kStarts; ++i) {
        float x = i / 256.0f;
        for (int step = 0; step < steps; ++step) x = std::fma(x, x, -1.9f);
        ofStart[i] = x;
    }
    std::vector<float> results = lab::hostVector<float>(threads);
    for (std::size_t i = 0; i < threads; ++i) results[i] = ofStart[i % kStarts];
    return results;
}

// `grid` are the columns that all blocks share.
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

int main(int argc, char** argv) {
    std::size_t threads;
    unsigned block;
    int steps;
    std::string timelineName;
    lab::Exercise exercise("blockScheduling", "On which SM each block of a grid runs, and when.");
    exercise.option("threads", &threads, 50000, 1, lab::kMaxSize,
                    "threads of the grid; if not given, also 6250 for each SM");
    exercise.option("block", &block, 1024, 1, lab::kMaxBlock,
                    "threads per block; if not given, also 512");
    exercise.option("steps", &steps, {65536, 64}, 1, 1 << 20, "the work of a thread");
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
    std::vector<std::size_t> threadCounts = {threads};
    if (!exercise.given("threads")) threadCounts.push_back(6250 * sms);
    std::vector<unsigned> blockSizes = {block};
    if (!exercise.given("block")) blockSizes.push_back(512);
    const unsigned smallest = *std::min_element(blockSizes.begin(), blockSizes.end());

    exercise.title("%d steps per thread", steps);
    exercise.noteInEmulation("An SM is a worker thread here, and runs one block at a time:");
    exercise.noteInEmulation("what only a GPU can show is left out.");

    for (const std::size_t count : threadCounts) {
        const std::vector<float> expected = reference(count, steps);
        lab::DeviceBuffer<float> results(count);
        lab::DeviceBuffer<BlockSpan> spans(lab::blocksFor(count, smallest));
        // One for each number of threads: the speedup compares the sizes of blocks.
        lab::Ladder ladder(exercise, results, [&] { spans.fillBytes(0); });
        for (const unsigned size : blockSizes) {
            const unsigned grid = lab::blocksFor(count, size);
            int perSm = 0;
            CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perSm, busyBlocks,
                                                                     static_cast<int>(size), 0));
            // Looks at the last run, and writes its lines of the timeline.
            const auto finding = [&]() -> lab::Finding {
                const std::vector<Stay> stays = staysOf(spans.toHost(grid));
                addToTimeline(timeline, {count, size, sms, perSm}, stays);
                std::string wrong = wrongSpans(stays, static_cast<unsigned>(perSm));
                if (wrong.empty()) wrong = lab::mismatch(results.toHost(), expected, 0);

                const double slots = static_cast<double>(sms) * perSm, waves = grid / slots;
                const Summary summary = summaryOf(stays, slots);
                return {wrong,
                        {count,
                         perSm,
                         summary.mostAtOnce,
                         {waves, 2},
                         {std::ceil(waves), 0},
                         summary.smsUsed,
                         {summary.blockMs, 4},
                         {summary.idlePercent, 1}}};
            };
            const std::string parameters = exercise.parameters(
                {{"threads", std::to_string(count)}, {"block", std::to_string(size)}});
            ladder.rung({"busyBlocks", parameters}, grid, size, lab::kNoRate, finding, [&] {
                busyBlocks<<<grid, size>>>(results.get(), spans.get(), count, steps);
            });
        }
    }
    const int status = exercise.finish();  // which ends the program where --kernel selects nothing
    timeline.close();
    return status;
}
