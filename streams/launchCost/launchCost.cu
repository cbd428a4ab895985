// What a launch costs. A chain of tiny kernels, each of which needs what the one before has written
// everywhere: so little work that the time is that of getting from one step to the next.
//
//   1 waited        the host launches a kernel, waits for it, launches the next
//   2 launched      the host launches all of them, and the stream keeps them in order
//   3 early         the same; a kernel may begin before the one before has ended, and waits for its
//                   data on the GPU (programmatic dependent launch, compute capability 9.0)
//   4 graph         all of them recorded once, launched at once
//   5 graphUpdated  the same; before each launch, every kernel is given another parameter
//   6 graphEarly    the kernels of 3 in a graph
//   7 gridBarrier   one kernel with a loop, and a barrier of the whole grid after each step
//   8 oneBlock      one block in a loop, whose data stay in registers: __syncthreads()
//
// Each is run with 1, 10, 100 ... steps. Per step, in microseconds:
//
//   each     the time until the last one is done, over their number
//   issue    how long the host is busy before it can do something else; the stream was empty
//
// and of a graph as a whole, in microseconds and in launches:
//
//   prepare  recording, instantiating and uploading it
//   pays     after so many launches that has paid, each compared with `launched`
//
//   ./lab run launchCost -- --kernels=1000
//   ./lab test launchCost
//   ./lab trace launchCost
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target launchCost
//   build/streams/launchCost --kernels=1000
//   nsys profile build/streams/launchCost --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon streams/launchCost/launchCost.cu
//       common/*.cpp common/*.cu -o build/launchCost

#include <cooperative_groups.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../growingValues.h"
#include "issueTime.cuh"
#include "lab.cuh"
#include "launchTable.h"
#include "recordedGraph.cuh"

// Two arrays of `size` elements, one behind the other. Step k reads one and writes the other.
__device__ inline const unsigned* inOf(const unsigned* values, unsigned size, unsigned k) {
    return values + std::size_t{k % 2} * size;
}
__device__ inline unsigned* outOf(unsigned* values, unsigned size, unsigned k) {
    return values + std::size_t{(k + 1) % 2} * size;
}

// Element i of the next array: the neighbour's value, five times, and the number of the step, which
// begins at `first`. A step that is left out, comes twice or out of turn changes all that follows.
__device__ inline unsigned stepped(const unsigned* in, unsigned size, unsigned i, unsigned number) {
    return 5 * in[i + 1 < size ? i + 1 : 0] + number;
}

// A kernel of its own for each step. In a stream it begins when the one before has ended, and what
// that has written is there: the barrier of all blocks is the launch.
__global__ void step(unsigned* values, unsigned size, unsigned k, unsigned first) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) outOf(values, size, k)[i] = stepped(inOf(values, size, k), size, i, first + k);
}

// The next kernel may come as soon as all blocks of this one are here. Whatever a kernel can do
// without the data of the one before (here: nothing but to be there) belongs in front of the wait,
// and what it writes belongs behind it: the one before may still be reading.
__global__ void stepEarly(unsigned* values, unsigned size, unsigned k, unsigned first) {
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
#endif
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) outOf(values, size, k)[i] = stepped(inOf(values, size, k), size, i, first + k);
}

// With this attribute a launch does not wait for the end of the kernel before it.
void launchEarly(unsigned blocks, unsigned block, cudaStream_t stream, unsigned* values,
                 unsigned size, unsigned k, unsigned first) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = block;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CUDA_CHECK(cudaLaunchKernelEx(&config, stepEarly, values, size, k, first));
}

// Was the kernel compiled for GPUs that can wait in it for the kernel before?
bool canBeginEarly() {
    cudaFuncAttributes attributes;
    CUDA_CHECK(cudaFuncGetAttributes(&attributes, stepEarly));
    return attributes.ptxVersion >= 90;
}

__device__ inline void stepOfGrid(unsigned* values, unsigned size, unsigned k, unsigned first) {
    const unsigned* const in = inOf(values, size, k);
    unsigned* const out = outOf(values, size, k);
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x)
        out[i] = stepped(in, size, i, first + k);
}

