// Urgent work on a busy GPU. The priority of a stream says whose blocks come next when there is
// room for one; it takes the room of no block that runs. So an urgent kernel waits for the first
// block to end, which is soon if blocks are short, or many and out of step.
//
//   1 alone         the urgent kernel by itself: nothing to wait for
//   2 equal         behind a kernel that fills the GPU several times over, with the same priority
//   3 higher        the same with the highest priority that there is
//   4 higherInStep  the same; the blocks of the other kernel all begin and end at the same time
//
// Each is run with blocks of 10, 100, 1000 ... microseconds in the background. The urgent kernel
// comes when its first blocks have ended: one and a half block lengths after the begin.
//
//   latency    microseconds from the urgent kernel's turn in its stream to its end, by events
//   predicted  the same by the formulas of the page, with a launch that costs nothing
//   on host    from the call that launches it until the host knows that it has ended
//   time       from the begin of the background until both kernels have ended
//
//   ./lab run streamPriorities -- --microseconds=1000 --timeline=timeline.csv
//   ./lab test streamPriorities
//   ./lab trace streamPriorities
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target streamPriorities
//   build/streams/streamPriorities --microseconds=1000 --timeline=timeline.csv
//   nsys profile build/streams/streamPriorities --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon streams/streamPriorities/streamPriorities.cu
//       common/*.cpp common/*.cu -o build/streamPriorities
//
// (Not ncu: it runs one kernel at a time.) --timeline=FILE writes what a few SMs did in the last
// measured run of each row, first the one that the urgent kernel came to, a CSV line for each
// block: mode, microseconds, sm, block (urgent ones begin with u), begin_ms and end_ms (since the
// first block began).

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "../events.cuh"
#include "../forkJoin.cuh"
#include "../growingValues.h"
#include "../halfAnSm.cuh"
#include "lab.cuh"
#include "output_file.cuh"

// Slots are the places of the GPU: a block takes one, and gives it to the next when it ends. Those
// of the first turn stay for different times, so that from then on a slot comes free in each
// length / slots; or, in step, all stay equally long, and all slots come free together.
struct BlockLengths {
    unsigned long long nanoseconds;
    unsigned slots;
    bool inStep;
};

__host__ __device__ unsigned long long lengthOfBlock(const BlockLengths& lengths, unsigned block) {
    if (lengths.inStep || block >= lengths.slots) return lengths.nanoseconds;
    return lengths.nanoseconds * (block + 1) / lengths.slots;
}

// The urgent kernel: how long after the begin of the background it comes, in lengths of a block,
// and how many blocks it has.
constexpr double kComes = 1.5;
constexpr unsigned kUrgentBlocks = 1;

// Each block takes a little more than half of an SM's shared memory: there is room for one on each
// SM, a slot. All it does is to stay there, and to leave a mark.
__global__ void occupy(BlockLengths lengths, unsigned place, lab::Span* spans, unsigned* marks) {
    __shared__ unsigned long long begin;
    if (threadIdx.x == 0) begin = lab::globaltimer();
    __syncthreads();
    while (lab::globaltimer() - begin < lengthOfBlock(lengths, blockIdx.x)) {
    }
    const unsigned block = place + blockIdx.x, thread = block * blockDim.x + threadIdx.x;
    marks[thread] = thread;
    if (threadIdx.x == 0) spans[block] = {begin, lab::globaltimer(), lab::smid()};
}

// What is wrong with how long the blocks first ... end - 1 of a run stayed, which are those of one
// kernel. When they did is not a matter of right or wrong: a priority is a wish.
std::string wrongLengths(const char* kind, const std::vector<lab::Span>& spans, unsigned first,
                         unsigned end, const BlockLengths& lengths) {
    for (unsigned b = first; b < end; ++b) {
        const unsigned long long least = lengthOfBlock(lengths, b - first);
        if (!lab::stayedFor(spans[b], least))
            return lab::formatted("%s block %u did not stay for %llu ns", kind, b - first, least);
    }
    return "";
}

