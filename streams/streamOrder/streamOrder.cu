// Who waits for whom: what orders pieces of work in several streams, and when the host waits.
//
//   chain..., diamond..., fan...  kernels that read what others have left: in one stream, and in
//                 several, with an event for each wait
//   missing...    one stream writes, another one reads, and nothing orders the two, though it may
//                 look so; `event` has it right. check says `race` where the reader found old
//                 elements, `lucky` where it found none: nothing says that it must go wrong
//   query..., synchronize...  the host waits for a kernel: asks, and works meanwhile, or sleeps
//   hostFunction...  functions of the host, in a stream: in order, and what they may not do
//   after...      work in one stream, then in another: which ones wait by themselves
//   cuda...       does the host wait in this call, while a kernel runs?
//
//   promised      what CUDA promises, and `seen` what came of it. In `after...` the letters of the
//                 streams that wait: 0 stream 0, L legacy, T of the thread, B and b blocking, N and
//                 n non-blocking. In `cuda...` for a kernel in a non-blocking stream / in a
//                 blocking one, with kernels longer than the call; ? where the kernel had ended
//                 before
//   call [us]     until the host could go on
//
// What is promised must be seen; what is not may be seen all the same, and is nothing wrong.
//
//   ./lab run streamOrder -- --size=1M --microseconds=1000
//   ./lab test streamOrder
//   ./lab check streamOrder         (without a GPU: the waits that are missing)
//   ./lab trace streamOrder
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target streamOrder streamOrder_per_thread
//   build/streams/streamOrder --size=1M --microseconds=1000
//   build/streams/streamOrder_per_thread --kernel=after
//   nsys profile build/streams/streamOrder --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon streams/streamOrder/streamOrder.cu
//       common/*.cpp common/*.cu -o build/streamOrder
//
// streamOrder_per_thread is this source, compiled with --default-stream per-thread. --pieces=FILE
// writes a CSV line for each piece of the graphs in the last measured run: graph, stream, piece,
// begin_ms and end_ms, since the first piece began.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "../events.cuh"
#include "../forkJoin.cuh"
#include "busyWait.cuh"
#include "hostFunctions.cuh"
#include "hostWaits.cuh"
#include "lab.cuh"
#include "orderRows.cuh"
#include "output_file.cuh"
#include "staleElements.h"
#include "streamRules.h"
#include "workGraph.h"

constexpr unsigned kBlock = 256, kFewBlocks = 32;

// A piece of a graph: reads what the pieces in `after` have left, passes the time, and leaves its
// own result. Who does not wait reads too early.
__global__ void piece(unsigned number, unsigned after, unsigned long long nanoseconds,
                      unsigned* values, lab::Span* spans) {
    __shared__ unsigned long long begin;
    if (threadIdx.x == 0) begin = lab::globaltimer();
    __syncthreads();
    unsigned value = number + 1;
    for (unsigned p = 0; p < number; ++p) {
        if ((after >> p & 1) != 0) value += values[p * blockDim.x + threadIdx.x];
    }
    if (threadIdx.x == 0) stayUntil(begin + nanoseconds);
    __syncthreads();
    values[number * blockDim.x + threadIdx.x] = value;
    __syncthreads();
    if (threadIdx.x == 0) spans[number] = {begin, lab::globaltimer(), lab::smid()};
}

// Writes late, so that whoever does not wait is sure to come too early.
__global__ void writeLate(int* data, std::size_t size, unsigned long long nanoseconds) {
    if (threadIdx.x == 0) stayUntil(lab::globaltimer() + nanoseconds);
    __syncthreads();
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += threads)
        data[i] = static_cast<int>(i) + 1;
}

__global__ void readAll(const int* data, int* seen, std::size_t size) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += threads)
        seen[i] = data[i];
}

// ---- pieces of work that wait for one another

// When the pieces ran, as lines of a CSV file.
void addPieces(lab::CsvFile& file, const std::string& kernel, const WorkGraph& graph,
               const std::vector<lab::Span>& spans) {
    const lab::SinceFirst milliseconds(spans);
    for (std::size_t k = 0; k < graph.size(); ++k) {
        file.row(
            {kernel, graph[k].stream, k, milliseconds(spans[k].begin), milliseconds(spans[k].end)});
    }
}

