// Hardware is busy only while enough is in flight. Little's law says how much: latency x
// throughput. More warps put more in flight, and so do more independent operations in each thread.
//
//   1 threeRegisters  chains of x = x * a + b: each step needs the result of the step before
//   2 twoRegisters    chains of x = x * x + b, which read one register less
//   3 pointerChase    one thread, in which the address of each load comes from the load before
//   4 loads           all warps read an array, 4 bytes in each load
//   5 wideLoads       the same array, 16 bytes in each load
//
// Rows 1 and 2 run the kernel fmaChains. Rows 1, 2 and 4 run with 1, 2, 4 and 8 independent chains
// or loads in a thread. All but pointerChase run with 1, 2, 4 ... 64 warps on each multiprocessor
// (SM).
//
//   per thread  chains or loads in a thread
//   warps       on an SM
//   in flight   FMAs or bytes that the threads of an SM wait for at a time
//   latency     cycles that an operation takes: in flight, divided by what an SM finishes per cycle
//   % law       the share of the peak that the law allows, with the latency of an idle SM
//
// The CSV also has the grid, the block, per_cycle, and the rates.
//
//   ./lab run latencyHiding -- --kernel=threeRegisters
//   ./lab test latencyHiding
//   ./lab profile latencyHiding
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target latencyHiding
//   build/ch03_execution_model/latencyHiding --kernel=threeRegisters
//   ncu build/ch03_execution_model/latencyHiding --profile    (each kernel with the most warps)
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch03_execution_model/latencyHiding/latencyHiding.cu
//       common/*.cpp common/*.cu -o build/latencyHiding

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "chaseOrder.h"
#include "lab.cuh"
#include "littlesLaw.cuh"

constexpr unsigned kMostChains = 8;

__device__ std::size_t globalThread() {
    return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

// A step of a chain is one fused multiply-add (FMA). The CPU and the GPU both round it once. One
// step too many or too few changes the result: the first chain grows with each step, and the second
// chain is chaotic.

// Each step reads three registers.
struct ThreeRegisters {
    static constexpr float kA = 1.0001f, kB = 0.5f;
    static __device__ float step(float x, float a, float b) { return fmaf(x, a, b); }
    static float reference(float x) { return std::fma(x, 1.0001f, 0.5f); }
};

// Each step reads two registers.
struct TwoRegisters {
    static constexpr float kA = 0, kB = -1.9f;
    static __device__ float step(float x, float, float b) { return fmaf(x, x, b); }
    static float reference(float x) { return std::fma(x, x, -1.9f); }
};

// A chain starts at one of kStarts values of [0, 1), so that the CPU reference has few chains to
// compute.
constexpr unsigned kStarts = 64;
__device__ float start(std::size_t thread, unsigned chain) {
    return static_cast<float>((thread + chain) % kStarts) / kStarts;
}

// Each thread has kChains independent chains: while a step of one chain is in flight, the warp can
// issue steps of the others. The compiler unrolls the loop so far that its own instructions hardly
// count. a and b come from memory, so that the thread has them in registers. The compiler would put
// a number that it knows into the instruction. `cycles` gets the cycles that each block took, on
// the clock of its SM.
template <typename Step, unsigned kChains>
__global__ void fmaChains(const float* operands, unsigned steps, float* results,
                          long long* cycles) {
    const std::size_t tid = globalThread();
    const float a = operands[0], b = operands[1];
    float x[kChains];
    for (unsigned c = 0; c < kChains; ++c) x[c] = start(tid, c);

    __syncthreads();
    const long long begin = clock64();
#pragma unroll(512 / kChains)
    for (unsigned s = 0; s < steps; ++s) {
        for (unsigned c = 0; c < kChains; ++c) x[c] = Step::step(x[c], a, b);
    }
    __syncthreads();
    if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;

    for (unsigned c = 0; c < kChains; ++c) results[tid * kChains + c] = x[c];
}

// One load is in flight on the whole GPU, so the kernel shows the latency of a load.
__global__ void pointerChase(const unsigned* next, unsigned hops, unsigned* last,
                             long long* cycles) {
    unsigned i = 0;
    const long long begin = clock64();
    for (unsigned h = 0; h < hops; ++h) i = next[i];
    *last = i;
    *cycles = clock64() - begin;
}

// A thread starts kLoads independent loads, and adds what they bring before it starts the next
// ones. Without `unroll 1` the compiler would unroll the loop and start more loads at once.
template <unsigned kLoads>
__global__ void loads(const unsigned* data, std::size_t n, unsigned* sums, long long* cycles) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    std::size_t i = globalThread();
    unsigned sum = 0;

    __syncthreads();
    const long long begin = clock64();
#pragma unroll 1
    for (; i + (kLoads - 1) * threads < n; i += kLoads * threads) {
        unsigned values[kLoads];
        for (unsigned l = 0; l < kLoads; ++l) values[l] = data[i + l * threads];
        for (unsigned l = 0; l < kLoads; ++l) sum += values[l];
    }
#pragma unroll 1
    for (; i < n; i += threads) sum += data[i];
    __syncthreads();
    if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;

    sums[globalThread()] = sum;
}

