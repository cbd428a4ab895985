// What a launch by a kernel costs, and how many of them CUDA keeps in mind. A grid that a kernel
// has launched is pending until it is complete with all that it launched in turn; there is room for
// 2048 of them, or for as many as the host has asked for, which takes memory.
//
//   host, graph       the same launches by the host, and as the nodes of a graph
//   ...ByThread       by one thread, one after the other
//   ...ByBlock        one by each thread of a block
//   ...ByGrid         one by each of as many blocks
//   ...Chain          each grid launches the next: how deep can kernels be nested?
//   ...Beyond         by one thread, more than there is room for
//   tailReserved      by as many blocks, more than there is room for; ever more room
//
// Into which stream they go: ordinary (the default stream, which a block has for itself), named
// (made by the thread), forget (cudaStreamFireAndForget), or tail (cudaStreamTailLaunch).
//
//   room     launches that may be pending
//   tried    launches; refused: those of them that CUDA did not take
//   MiB      memory that CUDA has taken since the program began
//   us each  time for each launch that was tried
//
// Each launch is checked: its child leaves a mark, once, or else the launching thread has seen
// cudaErrorLaunchPendingCountExceeded. The host sees no error in either case.
//
//   ./lab run launchLimits -- --launches=1000 --reserve=32K
//   ./lab test launchLimits
//   ./lab trace launchLimits
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target launchLimits
//   build/dynamic_parallelism/launchLimits --launches=1000 --reserve=32K
//   nsys profile build/dynamic_parallelism/launchLimits --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -rdc=true -Icommon dynamic_parallelism/launchLimits/launchLimits.cu
//       common/*.cpp common/*.cu -o build/launchLimits

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "../pendingLaunches.cuh"
#include "lab.cuh"
#include "launchOutcome.h"

enum class Into { kOrdinary, kNamed, kForget, kTail };

__device__ cudaStream_t openStream(Into into) {
    cudaStream_t stream = nullptr;
    if (into == Into::kNamed) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (into == Into::kForget) stream = cudaStreamFireAndForget;
    if (into == Into::kTail) stream = cudaStreamTailLaunch;
    return stream;
}

// What is in the stream is done nevertheless.
__device__ void closeStream(Into into, cudaStream_t stream) {
    if (into == Into::kNamed) cudaStreamDestroy(stream);
}

__global__ void child(Launched* launched) {
    atomicAdd(&launched->children, 1u);
}

// Each thread launches so many children. A launch that is refused says so to the thread that asks
// right after it, and to nobody else.
__global__ void launchChildren(Into into, unsigned launches, Launched* launched) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    const cudaStream_t stream = openStream(into);
    for (unsigned i = thread * launches; i < (thread + 1) * launches; ++i) {
        child<<<1, 1, 0, stream>>>(&launched[i]);
        launched[i].error = cudaGetLastError();
        launched[i].tried = 1;
    }
    closeStream(into, stream);
}

// Each grid launches the next, until `left` is 0. An ordinary child belongs to its parent: all of
// the chain is pending until the last is complete. A tail launch begins when its parent is
// complete.
__global__ void chain(Into into, unsigned left, Launched* own, Launched* next) {
    if (own != nullptr) atomicAdd(&own->children, 1u);
    if (left == 0) return;
    const cudaStream_t stream = openStream(into);
    chain<<<1, 1, 0, stream>>>(into, left - 1, next, next + 1);
    next->error = cudaGetLastError();
    next->tried = 1;
    closeStream(into, stream);
}

// A graph of `launches` children, each after the one before.
class GraphOfChildren {
  public:
    GraphOfChildren(unsigned launches, Launched* launched) {
        cudaStream_t stream;
        cudaGraph_t graph;
        CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        for (unsigned i = 0; i < launches; ++i) child<<<1, 1, 0, stream>>>(&launched[i]);
        CUDA_CHECK_LAUNCH();
        CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
        CUDA_CHECK(cudaGraphInstantiate(&executable_, graph, 0));
        CUDA_CHECK(cudaGraphDestroy(graph));
        CUDA_CHECK(cudaStreamDestroy(stream));
    }
    ~GraphOfChildren() { cudaGraphExecDestroy(executable_); }
    GraphOfChildren(const GraphOfChildren&) = delete;
    GraphOfChildren& operator=(const GraphOfChildren&) = delete;

    void launch() const { CUDA_CHECK(cudaGraphLaunch(executable_, nullptr)); }

  private:
    cudaGraphExec_t executable_ = nullptr;
};

double freeMiB() {
    std::size_t free = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    return static_cast<double>(free) / (1 << 20);
}

