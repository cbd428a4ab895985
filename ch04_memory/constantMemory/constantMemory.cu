// What all threads read and none writes: the coefficients of a stencil. Constant memory has a cache
// of its own that hands one word to all lanes of a warp at a time; other data pass through L1. It
// is right where a warp reads one address, and slow where its lanes read several.
//
//   1 copyFloat4       no stencil: moves the same bytes, as a measure
//   2 stencilGlobal    coefficients behind a plain pointer: loaded again for each output
//   3 stencilReadOnly  const and __restrict__: loaded once, then in registers
//   4 stencilConstant  in constant memory: no load at all
//   5 stencilLiteral   known to the compiler: part of the instructions
//   6 stencilShared    the inputs, too: each is loaded once, into a tile in shared memory
//   7 stencilFloat4    inputs of four outputs in registers: three loads in place of 36
//     cudaMemcpy       the copy as the driver does it
//
// An output is the sum of nine inputs, its own and four to each side, times a coefficient each;
// outside of the array the input is zero. The speedup is that over copyFloat4.
//
//   lookupConstant, lookupShared, lookupReadOnly
//                      one block looks up in a table again and again
//
//   words   that the lanes of a warp read at a time: 1 is the same for all, 32 one for each
//   table   its bytes
//   cycles  of the SM for each lookup of a warp: the latency where there is one warp, with 32 warps
//           the pace. The speedup is that over the first row of as many warps.
//
//   ./lab run constantMemory -- --size=128M
//   ./lab test constantMemory
//   ./lab profile constantMemory
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target constantMemory
//   build/ch04_memory/constantMemory --size=128M
//   ncu build/ch04_memory/constantMemory --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch04_memory/constantMemory/constantMemory.cu
//       common/*.cpp common/*.cu -o build/constantMemory

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lab.cuh"
#include "tableLookups.cuh"

constexpr unsigned kRadius = 4;              // neighbours to each side
constexpr unsigned kTaps = 2 * kRadius + 1;  // inputs of an output
constexpr unsigned kBlock = 256;
constexpr unsigned kTile = 4 * kBlock;  // outputs of a block, four of them of each thread

// All stencils: output i is the sum of in[i + tap] times coefficient `tap`; in[i + kRadius] is
// input i itself. There are zeros in `in` before its elements, and behind them to the end of the
// last tile and kRadius further: no load has to ask where the array ends, and those of all four
// outputs can begin before the first store.

// Four neighbours at once: 16 bytes, which must begin at a multiple of 16.
__device__ float4 fourAt(const float* place) {
    return *reinterpret_cast<const float4*>(place);
}

// Writes four outputs at once; the last thread may have fewer.
__device__ void store(float4 four, float* out, std::size_t i, std::size_t n) {
    if (i + 3 < n) {
        *reinterpret_cast<float4*>(out + i) = four;
    } else {
        if (i < n) out[i] = four.x;
        if (i + 1 < n) out[i + 1] = four.y;
        if (i + 2 < n) out[i + 2] = four.z;
    }
}

// What a stencil cannot be faster than: each input read once, each output written once.
__global__ void copyFloat4(const float* __restrict__ in, float* __restrict__ out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * kTile + 4 * threadIdx.x;
    if (i < n) store(fourAt(in + i + kRadius), out, i, n);
}

// The loads of a warp are coalesced, and all but the first of nine find their sectors in L1. Still
// wrong: 18 loads for an output, nine of them for the coefficients, which are always the same. The
// compiler cannot keep them: for all it knows, out[i] is one of them.
__global__ void stencilGlobal(const float* in, float* out, std::size_t n,
                              const float* coefficients) {
    const std::size_t first = std::size_t{blockIdx.x} * kTile + threadIdx.x;
#pragma unroll
    for (unsigned j = 0; j < kTile; j += kBlock) {
        const std::size_t i = first + j;
        float sum = 0;
        for (unsigned tap = 0; tap < kTaps; ++tap) sum += coefficients[tap] * in[i + tap];
        if (i < n) out[i] = sum;
    }
}

