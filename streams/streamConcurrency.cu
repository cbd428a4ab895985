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
//   cmake --build build --target streamConcurrency
//   build/streams/streamConcurrency --kernels=8 --microseconds=1000 --timeline=timeline.csv
//   ctest --test-dir build -R streamConcurrency
//   nsys profile build/streams/streamConcurrency --profile
//
// (Not ncu: it runs one kernel at a time.) --timeline=FILE writes a CSV line for each kernel of the
// last measured run of each row: mode, kernels, stream, kernel, begin_ms and end_ms (since the
// first kernel of the run began), and sms, the number of multiprocessors (SMs) that it ran on.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "csv_file.cuh"
#include "lab.cuh"

// When and where something ran: nanoseconds of lab::globaltimer(), a clock that all SMs share.
struct Span {
    unsigned long long begin, end;
    unsigned sm;
};

// Kernel number `kernel` of a run. It only passes the time, so that kernels compete for nothing but
// room on the SMs; real ones share caches and memory bandwidth too, and gain less.
__global__ void occupyHalf(unsigned kernel, unsigned long long nanoseconds, Span* spans,
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

// From the begin of a kernel's first block to the end of its last one; sm is the number of SMs.
std::vector<Span> spansOfKernels(const std::vector<Span>& spans, std::size_t blocks) {
    std::vector<Span> kernels;
    for (auto first = spans.begin(); first != spans.end(); first += blocks) {
        Span kernel = *first;
        std::set<unsigned> sms;
        for (auto block = first; block != first + blocks; ++block) {
            kernel.begin = std::min(kernel.begin, block->begin);
            kernel.end = std::max(kernel.end, block->end);
            sms.insert(block->sm);
        }
        kernel.sm = static_cast<unsigned>(sms.size());
        kernels.push_back(kernel);
    }
    return kernels;
}

// What is wrong with the times of a run, kernel k being in stream k % streams. Overlap is not a
// matter of right or wrong: CUDA allows it, and promises nothing but the order within a stream.
std::string wrongTimes(const std::vector<Span>& spans, std::size_t blocks,
                       unsigned long long nanoseconds, std::size_t streams) {
    for (std::size_t i = 0; i < spans.size(); ++i) {
        if (spans[i].end < spans[i].begin || spans[i].end - spans[i].begin < nanoseconds) {
            return lab::formatted("block %zu of kernel %zu did not stay for %llu ns", i % blocks,
                                  i / blocks, nanoseconds);
        }
    }
    const std::vector<Span> kernels = spansOfKernels(spans, blocks);
    for (std::size_t k = streams; k < kernels.size(); ++k) {
        if (kernels[k].begin < kernels[k - streams].end) {
            return lab::formatted("kernel %zu began before kernel %zu of its stream had ended", k,
                                  k - streams);
        }
    }
    return "";
}

// Streams that do not wait for the default stream (non-blocking): the only order among them is what
// the events say. A run begins at `fork` and ends when every stream has passed its `done`.
struct Streams {
    std::vector<cudaStream_t> streams;
    std::vector<cudaEvent_t> done;
    cudaEvent_t fork = nullptr;

    explicit Streams(std::size_t count) : streams(count), done(count) {
        CUDA_CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
        for (cudaEvent_t& event : done)
            CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        for (cudaStream_t& stream : streams)
            CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    }
    ~Streams() {
        cudaEventDestroy(fork);
        for (const cudaEvent_t event : done) cudaEventDestroy(event);
        for (const cudaStream_t stream : streams) cudaStreamDestroy(stream);
    }
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;
};

void addToTimeline(lab::CsvFile& timeline, const char* mode, std::size_t streams,
                   const std::vector<Span>& kernels) {
    unsigned long long zero = kernels[0].begin;
    for (const Span& kernel : kernels) zero = std::min(zero, kernel.begin);
    const auto milliseconds = [&](unsigned long long time) {
        return lab::Cell(1e-6 * static_cast<double>(time - zero), 6);
    };
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        timeline.row({mode, kernels.size(), k % streams, k, milliseconds(kernels[k].begin),
                      milliseconds(kernels[k].end), kernels[k].sm});
    }
}

