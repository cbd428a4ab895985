// The order in which a program issues the kernels of several streams. They go through hardware
// queues, and a kernel that must wait for the one before it in its stream holds up all behind it in
// its queue, whatever their stream. With one queue, as GPUs had up to Fermi, the order of issue
// decides what overlaps; with a queue for each stream it does not.
//
//   1 oneStream     all kernels in one stream: each begins when the one before has ended
//   2 depthFirst    all kernels of stream 0, then all of stream 1 ...
//   3 breadthFirst  the first kernel of each stream, then the second of each ...
//   4 givenOrder    as --order=0,1,1,0 says, if it is there: the stream of each kernel
//   5 hostThreads   a host thread for each stream, which issues its kernels
//
// Each is run with 1, 2, 8 and 32 queues (--connections), and with kernels that take one of the
// multiprocessors (SMs), half of them, or all. speedup is relative to the same kernels in one
// stream, predicted is what queueModel.h says. CUDA asks the environment variable
// CUDA_DEVICE_MAX_CONNECTIONS for the number of queues, once, when it starts: for each of several
// numbers the program runs itself in a process of its own. (--profile is for one process, and takes
// the first number unless --connections is there.)
//
//   ./lab run issueOrder -- --streams=8 --depth=4 --connections=1,4
//   ./lab test issueOrder
//   ./lab trace issueOrder -- --connections=1
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target issueOrder
//   build/streams/issueOrder --streams=8 --depth=4 --connections=1,4
//   nsys profile build/streams/issueOrder --connections=1 --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon streams/issueOrder/issueOrder.cu
//       common/*.cpp common/*.cu -o build/issueOrder
//
// (Not ncu: it runs one kernel at a time.) --timeline=FILE writes a CSV line for each kernel of the
// last measured run of each row: run (its title in a figure), mode, connections, takes, kernels,
// stream, kernel (those of a stream have consecutive numbers), begin_ms and end_ms (since the first
// kernel of the run began), and sms, the number of SMs that it ran on.

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../forkJoin.cuh"
#include "../halfAnSm.cuh"
#include "../hostThread.h"
#include "../kernelSpans.h"
#include "childProcess.h"
#include "issueOptions.cuh"
#include "issuePlan.h"
#include "lab.cuh"
#include "queueModel.h"

// The number of queues, which CUDA reads when it starts.
constexpr char kVariable[] = "CUDA_DEVICE_MAX_CONNECTIONS";

// A kernel of a chain: needs what the one before it in its stream has written, passes the time, and
// writes for the next one. `place` is its place in the chain.
__global__ void passTime(unsigned place, unsigned long long nanoseconds, unsigned* chain,
                         lab::Span* spans) {
    __shared__ unsigned long long begin;
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned before = chain[i];
    if (threadIdx.x == 0) begin = lab::globaltimer();
    __syncthreads();
    while (lab::globaltimer() - begin < nanoseconds) {
    }
    chain[i] = 31 * before + place + 1;
    if (threadIdx.x == 0) spans[blockIdx.x] = {begin, lab::globaltimer(), lab::smid()};
}

// CPU reference: what a chain of so many kernels leaves.
unsigned endOfChain(std::size_t kernels) {
    unsigned value = 0;
    for (std::size_t place = 0; place < kernels; ++place)
        value = 31 * value + static_cast<unsigned>(place) + 1;
    return value;
}

// Runs plans on the GPU.
class Runner {
  public:
    // For plans of as many kernels in at most as many streams as `ofStream` has.
    Runner(const lab::Exercise& exercise, const std::vector<std::size_t>& ofStream,
           unsigned long long nanoseconds)
        : exercise_(exercise),
          nanoseconds_(nanoseconds),
          shared_(takeHalfOfAnSm(passTime, exercise.device())),
          streams_(ofStream.size()),
          spans_(depthFirst(ofStream).size() * exercise.device().multiprocessors),
          chains_(ofStream.size() * exercise.device().multiprocessors * kBlock) {}

    Ran operator()(const Plan& plan) {
        const auto before = [&] {
            spans_.fillBytes(0);
            chains_.fillBytes(0);
        };
        Ran ran(plan);
        ran.time = exercise_.measure()(plan.name, before, [&] { launch(plan); });
        ran.spans = spans_.toHost(ran.spans.size());
        ran.chains = chains_.toHost(ran.chains.size());
        return ran;
    }