// The same text, and the promise that nobody writes to what `in` and `coefficients` point to. The
// compiler loads the coefficients for the first output and keeps them for the other three. Still
// wrong: nine loads in each thread for what is known before the launch, and nine registers.
__global__ void stencilReadOnly(const float* __restrict__ in, float* __restrict__ out,
                                std::size_t n, const float* __restrict__ coefficients) {
    const std::size_t first = std::size_t{blockIdx.x} * kTile + threadIdx.x;
#pragma unroll
    for (unsigned j = 0; j < kTile; j += kBlock) {
        const std::size_t i = first + j;
        float sum = 0;
        for (unsigned tap = 0; tap < kTaps; ++tap) sum += coefficients[tap] * in[i + tap];
        if (i < n) out[i] = sum;
    }
}

// The host copies them there before the launch. They come as operands of the instructions, by a way
// of their own: L1 is asked for inputs alone. Still wrong: nine times for each input.
__constant__ float constantCoefficients[kTaps];

__global__ void stencilConstant(const float* __restrict__ in, float* __restrict__ out,
                                std::size_t n) {
    const std::size_t first = std::size_t{blockIdx.x} * kTile + threadIdx.x;
#pragma unroll
    for (unsigned j = 0; j < kTile; j += kBlock) {
        const std::size_t i = first + j;
        float sum = 0;
        for (unsigned tap = 0; tap < kTaps; ++tap) sum += constantCoefficients[tap] * in[i + tap];
        if (i < n) out[i] = sum;
    }
}

// Nothing is read: the numbers stand in the instructions. But other coefficients need another
// compilation.
__global__ void stencilLiteral(const float* __restrict__ in, float* __restrict__ out,
                               std::size_t n) {
    constexpr float coefficients[kTaps] = {1 / 256.0f,  8 / 256.0f,  28 / 256.0f,
                                           56 / 256.0f, 70 / 256.0f, 56 / 256.0f,
                                           28 / 256.0f, 8 / 256.0f,  1 / 256.0f};
    const std::size_t first = std::size_t{blockIdx.x} * kTile + threadIdx.x;
#pragma unroll
    for (unsigned j = 0; j < kTile; j += kBlock) {
        const std::size_t i = first + j;
        float sum = 0;
#pragma unroll
        for (unsigned tap = 0; tap < kTaps; ++tap) sum += coefficients[tap] * in[i + tap];
        if (i < n) out[i] = sum;
    }
}

// The inputs of a block, and four to each side, come to shared memory with one load each. Still
// wrong: nine loads for an output, which are served by the same unit as L1 and at its pace.
__global__ void stencilShared(const float* __restrict__ in, float* __restrict__ out,
                              std::size_t n) {
    __shared__ float tile[kTile + 2 * kRadius];
    const std::size_t first = std::size_t{blockIdx.x} * kTile;
    for (unsigned j = threadIdx.x; j < kTile + 2 * kRadius; j += kBlock) {
        tile[j] = in[first + j];
    }
    __syncthreads();

#pragma unroll
    for (unsigned j = threadIdx.x; j < kTile; j += kBlock) {
        float sum = 0;
        for (unsigned tap = 0; tap < kTaps; ++tap) sum += constantCoefficients[tap] * tile[j + tap];
        if (first + j < n) out[first + j] = sum;
    }
}

// Four neighbouring outputs need twelve inputs, and three loads of 16 bytes bring them: what shared
// memory kept for other threads, registers keep for this one. Now the loads are no more than the
// memory can feed.
__global__ void stencilFloat4(const float* __restrict__ in, float* __restrict__ out,
                              std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * kTile + 4 * threadIdx.x;
    if (i >= n) return;
    const float4 a = fourAt(in + i), b = fourAt(in + i + 4), c = fourAt(in + i + 8);
    const float inputs[] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w};
    float sums[4] = {};
#pragma unroll
    for (unsigned tap = 0; tap < kTaps; ++tap) {
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) sums[k] += constantCoefficients[tap] * inputs[k + tap];
    }
    store(make_float4(sums[0], sums[1], sums[2], sums[3]), out, i, n);
}

// CPU reference of the stencil, in double: binomial coefficients over 2^8. `paddedOf` is the input
// with its zeros.
template <typename PaddedOf>
std::vector<float> smoothed(std::size_t n, PaddedOf paddedOf) {
    std::vector<float> out = lab::hostVector<float>(n);
    lab::parallelFor(n, 1 << 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            double sum = 0, binomial = 1;
            for (unsigned tap = 0; tap < kTaps; ++tap) {
                sum += binomial / 256 * paddedOf(i + tap);
                binomial = binomial * (8 - tap) / (tap + 1);
            }
            out[i] = static_cast<float>(sum);
        }
    });
    return out;
}