// A load brings 16 bytes. So four times as many bytes are in flight as with loads<1>, with the same
// number of warps and of loads. Up to three integers are left over at the end of the array.
__global__ void wideLoads(const unsigned* data, std::size_t n, unsigned* sums, long long* cycles) {
    const uint4* const vectors = reinterpret_cast<const uint4*>(data);  // cudaMalloc() aligns it
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x, count = n / 4;
    const std::size_t tid = globalThread();
    unsigned sum = 0;

    __syncthreads();
    const long long begin = clock64();
#pragma unroll 1
    for (std::size_t i = tid; i < count; i += threads) {
        const uint4 v = vectors[i];
        sum += v.x + v.y + v.z + v.w;
    }
    for (std::size_t i = 4 * count + tid; i < n; i += threads) sum += data[i];
    __syncthreads();
    if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;

    sums[tid] = sum;
}

// The CPU reference computes where a chain ends, for each start. It does not call start(), so that
// it reveals a mistake in start().
template <typename Step>
std::vector<float> ends(unsigned steps) {
    std::vector<float> x(kStarts);
    for (unsigned i = 0; i < kStarts; ++i) {
        x[i] = i / 64.0f;
        for (unsigned s = 0; s < steps; ++s) x[i] = Step::reference(x[i]);
    }
    return x;
}

// Returns the shapes of a kernel's launches: 1, 2, 4 ... mostWarps warps on every SM. It leaves out
// a launch if an SM does not hold exactly the blocks of its shape. A note then names the kernel by
// its `title`. With --profile it returns only the launch with the most warps.
template <typename Kernel>
std::vector<Shape> shapesOf(lab::Exercise& exercise, const std::string& title, Kernel* kernel,
                            unsigned mostWarps) {
    const lab::DeviceFacts& gpu = exercise.device();
    const auto sms = static_cast<unsigned>(gpu.multiprocessors);
    const auto moreThanHalf = static_cast<unsigned>(gpu.sharedPerMultiprocessor / 2 + 1);
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(moreThanHalf)));
    std::vector<Shape> shapes;
    for (unsigned warps = 1; warps <= mostWarps; warps *= 2) {
        const unsigned block = std::min(warps, Shape::kBlockWarps) * Shape::kWarp;
        const unsigned shared = warps <= Shape::kBlockWarps ? moreThanHalf : 0;
        const Shape shape = {sms, warps, block, shared};
        int blocks = 0;
        CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel,
                                                                 static_cast<int>(block), shared));
        if (blocks == static_cast<int>(shape.blocksPerSm())) {
            shapes.push_back(shape);
        } else {
            exercise.note(lab::formatted("%s: an SM does not hold %u warps", title.c_str(), warps));
        }
    }
    if (exercise.profile() && !shapes.empty()) shapes = {shapes.back()};
    return shapes;
}

