// Memory moves in sectors of 32 bytes, whatever a thread asks for: bytes moved are not bytes used.
// Every row of this exercise adds up as many integers of an array, and only where they lie differs.
//
//   1 readStrided  neighbouring lanes read integers that lie 1, 2, 4 ... 64 places apart
//   2 readRandom   neighbouring lanes read pieces of 4, 32, 64 or 128 bytes in a row; the pieces
//                  lie anywhere in the array, each in a line of 128 bytes of its own
//
// The array has 64 times as many integers as are read, and does not fit into the L2 cache.
//
//   sectors  that a load of a warp touches, by the formula: four if all of their bytes are used
//   % used   of the bytes of these sectors, by the formula
//   GB/s     of the bytes that are used; the speedup is over a stride of 1
//   limit    GB/s of used bytes if whole sectors, and nothing else, came at the memory's peak
//
// The CSV also has the GB/s of whole sectors (moved_gbps).
//
//   ./lab run stridedAccess -- --size=64M
//   ./lab test stridedAccess
//   ./lab profile stridedAccess
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target stridedAccess
//   build/ch04_memory/stridedAccess --size=64M
//   ctest --test-dir build -L '^stridedAccess$'
//   ncu build/ch04_memory/stridedAccess --profile

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "lab.cuh"
#include "scattered.cuh"

constexpr unsigned kBlock = 256;
constexpr unsigned kPerThread = 32;  // integers that a thread reads
constexpr unsigned kTile = kBlock * kPerThread;
constexpr unsigned kLine = 32;        // integers of a line, 128 bytes
constexpr unsigned kMostStride = 64;  // the array has so many integers for each that is read

// What the array holds: numbers so mixed that the sum of other places is another one.
__host__ __device__ unsigned valueAt(std::size_t place, unsigned seed) {
    unsigned value = static_cast<unsigned>(place ^ place >> 32) * 0x9E3779B1u + seed;
    value ^= value >> 15;
    return value * 0x85EBCA77u;
}

__global__ void fill(unsigned* array, std::size_t length, unsigned seed) {
    const std::size_t place = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (place < length) array[place] = valueAt(place, seed);
}

// Both kernels: a block reads kTile of the `size` integers, a thread every kBlock-th of these. It
// starts all of its loads before it adds anything up, so that enough of them are in flight.
__device__ unsigned sumOf(const unsigned (&values)[kPerThread]) {
    unsigned sum = 0;
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) sum += values[k];
    return sum;
}

// The 32 loads of a warp are 4 * kStride bytes apart: 128 bytes in a row with a stride of 1, and a
// sector for each lane from a stride of 8 on. What lies between them is moved and not used.
template <unsigned kStride>
__global__ void readStrided(const unsigned* array, std::size_t size, unsigned* sums) {
    const std::size_t first = std::size_t{blockIdx.x} * kTile + threadIdx.x;
    unsigned values[kPerThread];
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) {
        const std::size_t i = first + k * kBlock;
        values[k] = i < size ? array[i * kStride] : 0;
    }
    sums[std::size_t{blockIdx.x} * kBlock + threadIdx.x] = sumOf(values);
}

// kPiece integers in a row are read by as many lanes, at the beginning of a line. From 8 of them on
// they are whole sectors, of which every byte is used: if the sector is the unit of memory, longer
// pieces are no faster.
template <unsigned kPiece>
__global__ void readRandom(const unsigned* array, std::size_t size, Scattered lineOf,
                           unsigned* sums) {
    const std::size_t first = std::size_t{blockIdx.x} * kTile + threadIdx.x;
    unsigned values[kPerThread];
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) {
        const std::size_t i = first + k * kBlock;
        values[k] = i < size ? array[lineOf(i / kPiece) * kLine + i % kPiece] : 0;
    }
    sums[std::size_t{blockIdx.x} * kBlock + threadIdx.x] = sumOf(values);
}