// A line for each block on a few of the SMs, first that of the first urgent block.
void addToTimeline(lab::CsvFile& timeline, const char* mode, unsigned microseconds,
                   const std::vector<lab::Span>& spans, unsigned slots) {
    constexpr unsigned kOthers = 3;
    std::vector<unsigned> sms = {spans[0].sm};
    for (unsigned i = 0; i < kOthers; ++i) {
        const unsigned sm = spans[kUrgentBlocks + slots * (i + 1) / (kOthers + 1)].sm;
        if (std::count(sms.begin(), sms.end(), sm) == 0) sms.push_back(sm);
    }
    const lab::SinceFirst milliseconds(spans);
    for (const unsigned sm : sms) {
        for (unsigned b = 0; b < spans.size(); ++b) {
            if (spans[b].sm != sm) continue;
            const std::string block =
                b < kUrgentBlocks ? "u" + std::to_string(b) : std::to_string(b - kUrgentBlocks);
            timeline.row({mode, microseconds, sm, block, milliseconds(spans[b].begin),
                          milliseconds(spans[b].end)});
        }
    }
}

// The stream of the background, and those of the urgent kernel: with its priority, and with the
// highest.
enum Stream : std::size_t { kBackground, kEqual, kHighest };

// What a row does: whether there is a kernel in the background, whether its blocks are in step, in
// which stream the urgent kernel is, and how long it waits, in lengths of a block.
struct Way {
    const char* name;
    bool busy = false, inStep = false;
    Stream stream = kHighest;
    double wait = 0;

    Way& withBackground() { return busy = true, *this; }
    Way& blocksInStep() { return inStep = true, *this; }
    Way& atEqualPriority() { return stream = kEqual, *this; }
    Way& waiting(double lengths) { return wait = lengths, *this; }
};

