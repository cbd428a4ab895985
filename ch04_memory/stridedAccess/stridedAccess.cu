// Memory moves more than a thread asks for: bytes moved are not bytes used. Every row of the table
// adds up equally many integers of an array. The rows differ in where these integers lie, and in
// which thread reads which of them.
//
//   1 readStrided   neighbouring lanes read integers that lie 1, 2, 4 ... 64 places apart
//   2 readRandom    pieces of 4 to 4096 bytes at random places; neighbouring lanes read one piece
//   3 rowPerThread  sums of rows of 32 integers: a thread reads a row, so lanes are 32 places apart
//   4 rowPerWarp    the same sums: a warp reads a row, so lanes are neighbours
//
// The array has 64 times as many integers as a kernel reads, and does not fit into the L2 cache.
//
//   stride   distance between the integers that neighbouring lanes read, in integers
//   piece    length of a random piece, in bytes
//   sectors  of 32 bytes that a load of a warp touches: four if it uses all of their bytes
//   moved    bytes that the memory moves for each byte that is used, if the L2 cache asks it for
//            --fetch bytes at a time
//   limit    used bytes per second, in GB/s, if the memory moved exactly that at its peak rate
//   GB/s     of the bytes that are used; the speedup is relative to a stride of 1
//
// sectors, moved and limit are formulas. The CSV also has percent_used, the share of the sectors'
// bytes that is used, and moved_gbps.
//
//   ./lab run stridedAccess -- --size=64M
//   ./lab test stridedAccess
//   ./lab profile stridedAccess
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target stridedAccess
//   build/ch04_memory/stridedAccess --size=64M
//   ncu build/ch04_memory/stridedAccess --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch04_memory/stridedAccess/stridedAccess.cu
//       common/*.cpp common/*.cu -o build/stridedAccess

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lab.cuh"
#include "scattered.cuh"
#include "warp_sum.cuh"

constexpr unsigned kBlock = 256;
constexpr unsigned kPerThread = 32;  // integers that a thread reads
constexpr unsigned kTile = kBlock * kPerThread;
constexpr unsigned kMostStride = 64;  // integers of the array for each one that is read
constexpr unsigned kRow = 32;         // integers of a row of the table: one for each lane of a warp
static_assert(kRow == kPerThread, "a thread of rowPerThread reads one row");

__global__ void fill(unsigned* array, std::size_t length, unsigned seed) {
    const std::size_t place = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (place < length) array[place] = lab::mixedNumber(place, seed);
}

// In all kernels, a block reads kTile of the `size` integers, and a thread reads kPerThread of
// these. It asks for most of them before it adds anything up, so that many loads are in flight.
__device__ unsigned sumOf(const unsigned (&values)[kPerThread]) {
    unsigned sum = 0;
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) sum += values[k];
    return sum;
}

// The lanes of a warp read 4 bytes each, 4 * kStride bytes apart. With a stride of 1 these are four
// whole sectors. From a stride of 8 on, each lane touches a sector of its own. The bytes between
// are moved, and not used.
template <unsigned kStride>
__global__ void readStrided(const unsigned* array, unsigned size, unsigned* sums) {
    const unsigned first = blockIdx.x * kTile + threadIdx.x;
    unsigned values[kPerThread];
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) {
        const unsigned i = first + k * kBlock;
        values[k] = i < size ? array[std::size_t{i} * kStride] : 0;
    }
    sums[blockIdx.x * kBlock + threadIdx.x] = sumOf(values);
}

// kPiece neighbouring lanes read a piece of kPiece integers. The next piece lies elsewhere. A piece
// of 8 integers or more consists of whole sectors, and all of their bytes are used. Each piece
// begins a place of its own, which is as long as the piece, and at least a line of 128 bytes.
template <unsigned kPiece>
struct Random {
    static constexpr unsigned kPlace = kPiece < 32 ? 32 : kPiece;  // integers
    Scattered placeOf;
    explicit Random(std::size_t length) : placeOf(length / kPlace) {}
    // Where the i-th integer lies.
    __host__ __device__ std::size_t operator()(unsigned i) const {
        return std::size_t{placeOf(i / kPiece)} * kPlace + i % kPiece;
    }
};

