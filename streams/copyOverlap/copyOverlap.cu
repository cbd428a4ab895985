// An array goes to the GPU, through a kernel, and back, and then the host reads the result. Where
// all of it takes one step after the other, three quarters of the machine wait. Cut into pieces, it
// keeps all busy: the copy engine of each direction, the SMs, and the host.
//
//   1 serial            the whole array, one stage after the other
//   2 twoWay            copied in at once; kernel and copy out of different pieces overlap
//   3 threeWay          copy in, too
//   4 fourWay           and the host reads each piece as soon as it is back
//   5 fourWayByStage    a stream for each stage, not for every so many pieces
//     threeWayPageable  3 from pageable memory
//
// Before them, each stage alone with the whole array; bothWays: both copies at the same time;
// bothInPieces: the same, cut into pieces. Times are of the host's clock, until it has everything.
//
//   bound      what no pipeline of this kind goes below: the longest of the stages that overlap
//              (the copies as in bothWays), and the others; of each the shortest repetition
//   predicted  the first piece goes through all stages, and then one comes in each turn
//   share      bound over time, in percent
//
// --sweep adds rows of 3 in which the host reads nothing: pipeline, with 1, 2, 4 ... 64 pieces in
// 1, 2, 3, 4, 16 streams, and pipelineByStage. --timeline=FILE writes a CSV line for each
// operation of a run of each row but those of stages and of the sweep: mode, pieces, streams, lane
// (stage), piece, begin_ms and end_ms since the run began. (Events say when an operation on the
// device ended; when it began follows from what was before it: its piece in another lane, its
// lane.)
//
//   ./lab run copyOverlap -- --pieces=8 --timeline=timeline.csv
//   ./lab test copyOverlap
//   ./lab trace copyOverlap
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target copyOverlap
//   build/streams/copyOverlap --pieces=8 --timeline=timeline.csv
//   nsys profile build/streams/copyOverlap --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon streams/copyOverlap/copyOverlap.cu
//       common/*.cpp common/*.cu -o build/copyOverlap

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "../events.cuh"
#include "../forkJoin.cuh"
#include "hostReaders.h"
#include "lab.cuh"
#include "output_file.cuh"
#include "overlapTable.h"
#include "pipeline.h"
#include "roundTrip.cuh"

using namespace pipeline;

constexpr unsigned kBlock = 256;
constexpr unsigned kMaxStreams = 16, kMaxPieces = 64;

// A step of a random number generator: x becomes factor * x + summand, modulo 2^32.
struct Step {
    unsigned factor, summand;
};
constexpr Step kStep = {1664525, 1013904223};

// As much work as wanted for each element: that many steps.
__global__ void advance(const unsigned* in, unsigned* out, std::size_t size, Step step,
                        unsigned steps) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= size) return;
    unsigned x = in[i];
    for (unsigned s = 0; s < steps; ++s) x = step.factor * x + step.summand;
    out[i] = x;
}

// What the host knows and the kernel does not: any number of steps is again one.
Step inOne(Step step, unsigned steps) {
    Step all = {1, 0};
    for (unsigned s = 0; s < steps; ++s)
        all = {step.factor * all.factor, step.factor * all.summand + step.summand};
    return all;
}

class Pipeline {
  public:
    Pipeline(RoundTrip& array, unsigned steps, unsigned threads)
        : array_(array),
          steps_(steps),
          own_(kMaxStreams),
          begun_(1, cudaEventDefault),
          untimed_(kStages * kMaxPieces),
          timed_(kStages * kMaxPieces, cudaEventDefault),
          host_(threads) {}

    // All pieces through all stages. Copy in, kernel and copy out of a piece are issued one behind
    // the other. In one stream they stay in this order; in streams of their own each waits for the
    // event behind the one before. Nothing else waits for anything.
    void run(const Way& way, bool timed) {
        events_ = timed ? &timed_ : &untimed_;
        const lab::CpuTimer timer;
        CUDA_CHECK(cudaEventRecord(begun_[0]));
        if (way.inAtOnce()) submit(way, kIn, {0, array_.size()}, 0, nullptr);
        own_.fork(way.streams);
        for (unsigned p = 0; p < way.pieces; ++p) {
            const Piece piece = pieceOf(array_.size(), way.pieces, p);
            for (const Stage stage : {kIn, kKernel, kOut}) {
                if (!way.has(stage) || (stage == kIn && way.inAtOnce())) continue;
                const cudaStream_t stream = own_[way.streamOf(stage, p)];
                if (stage != kIn && waitsForEvents(way))
                    CUDA_CHECK(cudaStreamWaitEvent(stream, done(stage - 1, p)));
                submit(way, stage, piece, p, stream);
            }
        }
        own_.join(way.streams);
        if (way.hostAtTheEnd()) CUDA_CHECK(cudaStreamSynchronize(nullptr));
        if (way.has(kHost)) {
            const auto waitFor = [&](unsigned p) {
                if (!way.hostAtTheEnd()) CUDA_CHECK(cudaEventSynchronize(done(kOut, p)));
            };
            host_.read(array_.result(way), array_.size(), way.pieces, waitFor,
                       [&] { return timer.milliseconds(); });
        }
        CUDA_CHECK(cudaStreamSynchronize(nullptr));
    }