void graphs(lab::Exercise& exercise, unsigned long long nanoseconds, const std::string& fileName) {
    constexpr unsigned kStreams = 4;
    // Pieces have numbers from 0, and so have streams, below kStreams.
    const std::vector<std::pair<std::string, WorkGraph>> all = {
        {"chain",
         {inStream(0), inStream(1).waitingFor({0}), inStream(2).waitingFor({1}),
          inStream(3).waitingFor({2})}},
        {"diamond",
         {inStream(0), inStream(0).waitingFor({0}), inStream(1).waitingFor({0}),
          inStream(0).waitingFor({1, 2})}},
        {"fan",
         {inStream(0), inStream(0).waitingFor({0}), inStream(1).waitingFor({0}),
          inStream(2).waitingFor({0}), inStream(3).waitingFor({0}),
          inStream(0).waitingFor({1, 2, 3, 4})}},
    };
    std::size_t most = 0;  // pieces of a graph
    for (const auto& named : all) most = std::max(most, named.second.size());
    lab::CsvFile file(exercise, "pieces", fileName,
                      {"graph", "stream", "piece", "begin_ms", "end_ms"});
    lab::DeviceBuffer<unsigned> values(most * kBlock);
    lab::DeviceBuffer<lab::Span> spans(most);
    ForkJoin streams(kStreams);
    const Events done(most);

    const auto rung = [&](lab::Ladder& ladder, const std::string& name, const WorkGraph& graph) {
        const auto finding = [&]() -> lab::Finding {
            std::vector<unsigned> expected;
            for (const unsigned value : valuesOf(graph))
                expected.insert(expected.end(), kBlock, value);
            std::string wrong = lab::mismatch(values.toHost(expected.size()), expected);
            const std::vector<lab::Span> ran = spans.toHost(graph.size());
            if (wrong.empty()) wrong = wrongOrder(graph, ran, nanoseconds);
            addPieces(file, name, graph, ran);
            const std::string waits = lab::formatted("%u waits", waitsIn(graph));
            Cells cells{waits, wrong.empty() ? waits : "less"};
            cells.ideal = {static_cast<double>(graph.size()) / longestWay(graph), 2};
            return {wrong, cells};
        };
        ladder.rung(name, 1, kBlock, lab::kNoRate, finding, [&] {
            streams.fork(kStreams);
            for (std::size_t k = 0; k < graph.size(); ++k) {
                const cudaStream_t stream = streams[graph[k].stream];
                for (std::size_t p = 0; p < k; ++p) {
                    if (waitsFor(graph[k], p) && graph[p].stream != graph[k].stream)
                        CUDA_CHECK(cudaStreamWaitEvent(stream, done[p]));
                }
                piece<<<1, kBlock, 0, stream>>>(static_cast<unsigned>(k), graph[k].after,
                                                nanoseconds, values.get(), spans.get());
                CUDA_CHECK(cudaEventRecord(done[k], stream));
            }
            streams.join(kStreams);
        });
    };
    for (const auto& [name, graph] : all) {
        lab::Ladder ladder(exercise, values, [&] { spans.fillBytes(0); });
        rung(ladder, name + "InOneStream", inOneStream(graph));
        rung(ladder, name + "InStreams", graph);
    }
    file.close();
}

// ---- waits that are there, and waits that are missing

void waits(lab::Exercise& exercise, std::size_t size, unsigned long long nanoseconds) {
    lab::DeviceBuffer<int> data(size), seen(size);
    lab::requireHostMemory(size, 4 * sizeof(int));
    std::vector<int> written(size);
    std::iota(written.begin(), written.end(), 1);
    ForkJoin streams(2);
    const cudaStream_t writer = streams[0], reader = streams[1];
    const Events events(5);
    // Few: both kernels have room at the same time.
    const unsigned grid = std::min(kFewBlocks, lab::blocksFor(size, kBlock));

    const auto write = [&] {
        writeLate<<<grid, kBlock, 0, writer>>>(data.get(), size, nanoseconds);
    };
    const auto read = [&] { readAll<<<grid, kBlock, 0, reader>>>(data.get(), seen.get(), size); };
    const auto copy = [&] {
        CUDA_CHECK(cudaMemcpyAsync(seen.get(), data.get(), seen.bytes(), cudaMemcpyDeviceToDevice,
                                   reader));
    };
    const auto record = [](cudaEvent_t event, cudaStream_t stream) {
        CUDA_CHECK(cudaEventRecord(event, stream));
    };
    const auto wait = [&](cudaEvent_t event) { CUDA_CHECK(cudaStreamWaitEvent(reader, event)); };

    lab::Ladder ladder(exercise, seen, [&] { data.fillBytes(0); });
    enum Order { kOrdered, kUnordered };
    const auto rung = [&](const char* name, Order order, const std::function<void()>& work) {
        const bool ordered = order == kOrdered;
        const auto finding = [&]() -> lab::Finding {
            const WasRead read = whatWasRead(seen.toHost(), written, ordered);
            // Whoever read too early, all must be written in the end.
            const std::string missing = lab::mismatch(data.toHost(), written);
            Cells cells{ordered ? "in order" : "nothing", lab::formatted("%zu stale", read.stale)};
            cells.stale = read.stale;
            cells.elements = size;
            lab::Finding finding(missing.empty() ? read.wrong : missing, cells);
            if (!ordered) finding.word = read.stale > 0 ? "race" : "lucky";
            return finding;
        };
        ladder.rung(name, grid, kBlock, lab::kNoRate, finding, [&] {
            streams.fork(2);
            work();
            streams.join(2);
        });
    };
    rung("event", kOrdered, [&] {
        write();
        record(events[0], writer);
        wait(events[0]);
        read();
    });
    rung("missingWait", kUnordered, [&] {
        write();
        record(events[1], writer);
        read();
    });
    rung("missingWaitOfCopy", kUnordered, [&] {
        write();
        copy();
    });
    // An event stands for what its stream had been given when it was recorded last.
    rung("missingRecordedTooEarly", kUnordered, [&] {
        record(events[2], writer);
        write();
        wait(events[2]);
        read();
    });
    rung("missingWaitedTooEarly", kUnordered, [&] {
        wait(events[3]);
        write();
        record(events[3], writer);
        read();
    });
    rung("missingOfOtherStream", kUnordered, [&] {
        write();
        record(events[4], reader);
        wait(events[4]);
        read();
    });
}

