// A grid has whole blocks, so it has more threads than a vector has elements. The check `if (i <
// n)` keeps the other threads out. It splits at most one warp, so its share of the work shrinks as
// vectors grow. Its share of the time does not always shrink.
//
//   1 addChecked    adds vectors with the check: threads beyond the end do nothing
//   2 addPadded     has no check: the vectors are padded with elements up to the last block
//   3 borderLast    threads beyond the end get another, equally long computation (a border), up to
//                   the end of the last warp: the warp that splits pays for both
//   4 borderFirst   the border lies before the vector: the warp that splits is the first to begin
//   5 borderByWarp  the last warp belongs to the border as a whole, so no warp splits
//
// For each length, the table has the number of warps with elements, and the number of warps that
// the kernel's condition splits. The warps count both themselves. Of ceil(n / 32) warps, 1 must
// split if n is no multiple of 32. (In kernels 2 and 5, no warp may split.) The speedup is relative
// to kernel 1 or 3 at the same length.
//
//   ./lab run controlDivergence -- --size=1000 --block=64
//   ./lab test controlDivergence
//   ./lab profile controlDivergence -- --size=1000
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target controlDivergence
//   build/ch03_execution_model/controlDivergence --size=1000 --block=64
//   ncu build/ch03_execution_model/controlDivergence --profile --size=1000
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch03_execution_model/controlDivergence/controlDivergence.cu
//       common/*.cpp common/*.cu -o build/controlDivergence
//
// In a debug build, ncu --metrics smsp__sass_branch_targets_threads_divergent.sum counts the same
// splits. In an optimised build, kernel 1 has no jump: lanes beyond the end leave by an instruction
// with a predicate.

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "lab.cuh"

constexpr unsigned kWarp = 32;  // threads of a warp