    // When the pieces of the last run, a timed one, were in each stage, by events and by the clock
    // of the host.
    Spans spans(const Way& way) const {
        Spans spans;
        for (const Stage stage : {kIn, kKernel, kOut}) {
            if (!way.has(stage)) continue;
            spans[stage].resize(stage == kIn && way.inAtOnce() ? 1 : way.pieces);
            for (unsigned p = 0; p < spans[stage].size(); ++p) {
                float end;
                CUDA_CHECK(cudaEventElapsedTime(&end, begun_[0], done(stage, p)));
                spans[stage][p].end = end;
            }
        }
        setBegins(spans);
        if (way.has(kHost)) spans[kHost] = host_.spans();
        return spans;
    }

    // What the host has read in the last run: of each piece a sum from each thread.
    const std::vector<unsigned>& sums() const { return host_.sums(); }

  private:
    // A stage, for the one before: in a stream with it the kernel and the copy out are in order
    // anyway, and copies without a kernel have nothing to do with each other.
    static bool waitsForEvents(const Way& way) {
        return way.streamFor == kOneStage && way.has(kKernel);
    }

    cudaEvent_t done(int stage, unsigned piece) const {
        return (*events_)[stage * kMaxPieces + piece];
    }

    void submit(const Way& way, Stage stage, Piece piece, unsigned number, cudaStream_t stream) {
        const std::size_t bytes = piece.size * sizeof(unsigned);
        unsigned* const before = array_.before.get() + piece.begin;
        unsigned* const behind = array_.behind.get() + piece.begin;
        if (stage == kIn) {
            CUDA_CHECK(cudaMemcpyAsync(before, array_.source(way) + piece.begin, bytes,
                                       cudaMemcpyHostToDevice, stream));
        } else if (stage == kKernel) {
            advance<<<lab::blocksFor(piece.size, kBlock), kBlock, 0, stream>>>(
                before, behind, piece.size, kStep, steps_);
            CUDA_CHECK_LAUNCH();
        } else {
            CUDA_CHECK(cudaMemcpyAsync(array_.result(way) + piece.begin, behind, bytes,
                                       cudaMemcpyDeviceToHost, stream));
        }
        // An event takes its time, too: none that nobody waits for.
        const bool waitedFor = stage == kOut ? !way.hostAtTheEnd() : waitsForEvents(way);
        if (events_ == &timed_ || waitedFor)
            CUDA_CHECK(cudaEventRecord(done(stage, number), stream));
    }

    RoundTrip& array_;
    unsigned steps_;
    ForkJoin own_;
    Events begun_, untimed_, timed_;  // of the run, and by stage and piece
    const Events* events_ = nullptr;  // those of the last run
    HostReaders host_;
};

void addToTimeline(lab::CsvFile& timeline, unsigned pieces, const Way& way, const Spans& spans) {
    for (const Stage stage : {kIn, kKernel, kOut, kHost}) {
        for (std::size_t p = 0; p < spans[stage].size(); ++p) {
            const auto [begin, end] = spans[stage][p];
            const lab::Cell piece = spans[stage].size() == 1 ? lab::Cell("all") : lab::Cell(p);
            timeline.row(
                {way.name, pieces, way.streams, kNames[stage], piece, {begin, 6}, {end, 6}});
        }
    }
}