  private:
    // The default stream, which measures the time, is there before the first kernel and after the
    // last.
    void launch(const Plan& plan) {
        const std::vector<std::size_t> ofStream = depths(plan.order);
        std::vector<std::size_t> next(ofStream.size()), first(ofStream.size());
        for (std::size_t s = 1; s < first.size(); ++s) first[s] = first[s - 1] + ofStream[s - 1];
        const auto issue = [&](std::size_t s) {
            lab::Span* const spans = spans_.get() + (first[s] + next[s]) * plan.blocks;
            unsigned* const chain = chains_.get() + s * plan.blocks * kBlock;
            const auto place = static_cast<unsigned>(next[s]++);
            passTime<<<static_cast<unsigned>(plan.blocks), kBlock, shared_, streams_[s]>>>(
                place, nanoseconds_, chain, spans);
        };
        streams_.fork(ofStream.size());
        if (plan.hostThreads) {
            issueFromThreads(ofStream, issue);
        } else {
            for (const std::size_t stream : plan.order) issue(stream);
        }
        streams_.join(ofStream.size());
    }

    // A host thread for each stream.
    template <typename Issue>
    static void issueFromThreads(const std::vector<std::size_t>& ofStream, const Issue& issue) {
        std::vector<std::thread> threads;
        for (std::size_t s = 0; s < ofStream.size(); ++s) {
            threads.push_back(lab::startThread([&, s] {
                for (std::size_t i = 0; i < ofStream[s]; ++i) {
                    issue(s);
                    CUDA_CHECK_LAUNCH();
                }
            }));
        }
        for (std::thread& thread : threads) thread.join();
    }

    const lab::Exercise& exercise_;
    unsigned long long nanoseconds_;
    int shared_;
    ForkJoin streams_;
    lab::DeviceBuffer<lab::Span> spans_;
    lab::DeviceBuffer<unsigned> chains_;
};

// What a child has run.
Ran receivedFrom(ChildProcess& child, const Plan& plan) {
    Ran ran(plan);
    transfer(ran, [&](void* to, std::size_t bytes) { child.receive(to, bytes); });
    return ran;
}

// What is wrong with a run, and what was predicted of it. Where streams share queues, that is
// nothing if host threads compete, whose order nobody knows, or if it matters which streams share
// one.
lab::Finding found(const Plan& plan, const Ran& ran, std::size_t queues,
                   unsigned long long nanoseconds, std::size_t sms) {
    const std::vector<std::size_t> ofStream = depths(plan.order);
    std::vector<unsigned> expected;
    for (const std::size_t kernels : ofStream)
        expected.insert(expected.end(), plan.blocks * kBlock, endOfChain(kernels));
    std::string wrong = lab::mismatch(ran.chains, expected);
    if (wrong.empty())
        wrong = wrongTimes(ran.spans, plan.blocks, nanoseconds, depthFirst(ofStream));

    lab::Cell turns, milliseconds;
    const bool ownQueues = queues >= ofStream.size();
    if (ownQueues || (!plan.hostThreads && (queues == 1 || plan.regular))) {
        const std::size_t count = makespan(predictedTurns(plan.order, queues, plan.blocks, sms));
        turns = count;
        milliseconds = {1e-6 * static_cast<double>(count * nanoseconds), 3};
    }
    return {wrong, {queues, plan.takes, milliseconds, turns, plan.order.size(), sms / plan.blocks}};
}

