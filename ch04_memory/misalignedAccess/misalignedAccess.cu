// Reads or writes an array, beginning some elements behind its start. Memory moves in sectors of 32
// bytes, which begin at multiples of 32. The 128 bytes of a warp are four whole sectors, or parts
// of five. Which cache delivers the fifth sector decides what it costs.
//
//   1 readOffset    copies: out[i] = in[i + offset]; neighbouring warps share a sector in L1
//   2 readPastL1    the same with __ldcg(), which bypasses L1: every warp asks L2 for 5 sectors
//   3 writeOffset   copies: out[i + offset] = in[i]; two warps write a part of a sector each
//   4 writeAligned  the same, but each warp of the copy begins where a line of `out` begins
//     ...Unrolled4  each of these with four elements per thread, whose loads are in flight together
//     cudaMemcpy    the driver's own copy, from the offset on
//   5 sumFromL2     no copy: reads a few lines again and again, from the L2 cache
//   6 sumFromL1     the same from the L1 cache
//
// Each runs with many offsets; with --offset=K, with 0 and K; with --profile, with 0 and 1. The
// speedup is relative to offset 0, where every warp begins at a sector.
//
//   sectors  that a request of a warp touches in the array that the offset belongs to, on average.
//            The host computes them.
//
//   ./lab run misalignedAccess -- --offset=5
//   ./lab test misalignedAccess
//   ./lab profile misalignedAccess
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target misalignedAccess
//   build/ch04_memory/misalignedAccess --offset=5
//   ncu build/ch04_memory/misalignedAccess --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch04_memory/misalignedAccess/misalignedAccess.cu
//       common/*.cpp common/*.cu -o build/misalignedAccess

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "lab.cuh"

constexpr unsigned kWarp = 32;  // threads; their ints are as long as a line of a cache

// For the sums: each warp has kLines lines for itself. With at most kMostBlocks blocks, all of them
// fit into L2.
constexpr unsigned kLines = 8, kMostBlocks = 512;

// ---- copies of `size` ints ----

// A thread copies kPerThread ints that lie blockDim.x apart, so in each load and store the lanes of
// a warp are neighbours. All loads of a thread come before its stores, so they are in flight
// together.

// A warp that does not begin at a sector shares its last sector with the next warp. Most often that
// warp is in the same block, so on the same SM: one of the two fetches the sector, and the other
// finds it in L1.
template <unsigned kPerThread>
__global__ void readOffset(const int* __restrict__ in, int* __restrict__ out, std::size_t size,
                           std::size_t offset) {
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * kPerThread + threadIdx.x;
    int value[kPerThread];
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) {
        const std::size_t i = first + k * blockDim.x;
        if (i < size) value[k] = in[i + offset];
    }
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) {
        const std::size_t i = first + k * blockDim.x;
        if (i < size) out[i] = value[k];
    }
}

// __ldcg() passes the L1 cache. Both warps ask the L2 cache for the sector that they share. Device
// memory still delivers it once.
template <unsigned kPerThread>
__global__ void readPastL1(const int* __restrict__ in, int* __restrict__ out, std::size_t size,
                           std::size_t offset) {
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * kPerThread + threadIdx.x;
    int value[kPerThread];
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) {
        const std::size_t i = first + k * blockDim.x;
        if (i < size) value[k] = __ldcg(&in[i + offset]);
    }
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) {
        const std::size_t i = first + k * blockDim.x;
        if (i < size) out[i] = value[k];
    }
}

// Stores go to L2 at once: each of the two warps sends its part of the sector that they share, and
// the L2 cache puts the parts together. Still wrong: parts of sectors are what costs most here.
template <unsigned kPerThread>
__global__ void writeOffset(const int* __restrict__ in, int* __restrict__ out, std::size_t size,
                            std::size_t offset) {
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * kPerThread + threadIdx.x;
    int value[kPerThread];
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) {
        const std::size_t i = first + k * blockDim.x;
        if (i < size) value[k] = in[i];
    }
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) {
        const std::size_t i = first + k * blockDim.x;
        if (i < size) out[i + offset] = value[k];
    }
}

// All threads move back by offset % kWarp elements, so that the first lane of each warp stores to
// the beginning of a line. Now the loads are misaligned, and L1 helps them. The first threads of
// the grid would begin before the array. Their index is unsigned, so it wraps round to a number
// that is larger than any size, and they skip this element. The host launches threads for as many
// more elements.
template <unsigned kPerThread>
__global__ void writeAligned(const int* __restrict__ in, int* __restrict__ out, std::size_t size,
                             std::size_t offset) {
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x * kPerThread + threadIdx.x;
    const std::size_t first = thread - offset % kWarp;
    int value[kPerThread];
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) {
        const std::size_t i = first + k * blockDim.x;
        if (i < size) value[k] = in[i];
    }
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) {
        const std::size_t i = first + k * blockDim.x;
        if (i < size) out[i + offset] = value[k];
    }
}