// ---- streams that wait by themselves

void streamsByThemselves(lab::Exercise& exercise, unsigned long long nanoseconds) {
    cudaStream_t blocking[2];
    for (cudaStream_t& stream : blocking) CUDA_CHECK(cudaStreamCreate(&stream));
    const ForkJoin nonBlocking(2);
    struct Named {
        const char* name;
        NamedStream rule;
        cudaStream_t stream;
    };
    const Named all[] = {{"afterStream0", {'0', kStreamZero}, nullptr},
                         {"afterLegacy", {'L', StreamKind::kLegacy}, cudaStreamLegacy},
                         {"afterPerThread", {'T', StreamKind::kPerThread}, cudaStreamPerThread},
                         {"afterBlocking", {'B', StreamKind::kBlocking}, blocking[0]},
                         {"afterBlocking2", {'b', StreamKind::kBlocking}, blocking[1]},
                         {"afterNonBlocking", {'N', StreamKind::kNonBlocking}, nonBlocking[0]},
                         {"afterNonBlocking2", {'n', StreamKind::kNonBlocking}, nonBlocking[1]}};

    lab::PinnedBuffer<lab::Span> spans(2);
    for (const Named& first : all) {
        if (!exercise.selected(first.name)) continue;
        Cells cells;
        std::string wrong;
        for (const Named& second : all) {
            CUDA_CHECK(cudaDeviceSynchronize());
            spans[0] = spans[1] = {};
            stay<<<1, 1, 0, first.stream>>>(nanoseconds, &spans[0]);
            stay<<<1, 1, 0, second.stream>>>(0, &spans[1]);
            CUDA_CHECK_LAUNCH();
            CUDA_CHECK(cudaDeviceSynchronize());
            const bool promised = waitsByItself(first.rule, second.rule);
            const bool seen = spans[1].begin >= spans[0].end;
            const char letter = second.rule.letter;
            cells.promised += promised ? letter : '-';
            cells.seen += seen ? letter : '-';
            if (!lab::stayedFor(spans[0], nanoseconds) || !lab::stayedFor(spans[1], 0))
                wrong = lab::formatted("a kernel has not run: %c", letter);
            if (promised && !seen) wrong = lab::formatted("%c did not wait", letter);
        }
        printRow(exercise, first.name, {wrong, cells});
    }
    for (const cudaStream_t stream : blocking) CUDA_CHECK(cudaStreamDestroy(stream));
}

int main(int argc, char** argv) {
    std::size_t size;
    unsigned microseconds;
    std::string piecesName;
    lab::Exercise exercise("streamOrder", "Who waits for whom: streams, events, and the host.");
    exercise.option("size", &size, {1 << 20, 1 << 12}, 1, 1 << 30, "ints to write and read");
    exercise.option("microseconds", &microseconds, {100, 20}, 1, 1000000, "how long a kernel runs");
    exercise.options().file("pieces", &piecesName, "CSV of when each piece of a graph ran");
    exercise.parse(argc, argv);
    constexpr auto kOnGpu = lab::OwnColumn::kOnGpu;
    exercise.columns(lab::Columns::kLadder,
                     {{"promised", -11, "promised"},
                      {"seen", -17, "seen"},
                      {"call [us]", 9, "call_us", kOnGpu},
                      {"", 0, "stale"},
                      {"", 0, "elements"},
                      {"", 0, "polls"},
                      {"", 0, "cpu_us", kOnGpu},
                      {"", 0, "idle_us", kOnGpu},
                      {"", 0, "behind_us", kOnGpu},
                      {"", 0, "ideal"}},
                     {"grid", "block", "speedup"});
    exercise.title("%s ints, kernels of %u us", lab::withCommas(size).c_str(), microseconds);
    exercise.noteInEmulation("It carries out everything at the call: nothing overlaps.");

    const unsigned long long nanoseconds = 1000ull * microseconds;
    graphs(exercise, nanoseconds, piecesName);
    waits(exercise, size, nanoseconds);
    waitingHost(exercise, nanoseconds);
    hostFunctions(exercise);
    streamsByThemselves(exercise, nanoseconds);
    hostCalls(exercise, nanoseconds);
    return exercise.finish();
}
