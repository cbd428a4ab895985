// y = a x + b y, for arrays of floats. An element takes three operations and at least 12 bytes, so
// the memory is the limit. A kernel can only become faster by moving fewer bytes, or by keeping
// enough of them in flight.
//
//   1 threeKernels       t = a x, u = b y, y = t + u: two temporary arrays go through memory
//   2 twoKernels         y = b y, y = a x + y: y is read and written twice
//   3 oneKernel          one fused kernel, which writes to a third array
//   4 inPlace            the same kernel writes over y: one array less, but the same traffic
//   5 inPlaceLoop        loads of 16 bytes, in a grid-stride loop
//   6 inPlaceFloat4x4    no loop: each thread has four times two loads of 16 bytes in flight
//   7 inPlaceFloat4      the same with two loads of 16 bytes in flight in each thread
//     cublasSgeam        a A + b B of matrices, in one call of NVIDIA's library
//     cublasSscal+Saxpy  y = b y, then y = y + a x, in two calls of the library
//     cudaMemcpy         a copy: what the memory can do
//
//   bytes      that the kernels of a row must move for each element
//   predicted  the time that these bytes take at the peak bandwidth of the memory
//   GB/s       these bytes divided by the measured time
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
constexpr unsigned kLoads = 4;  // float4 of each array in a thread of inPlaceFloat4x4
constexpr float kA = 0.7f, kB = 1.3f;

__device__ std::size_t globalThread() {
    return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

// scale() and add() do one operation each, like the functions of a library for arrays. Each kernel
// loads its operands from memory and stores its result there. The next kernel loads it again.
__global__ void scale(float factor, const float* in, float* out, std::size_t n) {
    const std::size_t i = globalThread();
    if (i < n) out[i] = factor * in[i];
}

__global__ void add(const float* t, const float* u, float* out, std::size_t n) {
    const std::size_t i = globalThread();
    if (i < n) out[i] = t[i] + u[i];
}

// Fuses a multiplication and an addition: a x stays in a register. What is still wrong: b y goes
// through memory.
__global__ void addScaled(float a, const float* x, float* y, std::size_t n) {
    const std::size_t i = globalThread();
    if (i < n) y[i] = fmaf(a, x[i], y[i]);
}

// Computes one element. It rounds twice, because fmaf() does not round a x.
__device__ float weightedSum(float a, float x, float b, float y) {
    return fmaf(a, x, b * y);
}

// Fuses everything: the kernel loads each input once and stores the result once. No kernel can move
// fewer bytes. `out` may be y itself, since each thread loads its element before it stores the
// result. What is still wrong: a thread has only two loads of 4 bytes in flight.
__global__ void axpby(float a, const float* x, float b, const float* y, float* out, std::size_t n) {
    const std::size_t i = globalThread();
    if (i < n) out[i] = weightedSum(a, x[i], b, y[i]);
}

__device__ float4 weightedSum(float a, const float4& x, float b, const float4& y) {
    return make_float4(weightedSum(a, x.x, b, y.x), weightedSum(a, x.y, b, y.y),
                       weightedSum(a, x.z, b, y.z), weightedSum(a, x.w, b, y.w));
}

// Up to three elements at the end do not fill a float4. The first threads of the grid take one
// each.
__device__ void axpbyRest(float a, const float* x, float b, float* y, std::size_t n) {
    const std::size_t i = n / 4 * 4 + globalThread();
    if (i < n) y[i] = weightedSum(a, x[i], b, y[i]);
}

// A grid-stride loop over float4: each iteration has two loads of 16 bytes. What is still wrong: in
// each iteration, a thread waits for its loads, computes and stores before it loads more.
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

// No loop over the array: a thread has 2 * kPerThread loads of a float4 in flight, stores its
// results and ends. When a block has ended, the next one takes its place and starts its own loads.
template <unsigned kPerThread>
__global__ void axpbyFloat4(float a, const float* x, float b, float* y, std::size_t n) {
    const auto x4 = reinterpret_cast<const float4*>(x);
    const auto y4 = reinterpret_cast<float4*>(y);
    const std::size_t first = std::size_t{blockIdx.x} * (kPerThread * kBlock) + threadIdx.x;

    float4 ofX[kPerThread], ofY[kPerThread];
#pragma unroll  // all indices become constants, so the arrays can live in registers
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

// CPU references. threeKernels rounds after each of its three operations. All other rungs round
// twice, because fmaf() does not round a x. So the results differ in their last bits.
float roundedTwice(float x, float y) {
    return std::fma(kA, x, kB * y);
}
float roundedThrice(float x, float y) {
    const float t = kA * x, u = kB * y;
    return static_cast<float>(static_cast<double>(t) + u);
}

int main(int argc, char** argv) {
    std::size_t n;
    lab::Exercise exercise("memoryBound", "y = a x + b y: its bytes decide its time.");
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

    // The check of a row and its own columns. No bit of a result may differ. `bytes` is what moves
    // for each element.
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
        unsigned count;  // for one element
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

    // cuBLAS may round in its own way. All terms are positive. So if one result rounds twice and
    // the other one two or three times, they differ by less than 5 * 2^-24 of an element.
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
