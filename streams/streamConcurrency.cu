// Kernels of one stream run in order; kernels of different streams may run at the same time if the
// GPU has room for them. With a kernel that fills half of the GPU, streams of their own let two run
// at a time, and twice as many are done in the same time.
//
//   1 oneStream   all kernels in one stream: each begins when the one before has ended
//   2 ownStreams  each kernel in a stream of its own: as many at a time as fit
//
// Each is run with 1, 2, 4, 8 ... kernels. speedup is relative to the same kernels in one stream,
// ideal is what the room on the GPU allows. (Very short kernels can exceed it: in one stream there
// is a gap of a microsecond or two between kernels, which streams of their own fill.)
//
//   ./lab run streamConcurrency -- --kernels=8 --microseconds=1000 --timeline=timeline.csv
//   ./lab test streamConcurrency
//   ./lab trace streamConcurrency
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target streamConcurrency
//   build/streams/streamConcurrency --kernels=8 --microseconds=1000 --timeline=timeline.csv
//   ctest --test-dir build -L streamConcurrency
//   nsys profile build/streams/streamConcurrency --profile
//
// (Not ncu: it runs one kernel at a time.) --timeline=FILE writes a CSV line for each kernel of the
// last measured run of each row: mode, kernels, stream, kernel, begin_ms and end_ms (since the
// first kernel of the run began), and sms, the number of multiprocessors (SMs) that it ran on.

#include <algorithm>
#include <string>
#include <vector>

#include "csv_file.cuh"
#include "forkJoin.cuh"
#include "idealSpeedup.h"
#include "kernelSpans.h"
#include "lab.cuh"

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

void addToTimeline(lab::CsvFile& timeline, const char* mode, std::size_t streams,
                   const std::vector<KernelSpan>& kernels) {
    unsigned long long zero = kernels[0].begin;
    for (const KernelSpan& kernel : kernels) zero = std::min(zero, kernel.begin);
    const auto milliseconds = [&](unsigned long long time) {
        return lab::Cell(lab::milliseconds(time - zero), 6);
    };
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        timeline.row({mode, kernels.size(), k % streams, k, milliseconds(kernels[k].begin),
                      milliseconds(kernels[k].end), kernels[k].sms});
    }
}

// 1, 2, 4 ... and `most`.
std::vector<unsigned> doublings(unsigned most) {
    std::vector<unsigned> counts;
    for (unsigned count = 1; count < most; count *= 2) counts.push_back(count);
    counts.push_back(most);
    return counts;
}

int main(int argc, char** argv) {
    unsigned maxKernels, microseconds, block;
    std::string timelineName;
    lab::Exercise exercise("streamConcurrency", "Kernels in one stream, and in several at once.");
    // As many as run at a time on GPUs of compute capability 7.5 and up.
    exercise.option("kernels", &maxKernels, 8, 1, 128, "kernels of the longest run");
    exercise.option("microseconds", &microseconds, {1000, 100}, 1, 1000000,
                    "how long a kernel runs");
    exercise.option("block", &block, 256, 1, lab::kMaxBlock, "threads per block");
    exercise.options().file("timeline", &timelineName, "CSV of when each kernel began and ended");
    exercise.parse(argc, argv);
    exercise.columns(lab::Columns::kLadder,
                     {{"kernels", 8, "kernels"}, {"streams", 8, "streams"}, {"ideal", 7, "ideal"}});
    if (!exercise.selected("oneStream") && !exercise.selected("ownStreams"))
        return exercise.finish();  // before the file is opened: bad usage leaves it as it is
    lab::CsvFile timeline(exercise, "timeline", timelineName,
                          {{"", 0, "mode"},
                           {"", 0, "kernels"},
                           {"", 0, "stream"},
                           {"", 0, "kernel"},
                           {"", 0, "begin_ms"},
                           {"", 0, "end_ms"},
                           {"", 0, "sms"}});

    // Blocks for half of the SMs. Each takes half of an SM's shared memory and a little more (the
    // variable of the kernel), so that no two fit into one SM, and a kernel needs half of them.
    const lab::DeviceFacts& gpu = exercise.device();
    const unsigned sms = gpu.multiprocessors;
    const unsigned blocks = std::max(1u, sms / 2);
    const unsigned atATime = gpu.overlapsKernels ? sms / blocks : 1;
    const auto shared = static_cast<int>(gpu.sharedPerMultiprocessor / 2);
    CUDA_CHECK(
        cudaFuncSetAttribute(occupyHalf, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));

    const unsigned long long nanoseconds = 1000ull * microseconds;
    lab::DeviceBuffer<lab::Span> spans(std::size_t{maxKernels} * blocks);
    lab::DeviceBuffer<unsigned> marks(spans.size() * block);
    exercise.title("grid %u, block %u, %u microseconds per kernel", blocks, block, microseconds);
    exercise.noteInEmulation("It runs streams one after the other: nothing overlaps.");

    ForkJoin own(maxKernels);
    // Starts kernel k in stream k % streams. The default stream, which measures the time, is there
    // before the first and after the last.
    const auto launch = [&](unsigned kernels, unsigned streams) {
        own.fork(streams);
        for (unsigned k = 0; k < kernels; ++k) {
            occupyHalf<<<blocks, block, shared, own[k % streams]>>>(k, nanoseconds, spans.get(),
                                                                    marks.get());
        }
        own.join(streams);
    };
    // Looks at the last run, and writes its lines of the timeline.
    const auto finding = [&](const char* mode, unsigned kernels, unsigned streams) -> lab::Finding {
        const std::vector<lab::Span> ofRun = spans.toHost(std::size_t{kernels} * blocks);
        addToTimeline(timeline, mode, streams, spansOfKernels(ofRun, blocks));

        std::vector<unsigned> expected;
        for (unsigned k = 0; k < kernels; ++k) expected.insert(expected.end(), blocks * block, k);
        std::string wrong = lab::mismatch(marks.toHost(expected.size()), expected);
        if (wrong.empty()) wrong = wrongTimes(ofRun, blocks, nanoseconds, streams);

        return {wrong, {kernels, streams, {idealSpeedup(kernels, std::min(streams, atATime)), 2}}};
    };

    for (const unsigned kernels : doublings(maxKernels)) {
        const std::string parameters = exercise.parameters({{"kernels", std::to_string(kernels)}});
        // One for each number of kernels: the speedup is that over the same ones in one stream.
        lab::Ladder ladder(exercise, marks, [&] { spans.fillBytes(0); });
        ladder.rung(
            {"oneStream", parameters}, blocks, block, lab::kNoRate,
            [&] { return finding("oneStream", kernels, 1); }, [&] { launch(kernels, 1); });
        ladder.rung(
            {"ownStreams", parameters}, blocks, block, lab::kNoRate,
            [&] { return finding("ownStreams", kernels, kernels); },
            [&] { launch(kernels, kernels); });
    }
    timeline.close();
    return exercise.finish();
}