int main(int argc, char** argv) {
    std::size_t size;
    unsigned steps, pieces, streams, threads;
    bool sweep = false;
    std::string timelineName;
    lab::Exercise exercise("copyOverlap", "Copies, kernel and host at the same time.");
    exercise.option("size", &size, {1 << 25, 1 << 12}, 1, lab::kMaxSize, "elements of the array");
    exercise.option("steps", &steps, {1200, 4}, 0, 1000000, "work of the kernel for an element");
    exercise.option("pieces", &pieces, {64, 4}, 1, kMaxPieces, "pieces of the array");
    exercise.option("streams", &streams, {4, 3}, 1, kMaxStreams, "streams that take turns");
    exercise.option("threads", &threads, {12, 2}, 1, 256, "threads of the host that read");
    exercise.options().flag("sweep", &sweep, "pipeline: 1 ... 64 pieces in 1 ... 16 streams");
    exercise.options().file("timeline", &timelineName, "CSV of when each operation was done");
    exercise.parse(argc, argv);
    pieces = static_cast<unsigned>(std::min<std::size_t>(pieces, size));

    exercise.columns(lab::Columns::kTimed, overlapColumns(), {"grid", "block"});
    exercise.title("%s numbers (%s), %u steps for each", lab::withCommas(size).c_str(),
                   lab::inBytes(size * sizeof(unsigned)).c_str(), steps);
    exercise.noteInEmulation("It runs streams one after the other: nothing overlaps.");
    lab::CsvFile timeline(exercise, "timeline", timelineName,
                          {"mode", "pieces", "streams", "lane", "piece", "begin_ms", "end_ms"});
    lab::requireHostMemory(6 * size, sizeof(unsigned));
    const Step all = inOne(kStep, steps);
    RoundTrip array(size, exercise.seed(),
                    [=](unsigned x) { return all.factor * x + all.summand; });
    Pipeline pipeline(array, steps, threads);

    // Its time until the host has everything, and what is wrong with the order or with the data.
    std::string wrong;
    Spans spans;
    const auto measured = [&](const Way& way) {
        const lab::NvtxRange range(way.name);
        array.provide(way);
        array.poison(way);
        const lab::CpuTimer first;
        pipeline.run(way, true);  // warms up, too
        const int reps = exercise.measure().repsOf(first.milliseconds());
        spans = pipeline.spans(way);
        wrong = wrongOrder(spans, way.apart());
        std::vector<double> times;
        for (int rep = 0; rep < reps; ++rep) {
            array.poison(way);
            const lab::CpuTimer timer;
            pipeline.run(way, false);
            times.push_back(timer.milliseconds());
        }
        if (wrong.empty()) wrong = array.wrong(way);
        if (wrong.empty() && way.has(kHost)) wrong = array.wrongSums(way, pipeline.sums());
        return lab::statistics(std::move(times));
    };
    const auto print = [&](const Way& way, const lab::Statistics& time,
                           const std::vector<lab::Cell>& ofGpu) {
        lab::Row row;
        row.kernel = way.name;
        row.parameters = exercise.parameters(
            {{"pieces", std::to_string(way.pieces)}, {"streams", std::to_string(way.streams)}});
        if (way.has(kKernel)) {
            row.grid = std::to_string(lab::blocksFor(pieceOf(size, way.pieces, 0).size, kBlock));
            row.block = std::to_string(kBlock);
        }
        row.time = time;
        row.finding = {wrong, {way.pieces, way.streams}};
        if (exercise.timesCount())
            row.finding.cells.insert(row.finding.cells.end(), ofGpu.begin(), ofGpu.end());
        exercise.row(row);
    };

    // The stages by themselves. All are measured, whichever --kernel selects: rows below refer to
    // them. (With one to each stage, one of the three streams has no work.)
    Alone alone;
    double inPieces = 0;
    struct BytesEach {
        unsigned count;  // of an element
    };
    const auto stage = [&](const Way& way, BytesEach bytes, double* time) {
        const bool selected = exercise.selected(way.name);
        if (!selected && exercise.profile()) return;
        const lab::Statistics times = measured(way);
        *time = times.min;  // nothing is quicker in company
        if (selected) print(way, times, {{1e-6 * bytes.count * size / times.median, 1}});
    };
    stage(Way("copyIn").only({kIn}), BytesEach{4}, &alone.in);
    stage(Way("kernel").only({kKernel}), BytesEach{8}, &alone.kernel);
    stage(Way("copyOut").only({kOut}), BytesEach{4}, &alone.out);
    stage(Way("bothWays").only({kIn, kOut}).inStreamsByStage(), BytesEach{8}, &alone.bothWays);
    stage(Way("bothInPieces").only({kIn, kOut}).inPieces(pieces).inStreamsByStage(), BytesEach{8},
          &inPieces);
    stage(Way("hostSum").only({kHost}), BytesEach{4}, &alone.host);
    stage(Way("pageableIn").pageable().only({kIn}), BytesEach{4}, &alone.pageableIn);
    stage(Way("pageableOut").pageable().only({kOut}), BytesEach{4}, &alone.pageableOut);
    alone.perPiece = pieces > 1 ? std::max(0.0, inPieces - alone.bothWays) / (pieces - 1) : 0;

    double serial = 0;
    const auto row = [&](const Way& way) {
        if (!exercise.selected(way.name)) return;
        const lab::Statistics time = measured(way);
        if (way.atATime == 1) serial = time.median;
        print(way, time, overlapCells(way, alone, serial, time.median));
        if (way.has(kHost)) addToTimeline(timeline, pieces, way, spans);
    };
    row(Way("serial"));
    row(Way("twoWay").stagesAtATime(2).inPieces(pieces).inStreams(streams));
    row(Way("threeWay").stagesAtATime(3).inPieces(pieces).inStreams(streams));
    row(Way("fourWay").stagesAtATime(4).inPieces(pieces).inStreams(streams));
    row(Way("fourWayByStage").stagesAtATime(4).inPieces(pieces).inStreamsByStage());
    row(Way("threeWayPageable").pageable().stagesAtATime(3).inPieces(pieces).inStreams(streams));
    const std::vector<Stage> onDevice = {kIn, kKernel, kOut};
    for (unsigned n = 1; sweep && n <= std::min<std::size_t>(kMaxPieces, size); n *= 2) {
        for (const unsigned of : {1u, 2u, 3u, 4u, 16u})
            row(Way("pipeline").only(onDevice).stagesAtATime(3).inPieces(n).inStreams(of));
        row(Way("pipelineByStage").only(onDevice).stagesAtATime(3).inPieces(n).inStreamsByStage());
    }
    const int status = exercise.finish();  // which ends the program where --kernel selects nothing
    timeline.close();
    return status;
}
