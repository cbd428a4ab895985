// A warp executes one instruction at a time. If its threads take different branches, it executes
// both, one after the other. In each of them, the GPU switches off the lanes that took the other
// one. A condition that depends on the warp, not on the thread, avoids this. The compiler's code
// for the branch decides how much time this saves.
//
//   1 branchByThread      even and odd threads take different branches
//   2 branchByWarp        even and odd warps take different branches
//   3 predicatedByThread  two conditional assignments replace if and else, by thread
//   4 predicatedByWarp    the same by warp, and a shift replaces the division
//   5 heavyByThread       even and odd threads again, but each branch does much arithmetic
//   6 heavyByWarp         even and odd warps do the arithmetic of 5: no warp executes both branches
//
// In an optimised build, kernels 1 to 4 have no branch that could split a warp. Instructions do not
// limit them, except for the division in kernel 2. Kernels 5 and 6 keep their branch, and 5
// executes twice the instructions of 6. The speedup of kernels 1 to 4 is relative to kernel 1. The
// speedup of kernels 5 and 6 is relative to kernel 5.
//
//   ./lab run simpleDivergence -- --size=16M --block=512
//   ./lab test simpleDivergence
//   ./lab profile simpleDivergence
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target simpleDivergence
//   build/ch03_execution_model/simpleDivergence --size=16M --block=512
//   ncu build/ch03_execution_model/simpleDivergence --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch03_execution_model/simpleDivergence/simpleDivergence.cu
//       common/*.cpp common/*.cu -o build/simpleDivergence
//
// ncu --metrics smsp__sass_branch_targets_threads_divergent.sum counts the branches that split a
// warp. Kernel 1 has them only in a debug build (cmake --workflow --preset gpu-debug), which keeps
// every branch of the source.

#include <cmath>
#include <cstddef>
#include <vector>

#include "lab.cuh"

constexpr unsigned kWarp = 32;  // threads of a warp