int main(int argc, char** argv) {
    unsigned launches;
    std::size_t most;
    lab::Exercise exercise("launchLimits", "Launches by kernels: their cost, and their limit.");
    exercise.option("launches", &launches, {1000, 64}, 1, lab::kMaxBlock,
                    "launches that are timed; with --profile 10, unless given");
    exercise.option("reserve", &most, 1 << 13, 2, kMostPendingLaunches,
                    "most pending launches to ask room for");
    exercise.parse(argc, argv);
    if (exercise.profile() && !exercise.given("launches")) launches = 10;  // each looks like this
    exercise.columns(lab::Columns::kTimed,
                     {{"room", 6, "room"},
                      {"tried", 6, "tried"},
                      {"refused", 7, "refused"},
                      {"MiB", 5, "mib", lab::OwnColumn::kOnGpu},
                      {"us each", 7, "us_each", lab::OwnColumn::kOnGpu}},
                     {"grid", "block"});
    exercise.title("%u launches", launches);

    constexpr unsigned kMore = 10;  // launches than there is room for
    // CUDA may make more room than it is asked for.
    lab::DeviceBuffer<Launched> launched(2 * std::max(most, kDefaultPendingLaunches) + kMore);
    Launched* const first = launched.get();
    const double freeAtFirst = freeMiB();

    lab::Ladder ladder(exercise, launched, [&] { launched.fillBytes(0); });
    bool refusedAny = false;
    constexpr std::size_t kByHost = 0;  // needs no room
    // A row, whose launches find so much room, and have the first `count` places of `launched`.
    const auto rung = [&](const char* name, unsigned grid, unsigned block, std::size_t room,
                          std::size_t count, const Expected& expected, const lab::Launch& launch) {
        lab::requireFit(count, launched.size());
        const auto check = [&](const lab::Statistics& time) -> lab::Finding {
            const double taken = freeAtFirst - freeMiB();
            const auto found = [&] {
                std::vector<Launched> all = launched.toHost(count);
                if (room == kByHost) {  // which has looked at the errors itself
                    for (Launched& each : all) each.tried += 1;
                }
                return all;
            };
            const Outcome outcome = outcomeOfRuns(expected, found, [&] { ladder.again(); });
            refusedAny = refusedAny || outcome.refused > 0;
            lab::Cell each;
            if (time.count > 0) each = {1e3 * time.median / outcome.tried, 3};
            return {outcome.wrong,
                    {room > 0 ? lab::Cell(room) : lab::Cell(),
                     outcome.tried,
                     outcome.refused,
                     {std::max(0.0, taken), 0},
                     each}};
        };
        ladder.rung(name, grid, block, lab::kNoRate, check, launch);
    };

    // CUDA takes memory for launches by kernels when it loads kernels that make some: the first row
    // has it, though none of its kernels launches.
    rung("host", 1, 1, kByHost, launches, Expected{launches}, [&] {
        for (unsigned i = 0; i < launches; ++i) child<<<1, 1>>>(&first[i]);
    });
    if (exercise.selected("graph")) {
        const GraphOfChildren graph(launches, first);
        rung("graph", 1, 1, kByHost, launches, Expected{launches}, [&] { graph.launch(); });
    }

    constexpr struct {
        Into into;
        const char *byThread, *byBlock, *byGrid, *chain, *beyond;
    } kStreams[] = {
        {Into::kOrdinary, "ordinaryByThread", "ordinaryByBlock", "ordinaryByGrid", "ordinaryChain",
         "ordinaryBeyond"},
        {Into::kNamed, "namedByThread", "namedByBlock", "namedByGrid", "namedChain", "namedBeyond"},
        {Into::kForget, "forgetByThread", "forgetByBlock", "forgetByGrid", "forgetChain",
         "forgetBeyond"},
        {Into::kTail, "tailByThread", "tailByBlock", "tailByGrid", "tailChain", "tailBeyond"},
    };

    // What a launch costs, where there is room for all.
    std::size_t room = allowPendingLaunches(kDefaultPendingLaunches);
    for (const auto& stream : kStreams) {
        rung(stream.byThread, 1, 1, room, launches, Expected{launches},
             [&] { launchChildren<<<1, 1>>>(stream.into, launches, first); });
    }
    for (const auto& stream : kStreams) {
        rung(stream.byBlock, 1, launches, room, launches, Expected{launches},
             [&] { launchChildren<<<1, launches>>>(stream.into, 1, first); });
    }
    for (const auto& stream : kStreams) {
        rung(stream.byGrid, launches, 1, room, launches, Expected{launches},
             [&] { launchChildren<<<launches, 1>>>(stream.into, 1, first); });
    }

    // More than there is room for.
    room = allowPendingLaunches(std::min(most, kDefaultPendingLaunches));
    const auto tooMany = static_cast<unsigned>(room + kMore);
    for (const auto& stream : kStreams) {
        // A chain ends where a launch is refused.
        const Expected expected =
            stream.into == Into::kTail ? Expected{tooMany} : Expected{room + 1}.refusing(1);
        rung(stream.chain, 1, 1, room, tooMany, expected,
             [&] { chain<<<1, 1>>>(stream.into, tooMany, nullptr, first); });
    }
    for (const auto& stream : kStreams) {
        // Children that are complete make room, but for tail launches none begins so early.
        const std::size_t fewest = stream.into == Into::kTail ? kMore : 0;
        rung(stream.beyond, 1, 1, room, tooMany,
             Expected{tooMany}.fewestRefused(fewest).mostRefused(kMore),
             [&] { launchChildren<<<1, 1>>>(stream.into, tooMany, first); });
    }

    if (exercise.selected("tailReserved")) {
        for (std::size_t wanted = room;; wanted = std::min(4 * wanted, most)) {
            room = allowPendingLaunches(wanted);
            const auto blocks = static_cast<unsigned>(room + kMore);
            rung("tailReserved", blocks, 1, room, blocks, Expected{blocks}.refusing(kMore),
                 [&] { launchChildren<<<blocks, 1>>>(Into::kTail, 1, first); });
            if (wanted >= most) break;
        }
    }
    if (refusedAny) {
        exercise.note(lab::formatted("Refused launches: %s.",
                                     cudaGetErrorName(cudaErrorLaunchPendingCountExceeded)));
    }
    return exercise.finish();
}