int main(int argc, char** argv) {
    std::size_t size;
    unsigned steps;
    lab::Exercise exercise("constantMemory",
                           "What all threads read, from constant memory and from elsewhere.");
    exercise.option("size", &size, {1 << 25, 1 << 16}, 1, lab::kMaxSize, "number of floats");
    exercise.option("steps", &steps, {4096, 100}, 1, 1 << 20, "lookups of a thread");
    exercise.parse(argc, argv);
    exercise.columns(lab::Columns::kLadder,
                     {{"words", 5, "words"},
                      {"table", 5, "table_bytes"},
                      {"warps", 5, "warps"},
                      {"cycles", 6, "cycles", lab::OwnColumn::kOnGpu}},
                     {"grid", "block"});

    // Whole numbers and coefficients of whole numbers over 256: a float holds all sums exactly,
    // whatever their order. The tolerance is zero.
    const unsigned grid = lab::blocksFor(size, kTile);
    const std::uint64_t seed = exercise.seed();
    const auto inputOf = [=](std::size_t i) {
        return static_cast<float>(lab::randomInt(seed, i, -1000, 1000));
    };
    const auto paddedOf = [=](std::size_t i) {
        return i >= kRadius && i - kRadius < size ? inputOf(i - kRadius) : 0;
    };
    const std::vector<float> expected = smoothed(size, paddedOf);
    const std::vector<float> binomials = {1 / 256.0f,  8 / 256.0f,  28 / 256.0f,
                                          56 / 256.0f, 70 / 256.0f, 56 / 256.0f,
                                          28 / 256.0f, 8 / 256.0f,  1 / 256.0f};

    const auto source = lab::filled<float>(std::size_t{grid} * kTile + 2 * kRadius, paddedOf);
    const lab::DeviceBuffer<float> coefficients(binomials);
    CUDA_CHECK(cudaMemcpyToSymbol(constantCoefficients, binomials.data(), coefficients.bytes()));
    lab::DeviceBuffer<float> target(size);
    const float* const in = source.get();
    float* const out = target.get();
    exercise.title("%s floats (%s), radius %u, %u lookups", lab::withCommas(size).c_str(),
                   lab::inBytes(target.bytes()).c_str(), kRadius, steps);

    const lab::Work moved = lab::bytes(2.0 * target.bytes());  // each is read and written once
    const auto isCopy = [&] { return lab::mismatchOf(target, inputOf); };
    const auto isSmoothed = [&] { return lab::mismatch(target, expected, 0); };

    const auto stencil = [&](const char* kernel) {
        return lab::Name(kernel, exercise.parameters() + " part=stencil");
    };
    lab::Ladder ladder(exercise, target);
    ladder.rung(stencil("copyFloat4"), grid, kBlock, moved, isCopy,
                [&] { copyFloat4<<<grid, kBlock>>>(in, out, size); });
    ladder.rung(stencil("stencilGlobal"), grid, kBlock, moved, isSmoothed,
                [&] { stencilGlobal<<<grid, kBlock>>>(in, out, size, coefficients.get()); });
    ladder.rung(stencil("stencilReadOnly"), grid, kBlock, moved, isSmoothed,
                [&] { stencilReadOnly<<<grid, kBlock>>>(in, out, size, coefficients.get()); });
    ladder.rung(stencil("stencilConstant"), grid, kBlock, moved, isSmoothed,
                [&] { stencilConstant<<<grid, kBlock>>>(in, out, size); });
    ladder.rung(stencil("stencilLiteral"), grid, kBlock, moved, isSmoothed,
                [&] { stencilLiteral<<<grid, kBlock>>>(in, out, size); });
    ladder.rung(stencil("stencilShared"), grid, kBlock, moved, isSmoothed,
                [&] { stencilShared<<<grid, kBlock>>>(in, out, size); });
    ladder.rung(stencil("stencilFloat4"), grid, kBlock, moved, isSmoothed,
                [&] { stencilFloat4<<<grid, kBlock>>>(in, out, size); });
    ladder.peer(stencil("cudaMemcpy"), moved, isCopy, [&] {
        CUDA_CHECK(cudaMemcpyAsync(out, in + kRadius, target.bytes(), cudaMemcpyDeviceToDevice));
    });

    TableLookups(exercise, steps).run();
    return exercise.finish();
}
