// y = a x + b y, for arrays of floats. There is so little arithmetic in it that the memory's
// bandwidth alone decides: what counts is how often an array is read or written.
//
//   1 threeKernels   t = a x, u = b y, y = t + u: two arrays that nobody asked for
//   2 twoKernels     y = b y, y = a x + y: y is read and written twice
//   3 oneKernel      everything in one pass, to a third array
//   4 inPlace        the same over y: an array less, and no byte less that moves
//   5 inPlaceLoop    16 bytes at a time, in as many threads as the GPU holds, each in a loop
//   6 inPlaceFloat4x4    no loop: four times 16 bytes to a thread, all asked for at once
//   7 inPlaceFloat4  16 bytes to a thread, which is then gone
//     cublasSgeam    a A + b B of matrices, from NVIDIA's library
//     cublasSscal+Saxpy  its operations of vectors, of which it takes two
//     cudaMemcpy     a copy: what the memory is able to do
//
//   bytes      that move for each element
//   predicted  the time that these bytes take at the memory's peak
//   GB/s       of these bytes
//
//   ./lab run memoryBound -- --size=64M
//   ./lab test memoryBound
//   ./lab profile memoryBound
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target memoryBound
//   build/ch05_performance/memoryBound --size=64M
//   ncu build/ch05_performance/memoryBound --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch05_performance/memoryBound/memoryBound.cu
//       common/*.cpp common/*.cu -DLAB_HAVE_CUBLAS -lcublas -o build/memoryBound

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "cublasSums.cuh"
#include "lab.cuh"

constexpr unsigned kBlock = 256;
constexpr unsigned kLoads = 4;  // of inPlaceFloat4x4
constexpr float kA = 0.7f, kB = 1.3f;

__device__ std::size_t globalThread() {
    return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

// One operation to a kernel, as libraries for arrays have them: each reads its operands from memory
// and writes its result there, for the next kernel to read again.
__global__ void scale(float factor, const float* in, float* out, std::size_t n) {
    const std::size_t i = globalThread();
    if (i < n) out[i] = factor * in[i];
}

__global__ void add(const float* t, const float* u, float* out, std::size_t n) {
    const std::size_t i = globalThread();
    if (i < n) out[i] = t[i] + u[i];
}

// A multiplication and an addition in one kernel: a x no longer goes through memory. Still wrong:
// b y does.
__global__ void addScaled(float a, const float* x, float* y, std::size_t n) {
    const std::size_t i = globalThread();
    if (i < n) y[i] = fmaf(a, x[i], y[i]);
}

// What is computed of an element: rounded twice.
__device__ float weightedSum(float a, float x, float b, float y) {
    return fmaf(a, x, b * y);
}

// All of it: every input is read once, the result is written once. No kernel can move less. `out`
// may be y itself, since a thread reads its element before it writes it. What may still be wrong:
// for 12 bytes there are as many instructions as there could be for 48, and as many threads.
__global__ void axpby(float a, const float* x, float b, const float* y, float* out, std::size_t n) {
    const std::size_t i = globalThread();
    if (i < n) out[i] = weightedSum(a, x[i], b, y[i]);
}

__device__ float4 weightedSum(float a, const float4& x, float b, const float4& y) {
    return make_float4(weightedSum(a, x.x, b, y.x), weightedSum(a, x.y, b, y.y),
                       weightedSum(a, x.z, b, y.z), weightedSum(a, x.w, b, y.w));
}

// Up to three elements do not fill a float4: the first threads of the grid take one each.
__device__ void axpbyRest(float a, const float* x, float b, float* y, std::size_t n) {
    const std::size_t i = n / 4 * 4 + globalThread();
    if (i < n) y[i] = weightedSum(a, x[i], b, y[i]);
}

// A grid-stride loop over float4: two loads of 16 bytes. Still wrong: in each turn a thread waits
// for its loads, computes, and stores, before it asks for more.
__global__ void axpbyLoop(float a, const float* x, float b, float* y, std::size_t n) {
    const auto x4 = reinterpret_cast<const float4*>(x);
    const auto y4 = reinterpret_cast<float4*>(y);
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = globalThread(); i < n / 4; i += threads) {
        const float4 ofX = x4[i], ofY = y4[i];
        y4[i] = weightedSum(a, ofX, b, ofY);
    }
    axpbyRest(a, x, b, y, n);
}