// ---- sums ----

// A warp reads the same kLines lines in every round. After the first round they are in a cache, so
// the time shows what the cache does, and nothing slower hides it. Without __syncwarp(), the
// compiler could keep the values in registers. With it, it must load them again, since other lanes
// could have written to them.
__device__ const int* linesOfWarp(const int* in) {
    const std::size_t warpsOfBlock = (blockDim.x + kWarp - 1) / kWarp;
    const std::size_t warp = blockIdx.x * warpsOfBlock + threadIdx.x / kWarp;
    return &in[warp * kLines * kWarp + threadIdx.x % kWarp];
}

// Passes L1: 5 sectors instead of 4 come from L2.
__global__ void sumFromL2(const int* in, std::size_t offset, unsigned rounds, int* sums) {
    const int* const own = linesOfWarp(in) + offset;
    int sum = 0;
    for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
        for (unsigned line = 0; line < kLines; ++line) sum += __ldcg(&own[line * kWarp]);
        __syncwarp();
    }
    sums[std::size_t{blockIdx.x} * blockDim.x + threadIdx.x] = sum;
}

// Reads from L1, which must look up two lines for a request that does not begin at a line.
__global__ void sumFromL1(const int* in, std::size_t offset, unsigned rounds, int* sums) {
    const int* const own = linesOfWarp(in) + offset;
    int sum = 0;
    for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
        for (unsigned line = 0; line < kLines; ++line) sum += own[line * kWarp];
        __syncwarp();
    }
    sums[std::size_t{blockIdx.x} * blockDim.x + threadIdx.x] = sum;
}

// ---- the same on the CPU ----

// Sectors for each request of a warp, on average, if thread i + idle accesses int i + offset of an
// array that begins at a sector. The first `idle` threads access nothing.
double sectorsPerRequest(std::size_t size, unsigned block, std::size_t offset,
                         std::size_t idle = 0) {
    constexpr std::size_t kSector = 32 / sizeof(int);
    std::size_t requests = 0, sectors = 0;
    for (std::size_t first = 0; first < size + idle; first += block) {
        const std::size_t behind = std::min(size + idle, first + block);  // of the block
        for (std::size_t begin = first; begin < behind; begin += kWarp) {
            const std::size_t end = std::min(begin + kWarp, behind);
            if (end <= idle) continue;
            const std::size_t from = std::max(begin, idle) - idle + offset;
            sectors += (end - 1 - idle + offset) / kSector - from / kSector + 1;
            requests += 1;
        }
    }
    return static_cast<double>(sectors) / static_cast<double>(requests);
}

// Element i of the output. Outside of the copy, it must be as it was.
int copied(const std::vector<int>& in, std::size_t from, std::size_t to, std::size_t size,
           std::size_t i) {
    const bool inCopy = i >= to && i - to < size;
    return inCopy ? in[from + i - to] : lab::poisoned<int>();
}

std::vector<int> summed(const std::vector<int>& in, std::size_t offset, unsigned rounds,
                        unsigned grid, unsigned block) {
    std::vector<int> sums;
    const int* own = &in[offset];
    for (unsigned b = 0; b < grid; ++b) {
        for (unsigned thread = 0; thread < block; ++thread) {
            if (thread % kWarp == 0 && b + thread > 0) own += kLines * kWarp;
            int sum = 0;
            for (unsigned line = 0; line < kLines; ++line)
                sum += own[line * kWarp + thread % kWarp];
            sums.push_back(static_cast<int>(rounds) * sum);
        }
    }
    return sums;
}

