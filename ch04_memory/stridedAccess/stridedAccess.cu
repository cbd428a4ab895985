// Memory moves more than a thread asks for: bytes moved are not bytes used. Every row of this
// exercise adds up as many integers of an array, and only where they lie differs.
//
//   1 readStrided  neighbouring lanes read integers that lie 1, 2, 4 ... 64 places apart
//   2 readRandom   pieces of 4 to 4096 bytes, which lie anywhere; neighbouring lanes read a piece
//
// The array has 64 times as many integers as are read, and does not fit into the L2 cache.
//
//   sectors  of 32 bytes that a load of a warp touches: four if all of their bytes are used
//   moved    bytes that the memory moves for each byte that is used, if the L2 cache asks it for
//            --fetch bytes at a time
//   limit    GB/s of used bytes if just these came, at the memory's peak
//   GB/s     of the bytes that are used; the speedup is over a stride of 1
//
// sectors, moved and limit are formulas. The CSV also has percent_used, of the bytes of the
// sectors, and moved_gbps.
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

constexpr unsigned kBlock = 256;
constexpr unsigned kPerThread = 32;  // integers that a thread reads
constexpr unsigned kTile = kBlock * kPerThread;
constexpr unsigned kMostStride = 64;  // the array has so many integers for each that is read

__global__ void fill(unsigned* array, std::size_t length, unsigned seed) {
    const std::size_t place = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (place < length) array[place] = lab::mixedNumber(place, seed);
}

// Both kernels: a block reads kTile of the `size` integers, a thread every kBlock-th of these. It
// asks for all of them before it adds anything up, so that many loads are in flight.
__device__ unsigned sumOf(const unsigned (&values)[kPerThread]) {
    unsigned sum = 0;
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) sum += values[k];
    return sum;
}

// The lanes of a warp read 4 bytes each, 4 * kStride bytes apart: four whole sectors with a stride
// of 1, and a sector for each lane from a stride of 8 on. What lies between is moved and not used.
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

// kPiece integers in a row are read by as many lanes. From 8 on they are whole sectors, of which
// every byte is used; but the next piece lies elsewhere. Pieces are at the beginning of a place of
// their own, which is as large, and no smaller than a line of 128 bytes.
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

    // A hint, for the kernels of this process.
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

    // A row: the i-th integer that is read is that of index indexOf(i).
    lab::Ladder ladder(exercise, sums);
    const lab::Work used = lab::bytes(1.0 * size * sizeof(unsigned));
    const auto row = [&](const lab::Name& name, const lab::Cell& stride, const lab::Cell& piece,
                         unsigned sectors, unsigned moved, auto indexOf,
                         const lab::Launch& launch) {
        const auto check = [=, &exercise, &sums](const lab::Statistics& time) -> lab::Finding {
            const auto valueOf = [=](std::size_t i) { return lab::mixedNumber(indexOf(i), seed); };
            const double limit = 1e-9 * exercise.device().peakBandwidth / moved;
            const double movedRate = 1e-6 * used.amount * moved / time.median;
            return {lab::mismatch(sums, sumsOfThreads(size, grid, valueOf)),
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
            indexOf, [&, kernel] { kernel<<<grid, kBlock>>>(array.get(), size, sums.get()); });
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
            indexOf, [&, kernel, indexOf] {
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
    return exercise.finish();
}