int main(int argc, char** argv) {
    unsigned most, turns, urgentLength, block;
    std::string timelineName;
    lab::Exercise exercise("streamPriorities", "An urgent kernel behind one that fills the GPU.");
    exercise.option("microseconds", &most, {1000, 100}, 1, 1000000,
                    "how long a block of the background stays, in the last rows");
    exercise.option("turns", &turns, 4, 3, 1000, "blocks of the background for each SM");
    exercise.option("urgent", &urgentLength, 20, 1, 1000000, "microseconds of the urgent kernel");
    exercise.option("block", &block, 128, 1, lab::kMaxBlock, "threads per block");
    exercise.options().file("timeline", &timelineName, "CSV of when blocks of a few SMs ran");
    exercise.parse(argc, argv);
    constexpr auto kOnGpu = lab::OwnColumn::kOnGpu;
    exercise.columns(lab::Columns::kTimed,
                     {{"length", 7, "length_us"},
                      {"", 0, "slots"},
                      {"", 0, "priority"},
                      {"latency", 9, "latency_us", kOnGpu},
                      {"predicted", 9, "predicted_us", kOnGpu},
                      {"on host", 9, "host_us", kOnGpu}},
                     {"grid", "block"});

    int least = 0, greatest = 0;  // the greatest is the lowest number
    CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    const lab::DeviceFacts& gpu = exercise.device();
    const auto slots = static_cast<unsigned>(gpu.multiprocessors);
    // Of equal priority, all blocks of the background have a slot first, the last ones when the
    // last turn begins. Of a higher one, the next slot is that of the urgent block.
    const double next = 1.0 / slots;
    const Way ways[] = {
        Way{"alone"}.blocksInStep(),
        Way{"equal"}.withBackground().atEqualPriority().waiting(turns - 1 - kComes + next),
        Way{"higher"}.withBackground().waiting(next),
        Way{"higherInStep"}.withBackground().blocksInStep().waiting(2 - kComes),
    };
    lab::CsvFile timeline(exercise, "timeline", timelineName,
                          {"mode", "microseconds", "sm", "block", "begin_ms", "end_ms"});
    const int shared = takeHalfOfAnSm(occupy, gpu);
    exercise.title("%u blocks of %u threads for each of %u SMs, priorities %d to %d", turns, block,
                   slots, least, greatest);
    exercise.noteInEmulation("It runs streams one after the other: nothing is urgent.");
    if (exercise.timesCount()) exercise.note("length, latency, predicted, on host: us");

    ForkJoin streams(std::vector<int>{least, least, greatest});
    const Events timed(3, cudaEventDefault);
    const cudaEvent_t begun = timed[0], asked = timed[1], answered = timed[2];

    // Both kernels write to the same arrays, the urgent one first.
    const unsigned background = turns * slots, all = kUrgentBlocks + background;
    lab::DeviceBuffer<lab::Span> spans(all);
    lab::DeviceBuffer<unsigned> marks(std::size_t{all} * block);
    lab::requireHostMemory(2 * marks.size(), sizeof(unsigned));
    const BlockLengths urgent = {1000ull * urgentLength, slots, true};

    for (const unsigned microseconds : tens(10, most)) {
        lab::Ladder ladder(exercise, marks, [&] { spans.fillBytes(0); });
        for (const Way& way : ways) {
            const BlockLengths lengths = {1000ull * microseconds, slots, way.inStep};
            const cudaStream_t urgently = streams[way.stream];
            std::vector<double> latencies, onHost;  // of all runs [us]

            const auto launch = [&] {
                streams.fork(streams.size());
                CUDA_CHECK(cudaEventRecord(begun, streams[kBackground]));
                if (way.busy) {
                    occupy<<<background, block, shared, streams[kBackground]>>>(
                        lengths, kUrgentBlocks, spans.get(), marks.get());
                }
                CUDA_CHECK(cudaEventSynchronize(begun));
                const lab::CpuTimer since;
                while (1e3 * since.milliseconds() < kComes * microseconds) {
                }
                const lab::CpuTimer timer;
                CUDA_CHECK(cudaEventRecord(asked, urgently));
                occupy<<<kUrgentBlocks, block, shared, urgently>>>(urgent, 0, spans.get(),
                                                                   marks.get());
                CUDA_CHECK(cudaEventRecord(answered, urgently));
                CUDA_CHECK(cudaEventSynchronize(answered));
                onHost.push_back(1e3 * timer.milliseconds());
                float latency = 0;
                CUDA_CHECK(cudaEventElapsedTime(&latency, asked, answered));
                latencies.push_back(1e3 * latency);
                streams.join(streams.size());
            };
            const auto check = [&](const lab::Statistics& time) -> lab::Finding {
                const unsigned blocks = way.busy ? all : kUrgentBlocks;
                const std::vector<lab::Span> ofRun = spans.toHost(blocks);
                std::vector<unsigned> expected(std::size_t{blocks} * block);
                std::iota(expected.begin(), expected.end(), 0);
                std::string wrong = lab::mismatch(marks.toHost(expected.size()), expected);
                if (wrong.empty()) wrong = wrongLengths("urgent", ofRun, 0, kUrgentBlocks, urgent);
                if (wrong.empty())
                    wrong = wrongLengths("other", ofRun, kUrgentBlocks, blocks, lengths);
                int priority = 0;
                CUDA_CHECK(cudaStreamGetPriority(urgently, &priority));
                const int wanted = way.stream == kHighest ? greatest : least;
                if (wrong.empty() && priority != wanted)
                    wrong = lab::formatted("the priority is %d, not %d", priority, wanted);
                if (way.busy) addToTimeline(timeline, way.name, microseconds, ofRun, slots);
                std::vector<lab::Cell> cells = {microseconds, slots, priority};
                if (exercise.timesCount()) {
                    cells.push_back({lab::medianOfMeasured(latencies, time.count), 1});
                    cells.push_back({way.wait * microseconds + urgentLength, 1});
                    cells.push_back({lab::medianOfMeasured(onHost, time.count), 1});
                }
                return {wrong, cells};
            };
            const std::string parameters =
                exercise.parameters({{"microseconds", std::to_string(microseconds)}});
            ladder.rung({way.name, parameters}, way.busy ? background : kUrgentBlocks, block,
                        lab::kNoRate, check, launch);
        }
    }
    const int status = exercise.finish();  // which ends the program where --kernel selects nothing
    timeline.close();
    return status;
}