// No launch, but a barrier. All blocks must have room at a time, which a cooperative launch
// promises: a block that waits for one that has no room would wait for ever.
__global__ void loopGridBarrier(unsigned* values, unsigned size, unsigned steps, unsigned first) {
    for (unsigned k = 0; k < steps; ++k) {
        stepOfGrid(values, size, k, first);
        cooperative_groups::this_grid().sync();
    }
}

// Blocks of gridBarrier that the GPU holds at a time: only then can they wait for one another.
unsigned roomForLoop(unsigned block, const lab::DeviceFacts& gpu) {
    int ofOne = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ofOne, loopGridBarrier, block, 0));
    return static_cast<unsigned>(ofOne * gpu.multiprocessors);
}

constexpr unsigned kOfThread = 16;  // elements, one beside the other

// All data in the registers of one block; of 16 values, one goes to the thread before, through
// shared memory. A barrier of a block takes some tens of cycles, where one of the grid goes to L2
// and back. For as much work as one SM can do. `whole`: no thread has fewer elements, and where the
// last one stands is known when the kernel is compiled.
template <bool whole>
__global__ void __launch_bounds__(lab::kMaxBlock)
    loopOneBlock(unsigned* values, unsigned size, unsigned steps, unsigned first) {
    // Of each thread; two of them by turns, so that a step needs but one barrier.
    __shared__ unsigned firsts[2][lab::kMaxBlock];
    const unsigned begin = threadIdx.x * kOfThread;
    const unsigned count = whole ? kOfThread : min(kOfThread, size - begin);
    const unsigned behind = threadIdx.x + 1 < blockDim.x ? threadIdx.x + 1 : 0;
    unsigned mine[kOfThread];
#pragma unroll
    for (unsigned j = 0; j < kOfThread; ++j) mine[j] = j < count ? values[begin + j] : 0;
    for (unsigned k = 0; k < steps; ++k) {
        firsts[k % 2][threadIdx.x] = mine[0];
        __syncthreads();
        const unsigned next = firsts[k % 2][behind];
#pragma unroll
        for (unsigned j = 0; j < kOfThread; ++j) {
            const bool last = j + 1 >= count;
            mine[j] = 5 * (last ? next : mine[(j + 1) % kOfThread]) + first + k;
        }
    }
    unsigned* const to = values + std::size_t{steps % 2} * size;
#pragma unroll
    for (unsigned j = 0; j < kOfThread; ++j)
        if (j < count) to[begin + j] = mine[j];
}