// CPU reference: what each thread adds up, where valueOf(i) is the i-th integer that is read.
template <typename ValueOf>
std::vector<unsigned> sumsOfThreads(std::size_t size, unsigned blocks, ValueOf valueOf) {
    std::vector<unsigned> sums = lab::hostVector<unsigned>(std::size_t{blocks} * kBlock);
    lab::parallelFor(blocks, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin * kTile; i < std::min(size, end * kTile); ++i)
            sums[i / kTile * kBlock + i % kBlock] += valueOf(i);
    });
    return sums;
}

int main(int argc, char** argv) {
    std::size_t size;
    lab::Exercise exercise("stridedAccess", "Bytes that memory moves, and bytes that are used.");
    exercise.option("size", &size, {1 << 24, 1 << 14}, 1, lab::kMaxSize / kMostStride,
                    "integers to read, of an array of 64 times as many");
    exercise.parse(argc, argv);
    constexpr auto kOnGpu = lab::OwnColumn::kOnGpu;
    exercise.columns(lab::Columns::kLadder,
                     {{"stride", 6, "stride"},
                      {"piece", 5, "piece"},
                      {"sectors", 7, "sectors"},
                      {"% used", 6, "percent_used"},
                      {"limit", 6, "limit_gbps", kOnGpu},
                      {"", 0, "moved_gbps", kOnGpu}},
                     {"grid", "block", "percent_peak"});

    const std::size_t length = kMostStride * size;
    lab::DeviceBuffer<unsigned> array(length);
    const auto seed = static_cast<unsigned>(exercise.seed());
    fill<<<lab::blocksFor(length, kBlock), kBlock>>>(array.get(), length, seed);
    CUDA_CHECK_LAUNCH();
    const unsigned grid = lab::blocksFor(size, kTile);
    lab::DeviceBuffer<unsigned> sums(std::size_t{grid} * kBlock);
    exercise.title("%s integers (%s) of an array of %s", lab::withCommas(size).c_str(),
                   lab::inBytes(size * sizeof(unsigned)).c_str(),
                   lab::inBytes(array.bytes()).c_str());

    // A row; `sectors` are those that a load of a warp touches.
    lab::Ladder ladder(exercise, sums);
    const lab::Work used = lab::bytes(1.0 * size * sizeof(unsigned));
    const auto row = [&](const char* name, const lab::Cell& stride, const lab::Cell& piece,
                         unsigned sectors, const auto& valueOf, const lab::Launch& launch) {
        const double usedPart = 4.0 / sectors;
        const auto check = [=, &exercise, &sums](const lab::Statistics& time) -> lab::Finding {
            const double limit = 1e-9 * exercise.device().peakBandwidth * usedPart;
            const double moved = 1e-6 * used.amount / usedPart / time.median;
            return {lab::mismatch(sums.toHost(), sumsOfThreads(size, grid, valueOf)),
                    {stride,
                     piece,
                     sectors,
                     {100 * usedPart, 1},
                     {limit, 0},
                     time.median > 0 ? lab::Cell(moved, 1) : lab::Cell()}};
        };
        ladder.rung(name, grid, kBlock, used, check, launch);
    };

    const auto strided = [&](unsigned stride, auto* kernel) {
        row(
            "readStrided", stride, "", std::min(4 * stride, 32u),
            [=](std::size_t i) { return valueAt(i * stride, seed); },
            [&, kernel] { kernel<<<grid, kBlock>>>(array.get(), size, sums.get()); });
    };
    strided(1, readStrided<1>);
    strided(2, readStrided<2>);
    strided(4, readStrided<4>);
    strided(8, readStrided<8>);
    strided(16, readStrided<16>);
    strided(32, readStrided<32>);
    strided(64, readStrided<64>);

    const Scattered lineOf(length / kLine);
    const auto random = [&](unsigned bytes, auto* kernel) {
        const std::size_t piece = bytes / sizeof(unsigned);
        row(
            "readRandom", "", bytes, std::max(128 / bytes, 4u),
            [=](std::size_t i) { return valueAt(lineOf(i / piece) * kLine + i % piece, seed); },
            [&, kernel] { kernel<<<grid, kBlock>>>(array.get(), size, lineOf, sums.get()); });
    };
    random(4, readRandom<1>);
    random(32, readRandom<8>);
    random(64, readRandom<16>);
    random(128, readRandom<32>);
    return exercise.finish();
}
