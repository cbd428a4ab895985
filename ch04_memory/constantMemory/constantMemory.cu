// All threads read the nine coefficients of a stencil, and no thread writes them. Constant memory
// has a cache of its own, which hands one word to all lanes of a warp at a time. Other data pass
// through L1. Constant memory is right where a warp reads one address, and slow where its lanes
// read several addresses.
//
//   1 copyFloat4       no stencil: moves the same bytes, for comparison
//   2 stencilGlobal    coefficients behind a plain pointer: loaded again for each output
//   3 stencilReadOnly  const and __restrict__: loaded once, then kept in registers
//   4 stencilConstant  coefficients in constant memory: no load for them
//   5 stencilLiteral   coefficients that the compiler knows: part of the instructions
//   6 stencilShared    loads each input once for the block, into a tile in shared memory
//   7 stencilFloat4    keeps the inputs of four outputs in registers: 3 loads in place of 36
//     cudaMemcpy       the driver's copy
//
// An output is the sum of nine products: its own input and four inputs to each side, each times its
// coefficient. Outside of the array the input is zero. The speedup is over copyFloat4.
//
//   lookupConstant, lookupShared, lookupReadOnly
//                      one block looks up words in a table, again and again
//
//   words   how many different words the lanes of a warp read at a time: from 1 (all lanes read the
//           same word) to 32 (each lane reads a word of its own)
//   table   bytes of the table
//   cycles  cycles of the SM for each lookup of a warp. With one warp this is the latency, with 32
//           warps the pace. The speedup is over the first row with as many warps.
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

// In all stencils, output i is the sum of in[i + tap] times coefficient `tap`. So in[i + kRadius]
// is input i itself. `in` has kRadius zeros in front of its elements. Behind them, zeros fill the
// last tile and kRadius more places. So no load has to ask where the array ends, and the loads of
// all four outputs can begin before the first store.

// Loads four neighbours at once: 16 bytes, which must begin at a multiple of 16.
__device__ float4 fourAt(const float* place) {
    return *reinterpret_cast<const float4*>(place);
}

// Stores four outputs at once. The last thread may have fewer.
__device__ void store(float4 four, float* out, std::size_t i, std::size_t n) {
    if (i + 3 < n) {
        *reinterpret_cast<float4*>(out + i) = four;
    } else {
        if (i < n) out[i] = four.x;
        if (i + 1 < n) out[i + 1] = four.y;
        if (i + 2 < n) out[i + 2] = four.z;
    }
}

// No stencil can be faster: reads each input once and writes each output once.
__global__ void copyFloat4(const float* __restrict__ in, float* __restrict__ out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * kTile + 4 * threadIdx.x;
    if (i < n) store(fourAt(in + i + kRadius), out, i, n);
}

// The loads of a warp are coalesced, and nearly all of them find their sectors in L1. Still wrong:
// an output takes 18 loads, and nine of them are for coefficients, which are always the same. The
// compiler must not keep the coefficients, because out[i] may be one of them.
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

// The same body. __restrict__ promises that no store through `out` changes what the other pointers
// point to. So the compiler loads the coefficients for the first output and keeps them for the
// other three. Still wrong: each thread spends nine loads and nine registers on numbers that are
// known before the launch.
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

// The host copies the coefficients into constant memory before the launch. They reach the
// instructions through a cache of their own, so only the inputs pass through L1. Still wrong: each
// input is loaded nine times.
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

// The coefficients are part of the instructions, so nothing has to be read. But other coefficients
// need another compilation. Still wrong: each input is loaded nine times.
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

// The block loads its inputs, and four more to each side, into shared memory, each of them once.
// Still wrong: an output takes nine loads from shared memory. The unit that serves them is that of
// L1, and it is no faster.
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

// Four neighbouring outputs need twelve inputs, which three loads of 16 bytes bring into registers.
// No other thread has to wait for them. Now the device memory is the limit, as in a copy.
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

// CPU reference of the stencil, in double. The coefficients are binomial coefficients over 2^8.
// `paddedOf` is the input with its zeros.
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
    lab::Exercise exercise(
        "constantMemory",
        "Coefficients that all threads read, from constant memory and from elsewhere.");
    exercise.option("size", &size, {1 << 25, 1 << 16}, 1, lab::kMaxSize, "number of floats");
    exercise.option("steps", &steps, {4096, 100}, 1, 1 << 20, "lookups of a thread");
    exercise.parse(argc, argv);
    exercise.columns(lab::Columns::kLadder,
                     {{"words", 5, "words"},
                      {"table", 5, "table_bytes"},
                      {"warps", 5, "warps"},
                      {"cycles", 6, "cycles", lab::OwnColumn::kOnGpu}},
                     {"grid", "block"});

    // The inputs are whole numbers, and the coefficients are whole numbers over 256. So a float
    // holds all sums exactly, in any order, and the tolerance is zero.
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