int main(int argc, char** argv) {
    std::size_t size;
    unsigned steps, hops, mostWarps;
    lab::Exercise exercise("latencyHiding", "Shows how much must be in flight to keep an SM busy.");
    exercise.option("size", &size, {1 << 26, 1 << 12}, 1, std::size_t{1} << 31, "integers to load");
    exercise.option("steps", &steps, {1 << 16, 32}, 1, 1 << 19, "FMAs of a chain");
    exercise.option("hops", &hops, {1 << 14, 64}, 1, 1 << 24, "loads of pointerChase");
    exercise.option("warps", &mostWarps, {64, 8}, 1, 64, "most warps on an SM",
                    lab::Rule::kPowerOfTwo);
    exercise.parse(argc, argv);
    constexpr auto kOnGpu = lab::OwnColumn::kOnGpu;
    exercise.columns(lab::Columns::kTimed,
                     {{"per thread", 10, "per_thread"},
                      {"warps", 5, "warps_per_sm"},
                      {"in flight", 9, "in_flight"},
                      {"", 0, "per_cycle", kOnGpu},
                      {"latency", 7, "latency_cycles", kOnGpu},
                      {"", 0, "gflops", kOnGpu},
                      {"", 0, "gbps", kOnGpu},
                      {"% peak", 6, "percent_peak", kOnGpu},
                      {"% law", 5, "percent_law", kOnGpu}},
                     {"grid", "block"});
    exercise.title("chains of %u FMAs, loads of %s integers (%s)", steps,
                   lab::withCommas(size).c_str(), lab::inBytes(size * sizeof(unsigned)).c_str());
    exercise.noteInEmulation(
        "It has no latency to hide, so the table shows no cycles and no rates.");

    const lab::DeviceFacts& gpu = exercise.device();
    const std::size_t threads = std::size_t{Shape::kWarp} * mostWarps * gpu.multiprocessors;
    lab::DeviceBuffer<long long> cycles(2 * std::size_t(gpu.multiprocessors));
    const auto nameOf = [&](const std::string& kernel, unsigned warps) {
        return lab::Name(kernel, exercise.parameters({{"warps", std::to_string(warps)}}));
    };

    const auto compare = [&](const Law& law) {
        const std::string text = law.comparison();
        if (!text.empty()) exercise.note(text);
    };

    struct PerThread {
        unsigned count;  // the number of chains, or of loads in flight
    };

    // This adds rows 1 and 2. A Step is one of the two kinds of FMA.
    lab::DeviceBuffer<float> results(threads * kMostChains);
    lab::Ladder chainLadder(exercise, results);
    const auto addChains = [&](const std::string& name, auto step) {
        if (!exercise.selected(name)) return;
        using Step = decltype(step);
        const lab::DeviceBuffer<float> operands({Step::kA, Step::kB});
        const std::vector<float> expected = ends<Step>(steps);
        Law law(gpu, "FMAs", 1, gpu.peakFlops / 2);

        const auto addRows = [&](auto* kernel, PerThread perThread) {
            const std::string title = name + " x " + std::to_string(perThread.count);
            for (const Shape& shape : shapesOf(exercise, title, kernel, mostWarps)) {
                const std::size_t count = shape.threads() * perThread.count;  // all chains
                const auto endOf = [&](std::size_t i) {
                    return expected[(i / perThread.count + i % perThread.count) % kStarts];
                };
                const auto check = [&](const lab::Statistics& time) -> lab::Finding {
                    return {lab::mismatchOf(results, count, endOf),
                            law.cells(shape, perThread.count, 1.0 * count * steps, time,
                                      cycles.toHost(shape.grid()))};
                };
                const auto launch = [&] {
                    kernel<<<shape.grid(), shape.block, shape.shared>>>(
                        operands.get(), steps, results.get(), cycles.get());
                };
                chainLadder.rung(nameOf(name, shape.warps), shape.grid(), shape.block, lab::kNoRate,
                                 check, launch);
            }
        };
        addRows(fmaChains<Step, 1>, PerThread{1});
        addRows(fmaChains<Step, 2>, PerThread{2});
        addRows(fmaChains<Step, 4>, PerThread{4});
        addRows(fmaChains<Step, kMostChains>, PerThread{kMostChains});
        compare(law);
    };
    addChains("threeRegisters", ThreeRegisters());
    addChains("twoRegisters", TwoRegisters());

    // The other rows read a large array.
    const bool chases = exercise.selected("pointerChase");
    const bool narrow = exercise.selected("loads"), wide = exercise.selected("wideLoads");
    if (!chases && !narrow && !wide) return exercise.finish();
    const ChaseCycle next(size);
    const auto data = lab::filled<unsigned>(size, [&](std::size_t i) { return next[i]; });
    lab::DeviceBuffer<unsigned> sums(threads);
    lab::Ladder loadLadder(exercise, sums);

    Law chaseLaw(gpu, "bytes", sizeof(unsigned), gpu.peakBandwidth);
    Shape oneThread{};
    oneThread.sms = oneThread.warps = oneThread.block = 1;
    const auto isChased = [&](const lab::Statistics& time) -> lab::Finding {
        unsigned i = 0;
        for (unsigned h = 0; h < hops; ++h) i = next[i];
        return {
            lab::mismatch<unsigned>(sums.toHost(1), {i}),
            chaseLaw.cells(oneThread, 1, 1.0 * hops * sizeof(unsigned), time, cycles.toHost(1))};
    };
    loadLadder.rung(nameOf("pointerChase", 1), 1, 1, lab::kNoRate, isChased,
                    [&] { pointerChase<<<1, 1>>>(data.get(), hops, sums.get(), cycles.get()); });

    // Rows 4 and 5 add up the array. Each index is in the array once.
    const auto total = static_cast<unsigned>(size * (size - 1) / 2);
    const auto addLoads = [&](const std::string& name, auto* kernel, PerThread perThread,
                              Law* law) {
        const std::string title = name + " x " + std::to_string(perThread.count);
        for (const Shape& shape : shapesOf(exercise, title, kernel, mostWarps)) {
            const auto check = [&](const lab::Statistics& time) -> lab::Finding {
                const std::vector<unsigned> all = sums.toHost(shape.threads());
                const unsigned sum = std::accumulate(all.begin(), all.end(), 0u);
                return {lab::mismatch<unsigned>({sum}, {total}),
                        law->cells(shape, perThread.count, 1.0 * data.bytes(), time,
                                   cycles.toHost(shape.grid()))};
            };
            const auto launch = [&] {
                kernel<<<shape.grid(), shape.block, shape.shared>>>(data.get(), size, sums.get(),
                                                                    cycles.get());
            };
            loadLadder.rung(nameOf(name, shape.warps), shape.grid(), shape.block, lab::kNoRate,
                            check, launch);
        }
    };
    if (narrow) {
        Law law(gpu, "bytes", sizeof(unsigned), gpu.peakBandwidth, chaseLaw.latency());
        addLoads("loads", loads<1>, PerThread{1}, &law);
        addLoads("loads", loads<2>, PerThread{2}, &law);
        addLoads("loads", loads<4>, PerThread{4}, &law);
        addLoads("loads", loads<8>, PerThread{8}, &law);
        compare(law);
    }
    if (wide) {
        Law law(gpu, "bytes", sizeof(uint4), gpu.peakBandwidth, chaseLaw.latency());
        addLoads("wideLoads", wideLoads, PerThread{1}, &law);
        compare(law);
    }
    return exercise.finish();
}