int main(int argc, char** argv) {
    std::size_t size, oneOffset;
    unsigned block, rounds;
    lab::Exercise exercise("misalignedAccess", "What it costs to begin in the middle of a sector.");
    exercise.option("size", &size, {1 << 25, 1 << 14}, 1, lab::kMaxSize, "ints to copy");
    exercise.option("rounds", &rounds, {2048, 2}, 1, 1 << 16, "of the sums");
    exercise.option("block", &block, 256, 1, lab::kMaxBlock, "threads per block");
    exercise.option("offset", &oneOffset, 1, 0, 1024, "to compare with 0, instead of many");
    exercise.parse(argc, argv);
    exercise.columns(
        lab::Columns::kLadder,
        {{"offset", 6, "offset"}, {"sectors", 7, "sectors", lab::OwnColumn::kPredicted}},
        {"grid", "block"});

    // A sector has 8 ints, a line 32.
    std::vector<std::size_t> offsets = {0, 1, 4, 7, 8, 12, 16, 20, 24, 28, 32, 33};
    if (exercise.given("offset") || exercise.profile()) offsets = {0, oneOffset};
    if (oneOffset == 0) offsets = {0};
    const auto nameOf = [&](const char* kernel, std::size_t offset) {
        return lab::Name(kernel, exercise.parameters({{"offset", std::to_string(offset)}}));
    };

    // All arrays have room for the largest offset.
    const std::vector<int> input =
        lab::randomInts(size + offsets.back(), exercise.seed(), -1000, 1000);
    const lab::DeviceBuffer<int> source(input);
    lab::DeviceBuffer<int> target(input.size());
    const int* const in = source.get();
    int* const out = target.get();
    exercise.title("%s ints (%s), block %u", lab::withCommas(size).c_str(),
                   lab::inBytes(size * sizeof(int)).c_str(), block);

    std::map<std::size_t, double> sectorsAt;
    for (const std::size_t offset : offsets)
        sectorsAt[offset] = sectorsPerRequest(size, block, offset);
    const lab::Work moved = lab::bytes(2.0 * sizeof(int) * size);  // each is read and written
    const auto isCopied = [&](std::size_t from, std::size_t to, double sectors) -> lab::Finding {
        const auto expected = [&](std::size_t i) { return copied(input, from, to, size, i); };
        return {lab::mismatchOf(target, expected), {from + to, {sectors, 2}}};
    };
    const auto isRead = [&](std::size_t offset) { return isCopied(offset, 0, sectorsAt[offset]); };
    const auto isWritten = [&](std::size_t offset) {
        return isCopied(0, offset, sectorsAt[offset]);
    };
    struct PerThread {
        unsigned ints;
    };
    const auto rows = [&](const char* name, PerThread perThread, auto* kernel, const auto& check) {
        lab::Ladder ladder(exercise, target);
        const unsigned grid = lab::blocksFor(size, std::size_t{perThread.ints} * block);
        for (const std::size_t offset : offsets) {
            ladder.rung(
                nameOf(name, offset), grid, block, moved, [&] { return check(offset); },
                [&] { kernel<<<grid, block>>>(in, out, size, offset); });
        }
    };
    rows("readOffset", PerThread{1}, readOffset<1>, isRead);
    rows("readOffsetUnrolled4", PerThread{4}, readOffset<4>, isRead);
    rows("readPastL1", PerThread{1}, readPastL1<1>, isRead);
    rows("readPastL1Unrolled4", PerThread{4}, readPastL1<4>, isRead);
    rows("writeOffset", PerThread{1}, writeOffset<1>, isWritten);
    rows("writeOffsetUnrolled4", PerThread{4}, writeOffset<4>, isWritten);

    // Up to 31 threads before the array have nothing to copy.
    const auto alignedRows = [&](const char* name, PerThread perThread, auto* kernel) {
        lab::Ladder ladder(exercise, target);
        for (const std::size_t offset : offsets) {
            const std::size_t idle = offset % kWarp;
            const unsigned grid = lab::blocksFor(size + idle, std::size_t{perThread.ints} * block);
            const double sectors = sectorsPerRequest(size, block, offset, idle);
            ladder.rung(
                nameOf(name, offset), grid, block, moved,
                [&] { return isCopied(0, offset, sectors); },
                [&] { kernel<<<grid, block>>>(in, out, size, offset); });
        }
    };
    alignedRows("writeAligned", PerThread{1}, writeAligned<1>);
    alignedRows("writeAlignedUnrolled4", PerThread{4}, writeAligned<4>);

    lab::Ladder copies(exercise, target);
    for (const std::size_t offset : offsets) {
        copies.peer(
            nameOf("cudaMemcpy", offset), moved, [&] { return isRead(offset); },
            [&] {
                CUDA_CHECK(cudaMemcpyAsync(out, &in[offset], size * sizeof(int),
                                           cudaMemcpyDeviceToDevice));
            });
    }

    const unsigned grid = std::min(lab::blocksFor(size, block), kMostBlocks);
    const std::size_t warps = std::size_t{grid} * lab::blocksFor(block, kWarp);
    const std::vector<int> few =
        lab::randomInts(warps * kLines * kWarp + offsets.back(), exercise.seed(), -1000, 1000);
    const lab::DeviceBuffer<int> cached(few);
    lab::DeviceBuffer<int> sums(std::size_t{grid} * block);
    const auto rereads = [&](const char* name, auto* kernel) {
        lab::Ladder ladder(exercise, sums);
        for (const std::size_t offset : offsets) {
            const auto isSummed = [&]() -> lab::Finding {
                return {lab::mismatch(sums.toHost(), summed(few, offset, rounds, grid, block)),
                        {offset, {sectorsPerRequest(block, block, offset), 2}}};
            };
            ladder.rung(nameOf(name, offset), grid, block, lab::kNoRate, isSummed,
                        [&] { kernel<<<grid, block>>>(cached.get(), offset, rounds, sums.get()); });
        }
    };
    rereads("sumFromL2", sumFromL2);
    rereads("sumFromL1", sumFromL1);
    return exercise.finish();
}