__device__ std::size_t globalThread() {
    return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

// Every warp has even and odd threads, so in the source each warp goes through both branches. But
// the assignments are so short that the compiler selects one of two values instead, without a jump.
__global__ void branchByThread(float* c, std::size_t n) {
    const std::size_t tid = globalThread();
    if (tid >= n) return;
    float a = 0, b = 0;
    if (tid % 2 == 0) {
        a = 100;
    } else {
        b = 200;
    }
    c[tid] = a + b;
}

// All threads of a warp agree, so even the source has no divergence, as long as blocks are whole
// warps. (The threads get other values than above, and an algorithm must allow that.) Still wrong:
// warpSize is a variable to the compiler. The division takes about as many instructions as
// everything else here.
__global__ void branchByWarp(float* c, std::size_t n) {
    const std::size_t tid = globalThread();
    if (tid >= n) return;
    float a = 0, b = 0;
    if (tid / warpSize % 2 == 0) {
        a = 100;
    } else {
        b = 200;
    }
    c[tid] = a + b;
}

// Each thread computes the condition once, and each assignment depends on it alone. A GPU can
// execute such an assignment as an instruction with a predicate: threads whose predicate is false
// skip it without a jump. But the compiler generates the same code for branchByThread, so this
// gains nothing.
__global__ void predicatedByThread(float* c, std::size_t n) {
    const std::size_t tid = globalThread();
    if (tid >= n) return;
    float a = 0, b = 0;
    const bool even = tid % 2 == 0;
    if (even) a = 100;
    if (!even) b = 200;
    c[tid] = a + b;
}

// A warp has 32 = 1 << 5 threads on every GPU, so a shift replaces the division. Mind the brackets:
// x & 1 == 0 means x & (1 == 0), which is never true.
__global__ void predicatedByWarp(float* c, std::size_t n) {
    const std::size_t tid = globalThread();
    if (tid >= n) return;
    float a = 0, b = 0;
    const bool even = ((tid >> 5) & 1) == 0;
    if (even) a = 100;
    if (!even) b = 200;
    c[tid] = a + b;
}

// The heavy kernels do this work in their two branches. Each step is one fused multiply-add, which
// waits for the step before. Both functions are chaotic maps of a small interval onto itself, so
// one step too many or too few changes every result. fmaf() rounds once, on the CPU as on the GPU,
// so the results are identical.
__device__ float parabola(float x, int steps) {
    for (int i = 0; i < steps; ++i) x = fmaf(x, x, -1.9f);
    return x;
}
__device__ float tent(float x, int steps) {
    for (int i = 0; i < steps; ++i) x = fmaf(-1.9f, fabsf(x), 1.0f);
    return x;
}

// A thread starts at one of kStarts values in [0, 1), so the reference has few values to compute.
constexpr unsigned kStarts = 256;
__device__ float start(std::size_t thread) {
    const unsigned i = thread % kStarts;
    return static_cast<float>(i) * (1.0f / kStarts);
}

// The compiler cannot replace a loop by predicates. Every warp executes one loop with its even
// threads, then the other with its odd threads, and half of its lanes idle all the time.
__global__ void heavyByThread(float* c, std::size_t n, int steps) {
    const std::size_t tid = globalThread();
    if (tid >= n) return;
    if (tid % 2 == 0) {
        c[tid] = parabola(start(tid), steps);
    } else {
        c[tid] = tent(start(tid), steps);
    }
}

// Every warp executes one of the loops, with all of its lanes. This is the same work in half the
// instructions.
__global__ void heavyByWarp(float* c, std::size_t n, int steps) {
    const std::size_t tid = globalThread();
    if (tid >= n) return;
    if (tid / kWarp % 2 == 0) {
        c[tid] = parabola(start(tid), steps);
    } else {
        c[tid] = tent(start(tid), steps);
    }
}

// Computes on the CPU where each start ends after `steps` steps of one of the two branches. It does
// not call the functions above, so it does not repeat a mistake in them.
std::vector<float> ends(int steps, float (*step)(float)) {
    std::vector<float> x(kStarts);
    for (unsigned i = 0; i < kStarts; ++i) {
        x[i] = i / 256.0f;
        for (int s = 0; s < steps; ++s) x[i] = step(x[i]);
    }
    return x;
}

// Returns the value that the CPU expects of thread i. Even groups of `group` threads take one
// branch, and odd groups take the other. `even` and `odd` are the results of the two branches for
// every start.
float reference(std::size_t i, std::size_t group, const std::vector<float>& even,
                const std::vector<float>& odd) {
    return (i / group % 2 == 0 ? even : odd)[i % kStarts];
}

int main(int argc, char** argv) {
    std::size_t size;
    unsigned block;
    int steps;
    lab::Exercise exercise("simpleDivergence", "Branches that split warps, and what they cost.");
    exercise.option("size", &size, {1 << 24, 1 << 16}, 1, lab::kMaxSize,
                    "number of threads that write a value");
    exercise.option("block", &block, 512, 1, lab::kMaxBlock, "threads per block");
    // On a GPU, 512 steps take far more time than the write.
    exercise.option("steps", &steps, {512, 32}, 1, 1 << 20,
                    "multiply-adds of a thread in the heavy branches");
    exercise.parse(argc, argv);
    const unsigned grid = lab::blocksFor(size, block);

    lab::DeviceBuffer<float> result(size);
    float* const c = result.get();
    exercise.title("%s floats (%s), block %u, %d heavy steps", lab::withCommas(size).c_str(),
                   lab::inBytes(result.bytes()).c_str(), block, steps);

    // Each branch should leave these values, one for every start of a thread.
    const std::vector<float> hundred(kStarts, 100), twoHundred(kStarts, 200);
    const std::vector<float> even = ends(steps, [](float x) { return std::fma(x, x, -1.9f); });
    const std::vector<float> odd =
        ends(steps, [](float x) { return std::fma(-1.9f, std::fabs(x), 1.0f); });
    // The comparison is exact, because CPU and GPU round every operation the same way.
    const auto mismatch = [&](std::size_t group, const std::vector<float>& ofEven,
                              const std::vector<float>& ofOdd) {
        return lab::mismatchOf(result,
                               [&](std::size_t i) { return reference(i, group, ofEven, ofOdd); });
    };
    const auto assignedByThread = [&] { return mismatch(1, hundred, twoHundred); };
    const auto assignedByWarp = [&] { return mismatch(kWarp, hundred, twoHundred); };
    const auto mappedByThread = [&] { return mismatch(1, even, odd); };
    const auto mappedByWarp = [&] { return mismatch(kWarp, even, odd); };

    const lab::Work written = lab::bytes(result.bytes());
    lab::Ladder light(exercise, result);
    light.rung("branchByThread", grid, block, written, assignedByThread,
               [&] { branchByThread<<<grid, block>>>(c, size); });
    light.rung("branchByWarp", grid, block, written, assignedByWarp,
               [&] { branchByWarp<<<grid, block>>>(c, size); });
    light.rung("predicatedByThread", grid, block, written, assignedByThread,
               [&] { predicatedByThread<<<grid, block>>>(c, size); });
    light.rung("predicatedByWarp", grid, block, written, assignedByWarp,
               [&] { predicatedByWarp<<<grid, block>>>(c, size); });

    lab::Ladder heavy(exercise, result);
    heavy.rung("heavyByThread", grid, block, written, mappedByThread,
               [&] { heavyByThread<<<grid, block>>>(c, size, steps); });
    heavy.rung("heavyByWarp", grid, block, written, mappedByWarp,
               [&] { heavyByWarp<<<grid, block>>>(c, size, steps); });
    return exercise.finish();
}