__device__ std::size_t globalThread() {
    return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

// The check costs one comparison. The warp that it splits has no second path to execute: some of
// its lanes idle. Warps that lie wholly beyond the end do not split, and they are done at once.
__global__ void addChecked(const float* a, const float* b, float* c, std::size_t n) {
    const std::size_t i = globalThread();
    if (i < n) c[i] = a[i] + b[i];
}

// Without the check every thread needs an element. The padding takes memory, and the kernel
// computes results that nobody wants.
__global__ void addPadded(const float* a, const float* b, float* c) {
    const std::size_t i = globalThread();
    c[i] = a[i] + b[i];
}

// Kernels 3 to 5 do this work: each step is one fused multiply-add, which waits for the step
// before. Both functions are chaotic maps of a small interval onto itself, so one step too many or
// too few changes every result. fmaf() rounds once, on the CPU as on the GPU, so the results are
// identical.
__device__ float parabola(float x, int steps) {
    for (int i = 0; i < steps; ++i) x = fmaf(x, x, -1.9f);
    return x;
}
__device__ float tent(float x, int steps) {
    for (int i = 0; i < steps; ++i) x = fmaf(-1.9f, fabsf(x), 1.0f);
    return x;
}

// A thread starts at one of kStarts values in [0, 1), so the reference has few values to compute.
// (start() multiplies, because the division of a debug build has branches of its own.)
constexpr unsigned kStarts = 256;
constexpr float kDistance = 1.0f / kStarts;
__device__ float start(std::size_t thread) {
    const unsigned i = thread % kStarts;
    return static_cast<float>(i) * kDistance;
}

// Now the check has an else. A warp with lanes on both sides of n executes one loop, then the
// other, and takes twice as long as its neighbours. `padded` is n, rounded up to whole warps.
__global__ void borderLast(float* c, std::size_t n, std::size_t padded, int steps) {
    const std::size_t i = globalThread();
    if (i >= padded) return;
    if (i < n) {
        c[i] = parabola(start(i), steps);
    } else {
        c[i] = tent(start(i), steps);
    }
}

// Each side has the same number of threads as above, but the border is at the beginning. Blocks
// start roughly in order, so other warps do their work while the first one executes its second
// loop. If all warps run at once, the kernel still waits for the slowest.
__global__ void borderFirst(float* c, std::size_t border, std::size_t padded, int steps) {
    const std::size_t i = globalThread();
    if (i >= padded) return;
    if (i < border) {
        c[i] = tent(start(i), steps);
    } else {
        c[i] = parabola(start(i), steps);
    }
}

// The number of the warp decides the side. If the last warp is not full, all of it belongs to the
// border. (Some elements get another function than above, and an algorithm must allow that.)
__global__ void borderByWarp(float* c, std::size_t n, std::size_t padded, int steps) {
    const std::size_t i = globalThread();
    if (i >= padded) return;
    if (i / kWarp < n / kWarp) {
        c[i] = parabola(start(i), steps);
    } else {
        c[i] = tent(start(i), steps);
    }
}

struct Warps {
    unsigned long long working, split;
};

// This kernel is not a rung of the ladder. It has the same threads as a kernel that works on
// elements 0 to end - 1 under the condition i < boundary, and counts the warps of that kernel. A
// ballot has a bit for each lane: all bits or none are set if the warp agrees.
__global__ void countWarps(Warps* warps, std::size_t boundary, std::size_t end) {
    const std::size_t i = globalThread();
    const unsigned working = __ballot_sync(lab::kAllLanes, i < end);
    const unsigned inside = __ballot_sync(lab::kAllLanes, i < boundary);
    if (lab::laneid() != 0) return;
    if (working != 0) atomicAdd(&warps->working, 1ull);
    if (inside != 0 && inside != lab::kAllLanes) atomicAdd(&warps->split, 1ull);
}

// Computes the CPU reference of kernels 1 and 2, which add the first `count` elements.
std::vector<float> sums(const std::vector<float>& a, const std::vector<float>& b,
                        std::size_t count) {
    std::vector<float> values = lab::hostVector<float>(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = a[i] + b[i];
    return values;
}

// Computes on the CPU where each start ends after `steps` steps on one side of a border. It does
// not call the functions above, so it does not repeat a mistake in them.
std::vector<float> ends(int steps, float (*step)(float)) {
    std::vector<float> x(kStarts);
    for (unsigned i = 0; i < kStarts; ++i) {
        x[i] = i / 256.0f;
        for (int s = 0; s < steps; ++s) x[i] = step(x[i]);
    }
    return x;
}

// Computes the CPU reference of kernels 3 to 5, which have `padded` threads. Threads `first` to
// `last` - 1 compute the parabola, and the others compute the tent. `inner` and `border` are the
// results of the two functions for every start.
std::vector<float> reference(std::size_t padded, std::size_t first, std::size_t last,
                             const std::vector<float>& inner, const std::vector<float>& border) {
    std::vector<float> values = lab::hostVector<float>(padded);
    for (std::size_t i = 0; i < padded; ++i)
        values[i] = (i >= first && i < last ? inner : border)[i % kStarts];
    return values;
}

// Says what is wrong with a result. It must have the expected elements, and a kernel must write
// nothing behind them.
std::string wrongResult(const std::vector<float>& result, const std::vector<float>& expected) {
    for (std::size_t i = expected.size(); i < result.size(); ++i) {
        if (!lab::isPoison(result[i])) return lab::formatted("element %zu was written, too", i);
    }
    return lab::mismatch({result.begin(), result.begin() + expected.size()}, expected, 0.0);
}

std::string wrongCount(const Warps& counted, const Warps& expected) {
    if (counted.working == expected.working && counted.split == expected.split) return "";
    return lab::formatted("%llu warps, %llu of them split; expected %llu and %llu", counted.working,
                          counted.split, expected.working, expected.split);
}

int main(int argc, char** argv) {
    std::size_t size;
    unsigned block;
    int steps;
    lab::Exercise exercise("controlDivergence", "What `if (i < n)` costs, by the length n.");
    exercise.option("size", &size, 1000001, 1, lab::kMaxSize,
                    "elements; by default also 100, 1000, 10000 and 1000000");
    exercise.option("block", &block, 64, kWarp, lab::kMaxBlock, "threads per block",
                    lab::Rule::kPowerOfTwo);
    // On a GPU, 16384 steps take far more time than a launch.
    exercise.option("steps", &steps, {16384, 4}, 1, 1 << 20,
                    "multiply-adds of a thread on each side of the border");
    exercise.parse(argc, argv);
    std::vector<std::size_t> lengths = {size};
    if (!exercise.given("size")) lengths = {100, 1000, 10000, 1000000, size};

    const std::vector<float> inner = ends(steps, [](float x) { return std::fma(x, x, -1.9f); });
    const std::vector<float> border =
        ends(steps, [](float x) { return std::fma(-1.9f, std::fabs(x), 1.0f); });
    exercise.title("block %u, %d steps on each side of the border", block, steps);
    exercise.columns(lab::Columns::kLadder, {{"length", 7, "length"},
                                             {"warps", 5, "warps"},
                                             {"split", 5, "split"},
                                             {"split %", 7, "split_percent"}});

    for (const std::size_t n : lengths) {
        const std::string parameters = exercise.parameters({{"size", std::to_string(n)}});
        const unsigned grid = lab::blocksFor(n, block);
        const std::size_t all = std::size_t{grid} * block;
        const std::size_t full = n - n % kWarp;  // elements of whole warps
        const std::size_t padded = full == n ? n : full + kWarp;
        const std::size_t rest = padded - n;

        const std::vector<float> aOnHost = lab::randomFloats(all, exercise.seed(), 0, 1);
        const std::vector<float> bOnHost = lab::randomFloats(all, exercise.seed() + 1, 0, 1);
        const lab::DeviceBuffer<float> aBuffer(aOnHost), bBuffer(bOnHost);
        lab::DeviceBuffer<float> result(all);
        lab::DeviceBuffer<Warps> counter(1);
        const float *const a = aBuffer.get(), *const b = bBuffer.get();
        float* const c = result.get();

        // A kernel works on elements 0 to end - 1, on two sides of `boundary`. Its result must be
        // `expected`, and the number of warps that split must be what arithmetic says.
        struct Boundary {
            std::size_t at;
        };
        struct End {
            std::size_t at;
        };
        const auto finding = [&](const std::vector<float>& expected, Boundary boundary,
                                 End end) -> lab::Finding {
            const std::string wrong = wrongResult(result.toHost(), expected);
            if (!wrong.empty() || exercise.profile()) return {wrong, {n}};  // no further launch
            counter.fillBytes(0);
            countWarps<<<grid, block>>>(counter.get(), boundary.at, end.at);
            CUDA_CHECK_LAUNCH();
            const Warps counted = counter.toHost()[0];
            const lab::Cell share(100.0 * counted.split / counted.working, 3);
            return {wrongCount(counted, {(end.at + kWarp - 1) / kWarp, boundary.at % kWarp != 0}),
                    {n, counted.working, counted.split, share}};
        };

        lab::Ladder additions(exercise, result);
        additions.rung(
            {"addChecked", parameters}, grid, block, lab::kNoRate,
            [&] { return finding(sums(aOnHost, bOnHost, n), Boundary{n}, End{n}); },
            [&] { addChecked<<<grid, block>>>(a, b, c, n); });
        additions.rung(
            {"addPadded", parameters}, grid, block, lab::kNoRate,
            [&] { return finding(sums(aOnHost, bOnHost, all), Boundary{all}, End{all}); },
            [&] { addPadded<<<grid, block>>>(a, b, c); });

        lab::Ladder borders(exercise, result);
        borders.rung(
            {"borderLast", parameters}, grid, block, lab::kNoRate,
            [&] {
                return finding(reference(padded, 0, n, inner, border), Boundary{n}, End{padded});
            },
            [&] { borderLast<<<grid, block>>>(c, n, padded, steps); });
        borders.rung(
            {"borderFirst", parameters}, grid, block, lab::kNoRate,
            [&] {
                return finding(reference(padded, rest, padded, inner, border), Boundary{rest},
                               End{padded});
            },
            [&] { borderFirst<<<grid, block>>>(c, rest, padded, steps); });
        borders.rung(
            {"borderByWarp", parameters}, grid, block, lab::kNoRate,
            [&] {
                return finding(reference(padded, 0, full, inner, border), Boundary{full},
                               End{padded});
            },
            [&] { borderByWarp<<<grid, block>>>(c, n, padded, steps); });
    }
    return exercise.finish();
}
