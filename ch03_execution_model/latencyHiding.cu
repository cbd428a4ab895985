// Hardware is busy only while enough is in flight: latency x throughput (Little's law). What is in
// flight comes from more warps, or from more independent operations in each thread.
//
//   1 threeRegisters  chains of x = x * a + b, each step waiting for the one before
//   2 twoRegisters    chains of x = x * x + b, which read one register less
//   3 pointerChase    one thread, in which the address of each load comes from the load before
//   4 loads           all warps read an array
//
// Kernels 1, 2 (both are fmaChains) and 4 run with 1, 2, 4 and 8 independent chains or loads in a
// thread, and with 1, 2, 4 ... 64 warps on each multiprocessor (SM).
//
//   in flight  FMAs or bytes that the threads of an SM wait for at a time
//   per cycle  FMAs or bytes that an SM finishes
//   latency    the one divided by the other: the cycles that an operation takes
//   % law      the share of the peak that the law allows, with the latency that an idle SM has
//
//   cmake --build build --target latencyHiding
//   build/ch03_execution_model/latencyHiding --kernel=threeRegisters
//   ctest --test-dir build -R latencyHiding
//   ncu build/ch03_execution_model/latencyHiding --profile    (of each kernel, the most warps)

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "lab.cuh"

constexpr unsigned kWarp = 32;        // threads of a warp
constexpr unsigned kBlockWarps = 32;  // of the largest block
constexpr unsigned kMostChains = 8;

__device__ std::size_t globalThread() {
    return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

// A step of a chain is one fused multiply-add (FMA), rounded once on the CPU as on the GPU. A step
// too many or too few shows in the result: the first chain grows with each, the second is chaotic.

// Reads three registers. They lie in two banks, which deliver one register of a warp per cycle
// each: one of them has to deliver two. Where the same warp's FMA just before had a and b as well,
// they are still there and need not be read again; with one chain in a thread, the FMA just before
// is another warp's.
struct ThreeRegisters {
    static constexpr float kA = 1.0001f, kB = 0.5f;
    static __device__ float step(float x, float a, float b) { return fmaf(x, a, b); }
    static float reference(float x) { return std::fma(x, kA, kB); }
};

// Reads two registers: one from each bank, as the compiler chooses them.
struct TwoRegisters {
    static constexpr float kA = 0, kB = -1.9f;
    static __device__ float step(float x, float /*a*/, float b) { return fmaf(x, x, b); }
    static float reference(float x) { return std::fma(x, x, kB); }
};

// Where a chain starts: kStarts values of [0, 1), so that the reference has few to compute.
constexpr unsigned kStarts = 64;
__host__ __device__ float start(std::size_t thread, unsigned chain) {
    return static_cast<float>((thread + chain) % kStarts) / kStarts;
}

// kChains chains in a thread: while a step of one is under way, its warp can issue those of the
// others. The loop is unrolled so far that its own instructions do not count. a and b come from
// memory, so that they are in registers: what the compiler or the launch knows is no register of
// the thread. `cycles` is the time that each block took, on the clock of its SM.
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

// One load in flight on the whole GPU: its latency, and next to no bandwidth.
__global__ void pointerChase(const unsigned* next, unsigned hops, unsigned* last,
                             long long* cycles) {
    unsigned i = 0;
    const long long begin = clock64();
    for (unsigned h = 0; h < hops; ++h) i = next[i];
    *last = i;
    *cycles = clock64() - begin;
}

// A thread starts kLoads loads, and waits for all of them before it starts the next. (The compiler
// would unroll the loop, and start more.)
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

// CPU reference: where a chain ends, for each start.
template <typename Step>
std::vector<float> ends(unsigned steps) {
    std::vector<float> x(kStarts);
    for (unsigned i = 0; i < kStarts; ++i) {
        x[i] = start(i, 0);
        for (unsigned s = 0; s < steps; ++s) x[i] = Step::reference(x[i]);
    }
    return x;
}

// data[i] is the element that follows i: a cycle through all n elements in which no two that are
// near in time are near in memory.
std::vector<unsigned> cycleOf(std::size_t n) {
    std::size_t stride = static_cast<std::size_t>(0.618 * static_cast<double>(n)) + 1;
    while (std::gcd(stride, n) != 1) ++stride;
    std::vector<unsigned> next = lab::hostVector<unsigned>(n);
    for (std::size_t i = 0; i < n; ++i)
        next[i] = static_cast<unsigned>(i + stride < n ? i + stride : (i + stride) % n);
    return next;
}

// What a kernel does, in FMAs or in bytes.
struct Quantity {
    const char* name;
    unsigned perOperation;  // of a thread
    double peak;            // per second, of the GPU; 0 where unknown
    double latency;         // of an operation on an idle GPU, in cycles; 0 until it is measured
};

// On each of `sms` SMs so many warps, in one block or in two of the largest size. `shared`, dynamic
// shared memory that nobody uses, keeps a second block away.
struct Shape {
    unsigned sms, warps, block, shared;
    unsigned blocksPerSm() const { return warps > kBlockWarps ? warps / kBlockWarps : 1; }
    unsigned grid() const { return sms * blocksPerSm(); }
    std::size_t threads() const { return std::size_t{grid()} * block; }
};

// Does an SM take as many of these blocks as the shape says, and no more?
template <typename Kernel>
bool fits(Kernel* kernel, const Shape& shape) {
    int blocks = 0;
    const auto shared = static_cast<int>(shape.shared);
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, kernel, static_cast<int>(shape.block), shape.shared));
    return blocks == static_cast<int>(shape.blocksPerSm());
}