int main(int argc, char** argv) {
    unsigned maxKernels = 8;
    unsigned microseconds = lab::perBackend(1000, 100);
    unsigned block = 256;
    std::string timelineName;
    lab::Exercise exercise("streamConcurrency", "Kernels in one stream, and in several at once.");
    // As many as run at a time on GPUs of compute capability 7.5 and up.
    exercise.option("kernels", &maxKernels, 1, 128, "kernels of the longest run");
    exercise.option("microseconds", &microseconds, 1, 1000000, "how long a kernel runs");
    exercise.option("block", &block, 1, lab::kMaxBlock, "threads per block");
    exercise.options().text("timeline", &timelineName, "FILE", "a file name",
                            "CSV of when each kernel began and ended");
    exercise.parse(argc, argv);
    const unsigned long long nanoseconds = 1000ull * microseconds;

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
    const unsigned sms = exercise.device().multiprocessors;
    const unsigned blocks = std::max(1u, sms / 2);
    const unsigned atATime = lab::perBackend(sms / blocks, 1u);
    int device = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    const int shared =
        lab::deviceAttribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device) / 2;
    CUDA_CHECK(
        cudaFuncSetAttribute(occupyHalf, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));

    lab::DeviceBuffer<Span> spans(std::size_t{maxKernels} * blocks);
    lab::DeviceBuffer<unsigned> marks(spans.size() * block);
    exercise.output(marks);
    exercise.prepare([&] { spans.fillBytes(0); });
    exercise.title("grid %u, block %u, %u microseconds per kernel", blocks, block, microseconds);
    if (lab::kEmulated) exercise.note("It runs streams one after the other: nothing overlaps.");

    Streams own(maxKernels);
    const auto launch = [&](unsigned kernels, unsigned streams) {
        CUDA_CHECK(cudaEventRecord(own.fork));  // in the default stream, which measures the time
        for (unsigned s = 0; s < streams; ++s)
            CUDA_CHECK(cudaStreamWaitEvent(own.streams[s], own.fork));
        for (unsigned k = 0; k < kernels; ++k) {
            occupyHalf<<<blocks, block, shared, own.streams[k % streams]>>>(
                k, nanoseconds, spans.get(), marks.get());
        }
        for (unsigned s = 0; s < streams; ++s) {
            CUDA_CHECK(cudaEventRecord(own.done[s], own.streams[s]));
            CUDA_CHECK(cudaStreamWaitEvent(nullptr, own.done[s]));
        }
    };
    const auto wrongMarks = [&](unsigned kernels) {
        std::vector<unsigned> expected;
        for (unsigned k = 0; k < kernels; ++k) expected.insert(expected.end(), blocks * block, k);
        return lab::mismatch(marks.toHost(expected.size()), expected);
    };

    lab::Table table({{"", 0, "exercise"},
                      {"", 0, "device"},
                      {"", 0, "microseconds"},
                      {"kernel", -10, "kernel"},
                      {"kernels", 7, "kernels"},
                      {"streams", 7, "streams"},
                      {"grid", 10, "grid"},
                      {"block", 6, "block"},
                      {"", 0, "reps"},
                      {"time [ms]", 10, "median_ms"},
                      {"", 0, "min_ms"},
                      {"", 0, "max_ms"},
                      {"speedup", 7, "speedup"},
                      {"ideal", 7, "ideal"},
                      {"check", -5, "check"}},
                     exercise.csv());
    // Measures, checks and reports one row; returns its time. `serial` is the time to compare with.
    const auto row = [&](const char* mode, unsigned kernels, unsigned streams, double serial) {
        const lab::Statistics time = exercise.measure(mode, [&] { launch(kernels, streams); });
        const std::vector<Span> ofRun = spans.toHost(std::size_t{kernels} * blocks);
        std::string wrong = wrongMarks(kernels);
        if (wrong.empty()) wrong = wrongTimes(ofRun, blocks, nanoseconds, streams);
        addToTimeline(timeline, mode, streams, spansOfKernels(ofRun, blocks));

        const lab::TimeCells times(time);
        lab::Cell speedup;
        if (serial > 0) speedup = {serial / time.median, 2};
        const unsigned together = std::min(streams, atATime);
        const unsigned turns = kernels / together + (kernels % together != 0);
        table.row({"streamConcurrency", exercise.device().name, microseconds, mode, kernels,
                   streams, blocks, block, time.count, times.median, times.min, times.max, speedup,
                   lab::Cell(1.0 * kernels / turns, 2), lab::verdict(wrong)});
        exercise.report(mode, wrong);
        return time.median;
    };

    const bool one = exercise.selected("oneStream"), each = exercise.selected("ownStreams");
    for (unsigned kernels = 1; one || each; kernels = std::min(2 * kernels, maxKernels)) {
        const double serial = one ? row("oneStream", kernels, 1, 0) : 0;
        if (each) row("ownStreams", kernels, kernels, serial);
        if (kernels == maxKernels) break;
    }
    timeline.close();
    return exercise.finish();
}
