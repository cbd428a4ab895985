// Kernels of one stream run in order; kernels of different streams may run at the same time if the
// GPU has room for them. With a kernel that fills half of the GPU, streams of their own let two run
// at a time, and twice as many are done in the same time.
//
//   1 oneStream   all kernels in one stream: each begins when the one before has ended
//   2 ownStreams  each kernel in a stream of its own: as many at a time as fit
//   3 smallOneStream, smallOwnStreams  with --small: the same with kernels of one warp, for which
//                 there is room enough: now it is their number that has a limit. (Whatever
//                 CUDA_DEVICE_MAX_CONNECTIONS is: no kernel waits for another one of its stream.)
//
// Each is run with 1, 2, 4, 8 ... kernels. speedup is relative to the same kernels in one stream,
// ideal is what the GPU allows. (Very short kernels can exceed it: in one stream there is a gap of
// a microsecond or two between kernels, which streams of their own fill.)
//
//   ./lab run streamConcurrency -- --kernels=8 --microseconds=1000 --timeline=timeline.csv
//   ./lab test streamConcurrency
//   ./lab trace streamConcurrency
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target streamConcurrency
//   build/streams/streamConcurrency --kernels=8 --microseconds=1000 --timeline=timeline.csv
//   nsys profile build/streams/streamConcurrency --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon streams/streamConcurrency/streamConcurrency.cu
//       common/*.cpp common/*.cu -o build/streamConcurrency
//
// (Not ncu: it runs one kernel at a time.) --timeline=FILE writes a CSV line for each kernel of the
// last measured run of rows 1 and 2: mode, kernels, stream, kernel, begin_ms and end_ms (since the
// first kernel of the run began), and sms, the number of multiprocessors (SMs) that it ran on.

#include <algorithm>
#include <string>
#include <vector>

#include "../forkJoin.cuh"
#include "../growingValues.h"
#include "../halfAnSm.cuh"
#include "../kernelSpans.h"
#include "idealSpeedup.h"
#include "lab.cuh"
#include "output_file.cuh"

constexpr unsigned kResidentKernels = 128;  // at a time, on GPUs of compute capability 7.5 and up

// Kernel number `kernel` of a run. It only passes the time, so that kernels compete for nothing but
// room on the SMs; real ones share caches and memory bandwidth too, and gain less.
__global__ void occupyHalf(unsigned kernel, unsigned long long nanoseconds, lab::Span* spans,
                           unsigned* marks) {
    __shared__ unsigned long long begin;
    if (threadIdx.x == 0) begin = lab::globaltimer();
    __syncthreads();
    while (lab::globaltimer() - begin < nanoseconds) {
    }
    const std::size_t block = std::size_t{kernel} * gridDim.x + blockIdx.x;
    marks[block * blockDim.x + threadIdx.x] = kernel;
    if (threadIdx.x == 0) spans[block] = {begin, lab::globaltimer(), lab::smid()};
}

// How a kernel is launched, and how many such kernels run at a time.
struct Shape {
    unsigned grid, block;
    int shared;
    unsigned atATime;
};

// What a run launches: kernels that all do the same, and where they write.
struct Kernels {
    Shape shape;
    unsigned count;
    unsigned long long nanoseconds;
    lab::Span* spans;
    unsigned* marks;
};

// All in the default stream: each kernel waits for the one before it.
void launchInOneStream(const Kernels& kernels) {
    const Shape& shape = kernels.shape;
    for (unsigned k = 0; k < kernels.count; ++k) {
        occupyHalf<<<shape.grid, shape.block, shape.shared>>>(k, kernels.nanoseconds, kernels.spans,
                                                              kernels.marks);
    }
}

// Each in a stream of its own: no kernel waits for another. Work of the default stream, such as the
// measurement, comes before the first and after the last of them, because of the fork and the join.
void launchInOwnStreams(const Kernels& kernels, ForkJoin& own) {
    const Shape& shape = kernels.shape;
    own.fork(kernels.count);
    for (unsigned k = 0; k < kernels.count; ++k) {
        occupyHalf<<<shape.grid, shape.block, shape.shared, own[k]>>>(k, kernels.nanoseconds,
                                                                      kernels.spans, kernels.marks);
    }
    own.join(kernels.count);
}

void addToTimeline(lab::CsvFile& timeline, const char* mode, std::size_t streams,
                   const std::vector<KernelSpan>& kernels) {
    const lab::SinceFirst milliseconds(kernels);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        timeline.row({mode, kernels.size(), k % streams, k, milliseconds(kernels[k].begin),
                      milliseconds(kernels[k].end), kernels[k].sms});
    }
}