// One row: what an SM had in flight, and how much of it it finished per cycle.
struct Point {
    unsigned warps, perThread;
    double inFlight, perCycle;
};

// What the law asks for, and beside it the fewest warps that came within 10 % of the best row.
std::string saturation(const std::vector<Point>& points, const char* name, double needed) {
    const double oneWarp = points.front().inFlight;
    std::string text = lab::formatted(
        "    By the law, %.0f %s must be in flight: %.1f warps x 1. Within 10 %% of the best:",
        needed, name, needed / oneWarp);
    double best = 0;
    for (const Point& point : points) best = std::max(best, point.perCycle);
    unsigned told = 0;
    for (const Point& point : points) {
        if (point.perThread == told || point.perCycle < 0.9 * best) continue;
        text += lab::formatted("%s %u x %u", told > 0 ? "," : "", point.warps, point.perThread);
        told = point.perThread;
    }
    return text;
}

int main(int argc, char** argv) {
    std::size_t size = lab::perBackend(std::size_t{1} << 28, std::size_t{1} << 12);
    unsigned steps = lab::perBackend(1 << 18, 32);
    unsigned mostWarps = lab::perBackend(64, 8);
    lab::Exercise exercise("latencyHiding", "How much must be in flight to keep an SM busy.");
    exercise.option("size", &size, 1, std::size_t{1} << 31, "integers to load");
    exercise.option("steps", &steps, 1, 1 << 19, "FMAs of a chain");
    exercise.option("warps", &mostWarps, 1, 64, "most warps on an SM", lab::Rule::kPowerOfTwo);
    exercise.parse(argc, argv);

    const lab::DeviceFacts& facts = exercise.device();
    const auto sms = static_cast<unsigned>(facts.multiprocessors);
    int device = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    const double clock = 1e3 * lab::deviceAttribute(cudaDevAttrClockRate, device);
    const unsigned moreThanHalf =
        lab::deviceAttribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device) / 2 + 1;
    std::vector<Shape> shapes;
    for (unsigned warps = 1; warps <= mostWarps; warps *= 2) {
        const unsigned shared = warps <= kBlockWarps ? moreThanHalf : 0;
        shapes.push_back({sms, warps, std::min(warps, kBlockWarps) * kWarp, shared});
    }
    if (exercise.profile()) std::reverse(shapes.begin(), shapes.end());  // only the first that fits

    exercise.title("chains of %u FMAs, loads of %s integers (%s)", steps,
                   lab::withCommas(size).c_str(), lab::inBytes(size * sizeof(unsigned)).c_str());
    if (lab::kEmulated) exercise.note("It has no latency to hide: cycles and rates stay empty.");
    lab::Table table({{"", 0, "exercise"},
                      {"", 0, "device"},
                      {"", 0, "parameters"},
                      {"kernel", -14, "kernel"},
                      {"per thread", 10, "per_thread"},
                      {"warps/SM", 8, "warps_per_sm"},
                      {"in flight", 9, "in_flight"},
                      {"", 0, "grid"},
                      {"", 0, "block"},
                      {"", 0, "reps"},
                      {"time [ms]", 10, "median_ms"},
                      {"", 0, "min_ms"},
                      {"", 0, "max_ms"},
                      {"per cycle", 9, "per_cycle"},
                      {"latency", 7, "latency_cycles"},
                      {"GFLOP/s", 8, "gflops"},
                      {"GB/s", 7, "gbps"},
                      {"% peak", 6, "percent_peak"},
                      {"% law", 6, "percent_law"},
                      {"check", -5, "check"}},
                     exercise.csv());
    lab::DeviceBuffer<long long> cycles(2 * std::size_t{sms});

    // All rows of a kernel: `kernels` have 1, 2, 4 ... independent operations in a thread, and each
    // is launched in all `shapes`, with (in, count, out, cycles). work(shape, perThread) is what
    // all threads do together, wrong(shape, perThread) what is wrong with the result.
    const auto sweep = [&](const std::string& name, Quantity& quantity, const auto& kernels,
                           const auto& shapes, const auto& in, auto count, const auto& out,
                           const auto& work, const auto& wrong) {
        if (!exercise.selected(name)) return;
        const double peakPerCycle = quantity.peak / clock / sms;
        std::vector<Point> points;
        unsigned perThread = 1;
        for (const auto kernel : kernels) {
            for (const Shape& shape : shapes) {
                if (!fits(kernel, shape)) {
                    exercise.note(lab::formatted("%s x %u: an SM does not hold %u warps",
                                                 name.c_str(), perThread, shape.warps));
                    continue;
                }
                const lab::Statistics time = exercise.measure(name, [&] {
                    kernel<<<shape.grid(), shape.block, shape.shared>>>(in.get(), count, out.get(),
                                                                        cycles.get());
                });
                const double inFlight =
                    1.0 * shape.threads() / shape.sms * perThread * quantity.perOperation;
                const lab::TimeCells times(time);
                lab::Cell perCycle, latency, gflops, gbps, percent, law;
                if (time.median > 0 && !lab::kEmulated) {
                    const std::vector<long long> all = cycles.toHost(shape.grid());
                    const long long longest = *std::max_element(all.begin(), all.end());
                    const double amount = work(shape, perThread);
                    const double rate = amount / shape.sms / static_cast<double>(longest);
                    points.push_back({shape.warps, perThread, inFlight, rate});
                    if (quantity.latency == 0) quantity.latency = inFlight / rate;
                    perCycle = {rate, 2};
                    latency = {inFlight / rate, 1};

                    const double perSecond = amount / (1e-3 * time.median);
                    if (quantity.perOperation == 1) {
                        gflops = {2 * perSecond / 1e9, 1};
                    } else {
                        gbps = {perSecond / 1e9, 1};
                    }
                    if (quantity.peak > 0) {
                        const double allowed = inFlight / (quantity.latency * peakPerCycle) *
                                               shape.sms / sms;  // the other SMs have none
                        percent = {100 * perSecond / quantity.peak, 1};
                        law = {100 * std::min(1.0, allowed), 1};
                    }
                }
                const std::string problem = wrong(shape, perThread);
                std::vector<lab::Cell> row = {
                    "latencyHiding",
                    facts.name,
                    lab::formatted("size=%zu steps=%u warps=%u", size, steps, shape.warps),
                    name,
                    perThread,
                    shape.warps,
                    {inFlight, 0},
                    shape.grid(),
                    shape.block,
                    time.count};
                row.insert(row.end(), {times.median, times.min, times.max, perCycle, latency,
                                       gflops, gbps, percent, law, lab::verdict(problem)});
                table.row(row);
                exercise.report(name, problem);
                if (exercise.profile()) break;
            }
            perThread *= 2;
        }
        if (points.size() > 1 && quantity.peak > 0) {
            exercise.note(saturation(points, quantity.name, quantity.latency * peakPerCycle));
        }
    };

    const std::size_t threads = std::size_t{sms} * mostWarps * kWarp;
    lab::DeviceBuffer<float> results(threads * kMostChains);
    exercise.output(results);
    const auto chains = [&](const std::string& name, auto step) {
        using Step = decltype(step);
        const lab::DeviceBuffer<float> operands({Step::kA, Step::kB});
        const std::vector<float> expected = ends<Step>(steps);
        Quantity fmas = {"FMAs", 1, facts.peakFlops / 2, 0};
        sweep(
            name, fmas,
            std::array{fmaChains<Step, 1>, fmaChains<Step, 2>, fmaChains<Step, 4>,
                       fmaChains<Step, kMostChains>},
            shapes, operands, steps, results,
            [&](const Shape& shape, unsigned perThread) {
                return 1.0 * shape.threads() * perThread * steps;
            },
            [&](const Shape& shape, unsigned perThread) {
                std::vector<float> all(shape.threads() * perThread);
                for (std::size_t i = 0; i < all.size(); ++i)
                    all[i] = expected[(i / perThread + i % perThread) % kStarts];
                return lab::mismatch(results.toHost(all.size()), all, 0.0);
            });
    };
    chains("threeRegisters", ThreeRegisters());
    chains("twoRegisters", TwoRegisters());

    // Both need an array that takes a while to make.
    if (!exercise.selected("pointerChase") && !exercise.selected("loads")) return exercise.finish();
    const std::vector<unsigned> next = cycleOf(size);
    const lab::DeviceBuffer<unsigned> data(next);
    lab::DeviceBuffer<unsigned> sums(threads);
    exercise.output(sums);
    Quantity bytes = {"bytes", sizeof(unsigned), facts.peakBandwidth, 0};
    const unsigned hops = lab::perBackend(1 << 14, 64);
    sweep(
        "pointerChase", bytes, std::array{pointerChase}, std::array{Shape{1, 1, 1, moreThanHalf}},
        data, hops, sums, [&](const Shape&, unsigned) { return 1.0 * hops * sizeof(unsigned); },
        [&](const Shape&, unsigned) {
            unsigned i = 0;
            for (unsigned h = 0; h < hops; ++h) i = next[i];
            return lab::mismatch<unsigned>(sums.toHost(1), {i});
        });
    const unsigned total = std::accumulate(next.begin(), next.end(), 0u);
    sweep(
        "loads", bytes, std::array{loads<1>, loads<2>, loads<4>, loads<8>}, shapes, data, size,
        sums, [&](const Shape&, unsigned) { return 1.0 * data.bytes(); },
        [&](const Shape& shape, unsigned) {
            const std::vector<unsigned> all = sums.toHost(shape.threads());
            return lab::mismatch<unsigned>({std::accumulate(all.begin(), all.end(), 0u)}, {total});
        });
    return exercise.finish();
}