template <unsigned kPiece>
__global__ void readRandom(const unsigned* array, unsigned size, Random<kPiece> indexOf,
                           unsigned* sums) {
    const unsigned first = blockIdx.x * kTile + threadIdx.x;
    unsigned values[kPerThread];
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) {
        const unsigned i = first + k * kBlock;
        values[k] = i < size ? array[indexOf(i)] : 0;
    }
    sums[blockIdx.x * kBlock + threadIdx.x] = sumOf(values);
}

// Here the array is a table with rows of kRow integers, and each row has its own sum. A thread
// reads its row from left to right, so in each load the lanes of a warp are a row apart: 32
// sectors. A thread does use all of a sector, but in eight loads, and L1 must keep the sector until
// then.
__global__ void rowPerThread(const unsigned* array, unsigned size, unsigned* sums) {
    const unsigned row = blockIdx.x * kBlock + threadIdx.x;
    unsigned values[kPerThread];
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) {
        const unsigned i = row * kRow + k;
        values[k] = i < size ? array[i] : 0;
    }
    sums[row] = sumOf(values);
}

// The 32 lanes read a row together, so a load touches four whole sectors. Then they add up what
// they have read. A warp does this for 32 rows, so it asks for as many integers as before.
__global__ void rowPerWarp(const unsigned* array, unsigned size, unsigned* sums) {
    const unsigned lane = threadIdx.x % kRow;
    const unsigned firstRow = blockIdx.x * kBlock + threadIdx.x - lane;  // of the warp
    unsigned values[kRow];
#pragma unroll
    for (unsigned k = 0; k < kRow; ++k) {
        const unsigned i = (firstRow + k) * kRow + lane;
        values[k] = i < size ? array[i] : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < kRow; ++k) {
        const unsigned sum = lab::sumOfWarp(values[k]);
        if (lane == 0) sums[firstRow + k] = sum;
    }
}

// CPU reference: all sums, where valueOf(i) is the i-th integer that is read, and sumOf(i) is the
// index of the sum that it belongs to.
template <typename ValueOf, typename SumOf>
std::vector<unsigned> sumsOnCpu(std::size_t size, unsigned blocks, ValueOf valueOf, SumOf sumOf) {
    std::vector<unsigned> sums = lab::hostVector<unsigned>(std::size_t{blocks} * kBlock);
    lab::parallelFor(blocks, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin * kTile; i < std::min(size, end * kTile); ++i)
            sums[sumOf(i)] += valueOf(i);
    });
    return sums;
}

// Threads of readStrided and readRandom take every kBlock-th integer of their block.
std::size_t sumOfThread(std::size_t i) {
    return i / kTile * kBlock + i % kBlock;
}
std::size_t sumOfRow(std::size_t i) {
    return i / kRow;
}