int main(int argc, char** argv) {
    unsigned maxKernels, maxSmall, microseconds, block;
    std::string timelineName;
    lab::Exercise exercise("streamConcurrency", "Kernels in one stream, and in several at once.");
    exercise.option("kernels", &maxKernels, 8, 1, 128, "kernels of the longest run");
    exercise.option("small", &maxSmall, 0, 0, 512, "the same of small ones; 0: no rows of them");
    exercise.option("microseconds", &microseconds, {250, 100}, 1, 1000000,
                    "how long a kernel runs");
    exercise.option("block", &block, 256, 1, lab::kMaxBlock, "threads per block");
    exercise.options().file("timeline", &timelineName, "CSV of when each kernel began and ended");
    exercise.parse(argc, argv);
    exercise.columns(lab::Columns::kLadder,
                     {{"kernels", 8, "kernels"}, {"streams", 8, "streams"}, {"ideal", 7, "ideal"}});
    lab::CsvFile timeline(exercise, "timeline", timelineName,
                          {"mode", "kernels", "stream", "kernel", "begin_ms", "end_ms", "sms"});

    // Blocks for half of the SMs: no two fit into one SM, so that a kernel needs half of them.
    const lab::DeviceFacts& gpu = exercise.device();
    const unsigned sms = gpu.multiprocessors;
    const unsigned blocks = std::max(1u, sms / 2);
    const unsigned atATime = gpu.overlapsKernels ? sms / blocks : 1;
    const int shared = takeHalfOfAnSm(occupyHalf, gpu);

    const unsigned long long nanoseconds = 1000ull * microseconds;
    const Shape half = {blocks, block, shared, atATime};
    Shape small{};
    small.grid = 1;
    small.block = 32;
    small.atATime = gpu.overlapsKernels ? kResidentKernels : 1;
    lab::DeviceBuffer<lab::Span> spans(
        std::max<std::size_t>(std::size_t{maxKernels} * blocks, maxSmall));
    lab::DeviceBuffer<unsigned> marks(spans.size() * std::max(block, small.block));
    exercise.title("grid %u, block %u, %u microseconds per kernel", blocks, block, microseconds);
    exercise.noteInEmulation("It runs streams one after the other: nothing overlaps.");

    ForkJoin own(std::max(maxKernels, maxSmall));
    // Looks at the last run, and writes its lines of the timeline: of kernels of half of the GPU.
    const auto finding = [&](const char* mode, const Shape& shape, unsigned kernels,
                             unsigned streams) -> lab::Finding {
        const std::vector<lab::Span> ofRun = spans.toHost(std::size_t{kernels} * shape.grid);
        if (&shape == &half)
            addToTimeline(timeline, mode, streams, spansOfKernels(ofRun, shape.grid));

        const unsigned threads = shape.grid * shape.block;
        std::vector<unsigned> expected;
        for (unsigned k = 0; k < kernels; ++k) expected.insert(expected.end(), threads, k);
        std::string wrong = lab::mismatch(marks.toHost(expected.size()), expected);
        if (wrong.empty()) wrong = wrongTimes(ofRun, shape.grid, nanoseconds, streams);

        const double ideal = idealSpeedup(kernels, std::min(streams, shape.atATime));
        return {wrong, {kernels, streams, {ideal, 2}}};
    };
    // Where no times count, the default stream reads the marks at once: the hazard check sees
    // whether it has waited for the kernels.
    lab::DeviceBuffer<unsigned> seen(marks.size());
    const auto lookAtOnce = [&] {
        if (exercise.timesCount()) return;
        CUDA_CHECK(cudaMemcpyAsync(seen.get(), marks.get(), marks.size() * sizeof(unsigned),
                                   cudaMemcpyDeviceToDevice));
    };
    // Its own ladder for each number of kernels: the speedup is over the same ones in one stream.
    const auto compare = [&](const Shape& shape, unsigned kernels, const std::string& parameters,
                             const char* inOne, const char* inOwn) {
        const Kernels all = {shape, kernels, nanoseconds, spans.get(), marks.get()};
        lab::Ladder ladder(exercise, marks, [&] { spans.fillBytes(0); });
        ladder.rung(
            {inOne, parameters}, shape.grid, shape.block, lab::kNoRate,
            [&] { return finding(inOne, shape, kernels, 1); },
            [&] {
                launchInOneStream(all);
                lookAtOnce();
            });
        ladder.rung(
            {inOwn, parameters}, shape.grid, shape.block, lab::kNoRate,
            [&] { return finding(inOwn, shape, kernels, kernels); },
            [&] {
                launchInOwnStreams(all, own);
                lookAtOnce();
            });
    };

    for (const unsigned n : doublings(maxKernels)) {
        compare(half, n, exercise.parameters({{"kernels", std::to_string(n)}}), "oneStream",
                "ownStreams");
    }
    for (const unsigned n : doublings(maxSmall)) {
        const lab::Options::Values values = {{"kernels", std::to_string(n)},
                                             {"block", std::to_string(small.block)}};
        compare(small, n, exercise.parameters(values), "smallOneStream", "smallOwnStreams");
    }
    const int status = exercise.finish();  // which ends the program where --kernel selects nothing
    timeline.close();
    return status;
}