// No loop: a thread asks for 2 kPerThread float4 at once, and is gone when it has stored the
// results. Another block takes its place, and asks for its own.
template <unsigned kPerThread>
__global__ void axpbyFloat4(float a, const float* x, float b, float* y, std::size_t n) {
    const auto x4 = reinterpret_cast<const float4*>(x);
    const auto y4 = reinterpret_cast<float4*>(y);
    const std::size_t first = std::size_t{blockIdx.x} * (kPerThread * kBlock) + threadIdx.x;

    float4 ofX[kPerThread], ofY[kPerThread];
#pragma unroll  // every index becomes a constant: only then can an array live in registers
    for (unsigned k = 0; k < kPerThread; ++k) {
        const std::size_t i = first + k * kBlock;
        if (i < n / 4) ofX[k] = x4[i], ofY[k] = y4[i];
    }
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) {
        const std::size_t i = first + k * kBlock;
        if (i < n / 4) y4[i] = weightedSum(a, ofX[k], b, ofY[k]);
    }
    axpbyRest(a, x, b, y, n);
}

// CPU references. threeKernels rounds each of its three operations, all others two: in fmaf() a x
// is not rounded. There are other bits for it.
float roundedTwice(float x, float y) {
    return std::fma(kA, x, kB * y);
}
float roundedThrice(float x, float y) {
    const float t = kA * x, u = kB * y;
    return static_cast<float>(static_cast<double>(t) + u);
}