int main(int argc, char** argv) {
    std::size_t size;
    unsigned fetch;
    lab::Exercise exercise("stridedAccess", "Bytes that memory moves, and bytes that are used.");
    exercise.option("size", &size, {1 << 24, 1 << 14}, 1, std::size_t{1} << 31,
                    "integers to read, of an array of 64 times as many");
    exercise.option("fetch", &fetch, 64, 32, 128, "bytes that L2 asks the memory for at a time",
                    lab::Rule::kPowerOfTwo);
    exercise.parse(argc, argv);
    constexpr auto kOnGpu = lab::OwnColumn::kOnGpu;
    constexpr auto kPredicted = lab::OwnColumn::kPredicted;
    exercise.columns(lab::Columns::kLadder,
                     {{"stride", 6, "stride"},
                      {"piece", 5, "piece"},
                      {"sectors", 7, "sectors", kPredicted},
                      {"", 0, "percent_used"},
                      {"moved", 5, "moved", kPredicted},
                      {"limit", 6, "limit_gbps", kOnGpu},
                      {"", 0, "moved_gbps", kOnGpu}},
                     {"grid", "block", "percent_peak"});

    // The limit is a hint for the kernels of this process.
    CUDA_CHECK(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, fetch));

    const unsigned grid = lab::blocksFor(size, kTile);
    const std::size_t length = std::size_t{grid} * kTile * kMostStride;
    const auto seed = static_cast<unsigned>(exercise.seed());
    lab::DeviceBuffer<unsigned> array(length);
    fill<<<lab::blocksFor(length, kBlock), kBlock>>>(array.get(), length, seed);
    CUDA_CHECK_LAUNCH();
    lab::DeviceBuffer<unsigned> sums(std::size_t{grid} * kBlock);
    exercise.title("%s integers (%s) of an array of %s", lab::withCommas(size).c_str(),
                   lab::inBytes(size * sizeof(unsigned)).c_str(),
                   lab::inBytes(array.bytes()).c_str());

    // The i-th integer that a row of the table reads has the index indexOf(i), and belongs to sum
    // sumOf(i).
    lab::Ladder ladder(exercise, sums);
    const lab::Work used = lab::bytes(1.0 * size * sizeof(unsigned));
    const auto row = [&](const lab::Name& name, const lab::Cell& stride, const lab::Cell& piece,
                         unsigned sectors, unsigned moved, auto indexOf,
                         std::size_t (*sumOf)(std::size_t), const lab::Launch& launch) {
        const auto check = [=, &exercise, &sums](const lab::Statistics& time) -> lab::Finding {
            const auto valueOf = [=](std::size_t i) { return lab::mixedNumber(indexOf(i), seed); };
            const double limit = 1e-9 * exercise.device().peakBandwidth / moved;
            const double movedRate = 1e-6 * used.amount * moved / time.median;
            return {lab::mismatch(sums, sumsOnCpu(size, grid, valueOf, sumOf)),
                    {stride,
                     piece,
                     sectors,
                     {400.0 / sectors, 1},
                     moved,
                     {limit, 0},
                     time.median > 0 ? lab::Cell(movedRate, 1) : lab::Cell()}};
        };
        ladder.rung(name, grid, kBlock, used, check, launch);
    };

    const auto strided = [&](unsigned stride, auto* kernel) {
        const unsigned sectors = std::min(4 * stride, 32u);
        const unsigned moved = std::min(4 * stride, fetch) / 4;
        const auto indexOf = [=](std::size_t i) { return i * stride; };
        row({"readStrided", exercise.parameters() + " sweep=stride"}, stride, "", sectors, moved,
            indexOf, sumOfThread,
            [&, kernel] { kernel<<<grid, kBlock>>>(array.get(), size, sums.get()); });
    };
    strided(1, readStrided<1>);
    strided(2, readStrided<2>);
    strided(4, readStrided<4>);
    strided(8, readStrided<8>);
    strided(16, readStrided<16>);
    strided(32, readStrided<32>);
    strided(64, readStrided<64>);

    struct PieceBytes {
        unsigned count;
    };
    const auto random = [&](PieceBytes bytes, auto* kernel, auto indexOf) {
        const unsigned piece = bytes.count;
        const unsigned sectors = std::max(128 / piece, 4u);
        const unsigned moved = std::max(fetch / piece, 1u);
        row({"readRandom", exercise.parameters() + " sweep=piece"}, "", piece, sectors, moved,
            indexOf, sumOfThread, [&, kernel, indexOf] {
                kernel<<<grid, kBlock>>>(array.get(), size, indexOf, sums.get());
            });
    };
    random(PieceBytes{4}, readRandom<1>, Random<1>(length));
    random(PieceBytes{32}, readRandom<8>, Random<8>(length));
    random(PieceBytes{64}, readRandom<16>, Random<16>(length));
    random(PieceBytes{128}, readRandom<32>, Random<32>(length));
    random(PieceBytes{256}, readRandom<64>, Random<64>(length));
    random(PieceBytes{1024}, readRandom<256>, Random<256>(length));
    random(PieceBytes{4096}, readRandom<1024>, Random<1024>(length));

    struct LanesApart {
        unsigned integers;
    };
    const auto table = [&](const char* name, LanesApart lanesApart, auto* kernel) {
        const unsigned stride = lanesApart.integers, moved = 1;
        const auto indexOf = [](std::size_t i) { return i; };
        row({name, exercise.parameters() + " sweep=rows"}, stride, "", std::min(4 * stride, 32u),
            moved, indexOf, sumOfRow,
            [&, kernel] { kernel<<<grid, kBlock>>>(array.get(), size, sums.get()); });
    };
    table("rowPerThread", LanesApart{kRow}, rowPerThread);
    table("rowPerWarp", LanesApart{1}, rowPerWarp);
    return exercise.finish();
}