// On the CPU without walking the chain: step by step, a * value + b becomes
// 5 * (a * value + b) + k.
std::vector<unsigned> chained(const std::vector<unsigned>& values, unsigned steps, unsigned first) {
    unsigned a = 1, b = 0;
    for (unsigned k = 0; k < steps; ++k) {
        a *= 5;
        b = 5 * b + first + k;
    }
    std::vector<unsigned> results(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        results[i] = a * values[(i + steps) % values.size()] + b;
    return results;
}

int main(int argc, char** argv) {
    unsigned maxKernels, size, block;
    lab::Exercise exercise("launchCost", "What it costs to get from one tiny kernel to the next.");
    exercise.option("kernels", &maxKernels, {1000, 100}, 1, 100000,
                    "steps of the longest chain; with --profile 10, unless given");
    exercise.option("size", &size, {4096, 1024}, 1, 1 << 20, "number of ints that a step computes");
    exercise.option("block", &block, {256, 128}, 1, lab::kMaxBlock, "threads per block");
    exercise.parse(argc, argv);
    if (exercise.profile() && !exercise.given("kernels")) maxKernels = 10;  // each looks like this
    exercise.columns(lab::Columns::kLadder, chainColumns(), {"grid", "block"});

    const lab::DeviceFacts& gpu = exercise.device();
    const unsigned blocks = lab::blocksFor(size, block);
    const unsigned together = std::min(blocks, roomForLoop(block, gpu));
    const unsigned ofOneBlock = lab::blocksFor(size, kOfThread);  // threads
    const bool early = canBeginEarly();
    exercise.title("chains of %s kernels, %s ints, grid %u, block %u",
                   lab::withCommas(maxKernels).c_str(), lab::withCommas(size).c_str(), blocks,
                   block);
    exercise.noteInEmulation("Its launches cost nothing like those of a GPU.");
    if (exercise.timesCount())
        exercise.note("each, issue: us of a kernel, prepare: us, pays: after so many launches");
    if (!early) exercise.note("No early kernels: they take compute capability 9.0.");
    if (ofOneBlock > lab::kMaxBlock)
        exercise.note("No row oneBlock: not so many ints fit into it.");

    const std::vector<int> numbers = lab::randomInts(size, exercise.seed(), 0, 1000000);
    const std::vector<unsigned> input(numbers.begin(), numbers.end());
    const lab::DeviceBuffer<unsigned> source(input);
    lab::DeviceBuffer<unsigned> values(2 * std::size_t{size});
    const auto restore = [&] {  // what the first step reads
        CUDA_CHECK(
            cudaMemcpyAsync(values.get(), source.get(), source.bytes(), cudaMemcpyDeviceToDevice));
    };

    for (const unsigned kernels : tens(1, maxKernels)) {
        const std::string parameters = exercise.parameters({{"kernels", std::to_string(kernels)}});
        // One for each length: the speedup is that over `waited`, of as many steps.
        lab::Ladder ladder(exercise, values, restore);
        unsigned first = 0;   // number of the first step: graphUpdated counts it up
        double launched = 0;  // milliseconds of that row, with which graphs are compared

        // Milliseconds of the row, or 0 where --kernel leaves it out.
        const auto rung = [&](const char* name, unsigned grid, unsigned threads,
                              const lab::Launch& launch, const Recorded* graph = nullptr) {
            double median = 0;
            const auto check = [&](const lab::Statistics& time) -> lab::Finding {
                median = time.median;
                std::vector<unsigned> results(size);
                CUDA_CHECK(cudaMemcpy(results.data(),
                                      values.get() + std::size_t{kernels % 2} * size,
                                      source.bytes(), cudaMemcpyDeviceToHost));
                const std::string wrong = lab::mismatch(results, chained(input, kernels, first));
                if (!exercise.timesCount()) return {wrong, {kernels}};
                const double prepare = graph == nullptr ? 0 : graph->preparedIn();
                return {wrong, chainCells(kernels, {median, issueTime(launch), prepare, launched})};
            };
            ladder.rung({name, parameters}, grid, threads, lab::kNoRate, check, launch);
            return median;
        };
        const auto launchAll = [&](cudaStream_t stream) {
            for (unsigned k = 0; k < kernels; ++k)
                step<<<blocks, block, 0, stream>>>(values.get(), size, k, first);
        };
        const auto launchAllEarly = [&](cudaStream_t stream) {
            for (unsigned k = 0; k < kernels; ++k)
                launchEarly(blocks, block, stream, values.get(), size, k, first);
        };

        rung("waited", blocks, block, [&] {
            for (unsigned k = 0; k < kernels; ++k) {
                step<<<blocks, block>>>(values.get(), size, k, first);
                CUDA_CHECK(cudaDeviceSynchronize());
            }
        });
        launched = rung("launched", blocks, block, [&] { launchAll(nullptr); });
        if (early) rung("early", blocks, block, [&] { launchAllEarly(nullptr); });
        if (exercise.selected("graph")) {
            Recorded graph;
            graph.record(launchAll);
            rung("graph", blocks, block, [&] { graph.launch(); }, &graph);
        }
        if (exercise.selected("graphUpdated")) {
            Recorded graph;
            rung("graphUpdated", blocks, block, [&] {
                ++first;
                graph.record(launchAll);
                graph.launch();
            });
        }
        if (early && exercise.selected("graphEarly")) {
            Recorded graph;
            graph.record(launchAllEarly);
            rung("graphEarly", blocks, block, [&] { graph.launch(); }, &graph);
        }

        unsigned *array = values.get(), steps = kernels;
        void* arguments[] = {&array, &size, &steps, &first};
        rung("gridBarrier", together, block, [&] {
            CUDA_CHECK(cudaLaunchCooperativeKernel((void*)loopGridBarrier, together, block,
                                                   arguments, 0, nullptr));
        });
        if (ofOneBlock <= lab::kMaxBlock) {
            const auto loop = size % kOfThread == 0 ? loopOneBlock<true> : loopOneBlock<false>;
            rung("oneBlock", 1, ofOneBlock,
                 [&] { loop<<<1, ofOneBlock>>>(values.get(), size, kernels, first); });
        }
    }
    return exercise.finish();
}