int main(int argc, char** argv) {
    const ParentProcess parent;
    lab::Exercise exercise("issueOrder", "Kernels of several streams, issued in several orders.");
    IssueOptions options;
    exercise.option("streams", &options.streams, 4, 1, kMostStreams, "streams");
    exercise.option("depth", &options.depth, 3, 1, kMostDepth, "kernels of each stream");
    exercise.option("microseconds", &options.microseconds, {200, 50}, 1, 1000000,
                    "how long a kernel runs");
    exercise.options().text("connections", &options.connectionsText, "LIST", takenByConnections(),
                            "hardware queues: " + takenByConnections());
    exercise.options().text("order", &options.orderText, "LIST", takenByOrder(),
                            "the stream of each kernel, in place of --streams and --depth");
    exercise.options().file("timeline", &options.timeline,
                            "CSV of when each kernel began and ended");
    exercise.parseOptions(argc, argv);
    options.understand(exercise);

    // CUDA reads the variable when it starts, and it has not started yet. A child has it from its
    // parent. An emulation has no queues: what it does for one number it does for all of them.
    const bool inChildren = !parent.exists() && options.connections.size() > 1 && !lab::kEmulated;
    if (!parent.exists() && !inChildren)
        setenv(kVariable, std::to_string(options.connections[0]).c_str(), 1);
    exercise.selectDevice();

    const std::vector<std::size_t>& ofStream = options.ofStream;
    const IssueOrder byDepth = depthFirst(ofStream);
    const bool regular = !options.hasOrder;
    std::vector<Plan> plans = {{"oneStream", IssueOrder(byDepth.size(), 0), regular},
                               {"depthFirst", byDepth, regular},
                               {"breadthFirst", breadthFirst(ofStream), regular}};
    if (options.hasOrder) plans.push_back({"givenOrder", options.order, regular});
    plans.push_back({"hostThreads", byDepth, regular});
    plans.back().hostThreads = true;
    plans.erase(std::remove_if(plans.begin(), plans.end(),
                               [&](const Plan& plan) { return !exercise.selected(plan.name); }),
                plans.end());
    if (plans.empty()) return exercise.finish();  // before a child is started

    const std::size_t sms = exercise.device().multiprocessors;
    plans =
        withShares(plans, {{"one", 1}, {"half", std::max<std::size_t>(1, sms / 2)}, {"all", sms}});

    std::optional<Runner> runner;
    if (!inChildren) runner.emplace(exercise, ofStream, options.nanoseconds());
    if (parent.exists()) {
        const std::size_t queues = std::stoul(std::getenv(kVariable));
        parent.send(&queues, sizeof(queues));
        for (const Plan& plan : plans) {
            Ran ran = (*runner)(plan);
            transfer(ran, [&](const void* from, std::size_t bytes) { parent.send(from, bytes); });
        }
        return exercise.finish();
    }

    exercise.columns(lab::Columns::kLadder,
                     {{"connections", 11, "connections"},
                      {"takes", 5, "takes"},
                      {"predicted", 9, "predicted_ms"},
                      {"", 0, "turns"},
                      {"", 0, "kernels"},
                      {"", 0, "fit"}},
                     {"grid", "block"});
    lab::CsvFile timeline(exercise, "timeline", options.timeline, kTimelineColumns);
    exercise.title("%zu kernels in %zu streams, %u microseconds each", byDepth.size(),
                   ofStream.size(), options.microseconds);
    exercise.noteInEmulation("It has no queues: a launch is carried out at the call. What is");
    exercise.noteInEmulation("predicted is for a GPU with queues and as many multiprocessors.");

    for (const std::size_t wanted : options.connections) {
        std::size_t queues = wanted;
        std::optional<ChildProcess> child;
        if (inChildren) {
            child.emplace(lab::formatted("issueOrder with %s=%zu", kVariable, wanted),
                          "/proc/self/exe", argv,
                          ChildProcess::Variables{{kVariable, std::to_string(wanted)}});
            child->receive(&queues, sizeof(queues));  // what it has
        }
        double baseline = 0;  // the time of the first plan that takes as much
        for (const Plan& plan : plans) {
            const Ran ran = child ? receivedFrom(*child, plan) : (*runner)(plan);
            if (plan.name == plans.front().name) baseline = ran.time.median;
            addToTimeline(timeline, plan, queues, ran);
            lab::Row row;
            row.kernel = plan.name;
            row.grid = std::to_string(plan.blocks);
            row.block = std::to_string(kBlock);
            row.parameters = options.parameters(exercise, queues);
            row.time = ran.time;
            row.baseline = baseline;
            row.finding = found(plan, ran, queues, options.nanoseconds(), sms);
            exercise.row(row);
        }
        if (child) child->finish();
    }
    timeline.close();
    return exercise.finish();
}