int main(int argc, char** argv) {
    std::size_t n;
    lab::Exercise exercise("memoryBound", "y = a x + b y: what is left when bandwidth limits.");
    exercise.option("size", &n, {1 << 25, 1 << 14}, 1, lab::kMaxSize, "elements of an array");
    exercise.parse(argc, argv);
    exercise.columns(lab::Columns::kLadder,
                     {{"bytes", 5, "bytes", lab::OwnColumn::kPredicted},
                      {"predicted", 9, "predicted_ms", lab::OwnColumn::kOnGpu}},
                     {"block"});
    exercise.title("y = a x + b y of %s floats (%s), block %u", lab::withCommas(n).c_str(),
                   lab::inBytes(n * sizeof(float)).c_str(), kBlock);

    const std::uint64_t seed = exercise.seed();
    const auto xOf = [=](std::size_t i) { return lab::randomFloat(seed, i, 0, 1); };
    const auto yOf = [=](std::size_t i) { return lab::randomFloat(seed + 1, i, 0, 1); };
    const auto bufferX = lab::filled<float>(n, xOf), yBefore = lab::filled<float>(n, yOf);
    lab::DeviceBuffer<float> bufferY(n), bufferT(n), bufferU(n);
    const float* const x = bufferX.get();
    float *const y = bufferY.get(), *const t = bufferT.get(), *const u = bufferU.get();
    const auto restore = [&] {
        bufferY.copyFrom(yBefore);
        bufferU.fillBytes(lab::poisonByte<float>());
    };
    lab::Ladder ladder(exercise, bufferT, restore);

    // What a row is right by, not a bit may differ; and its own columns: `bytes` of each element
    // move.
    const auto cells = [&](unsigned bytes) -> std::vector<lab::Cell> {
        const double peak = exercise.device().peakBandwidth;
        return {bytes, peak > 0 ? lab::Cell(1e3 * bytes * n / peak, 4) : lab::Cell()};
    };
    const auto checkOf = [&](unsigned bytes, const lab::DeviceBuffer<float>& result,
                             const auto& wanted) {
        return [&, bytes, wanted]() -> lab::Finding {
            const auto expected = [&](std::size_t i) { return wanted(xOf(i), yOf(i)); };
            return {lab::mismatchOf(result, expected), cells(bytes)};
        };
    };
    const auto moved = [&](unsigned bytes) { return lab::bytes(1.0 * bytes * n); };
    struct BytesEach {
        unsigned count;  // of an element
    };
    const auto rung = [&](const char* name, unsigned grid, BytesEach bytes,
                          const lab::DeviceBuffer<float>& result, const auto& wanted,
                          const lab::Launch& launch) {
        ladder.rung(name, grid, kBlock, moved(bytes.count), checkOf(bytes.count, result, wanted),
                    launch);
    };

    const unsigned grid = lab::blocksFor(n, kBlock);
    rung("threeKernels", grid, BytesEach{28}, bufferY, roundedThrice, [&] {
        scale<<<grid, kBlock>>>(kA, x, t, n);
        scale<<<grid, kBlock>>>(kB, y, u, n);
        add<<<grid, kBlock>>>(t, u, y, n);
    });
    rung("twoKernels", grid, BytesEach{20}, bufferY, roundedTwice, [&] {
        scale<<<grid, kBlock>>>(kB, y, y, n);
        addScaled<<<grid, kBlock>>>(kA, x, y, n);
    });
    rung("oneKernel", grid, BytesEach{12}, bufferT, roundedTwice,
         [&] { axpby<<<grid, kBlock>>>(kA, x, kB, y, t, n); });
    rung("inPlace", grid, BytesEach{12}, bufferY, roundedTwice,
         [&] { axpby<<<grid, kBlock>>>(kA, x, kB, y, y, n); });

    const unsigned float4Grid = lab::blocksFor(n, 4 * kBlock);
    const unsigned loopGrid = std::min(float4Grid, exercise.device().residentBlocks(kBlock));
    rung("inPlaceLoop", loopGrid, BytesEach{12}, bufferY, roundedTwice,
         [&] { axpbyLoop<<<loopGrid, kBlock>>>(kA, x, kB, y, n); });
    const unsigned fewerBlocks = lab::blocksFor(n, 4 * kLoads * kBlock);
    rung("inPlaceFloat4x4", fewerBlocks, BytesEach{12}, bufferY, roundedTwice,
         [&] { axpbyFloat4<kLoads><<<fewerBlocks, kBlock>>>(kA, x, kB, y, n); });
    rung("inPlaceFloat4", float4Grid, BytesEach{12}, bufferY, roundedTwice,
         [&] { axpbyFloat4<1><<<float4Grid, kBlock>>>(kA, x, kB, y, n); });

    // cuBLAS may round in its own way. All terms are positive, so two results that round two or
    // three times differ by less than 2^-24 * 5 of an element.
    const double ofCublas = std::ldexp(5, -24);
    const auto isNearly = [&](unsigned bytes) {
        return [&, bytes]() -> lab::Finding {
            const auto expected = [&](std::size_t i) { return roundedTwice(xOf(i), yOf(i)); };
            return {lab::mismatchOf(bufferY, expected, ofCublas), cells(bytes)};
        };
    };
    lab::cublasWeightedSum(ladder, isNearly(12), kA, x, kB, y, n);
    lab::cublasScaleAndAdd(ladder, isNearly(20), kA, x, kB, y, n);
    const auto onlyX = [](float ofX, float /*ofY*/) { return ofX; };
    ladder.peer("cudaMemcpy", moved(8), checkOf(8, bufferT, onlyX), [&] {
        CUDA_CHECK(cudaMemcpyAsync(t, x, bufferX.bytes(), cudaMemcpyDeviceToDevice));
    });
    return exercise.finish();
}
