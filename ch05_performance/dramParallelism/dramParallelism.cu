// The memory of a GPU consists of many channels. Each channel has a bus of its own, with many banks
// behind it. A bus is busy only while enough accesses are in flight in different banks.
//
//   1 bus           no kernel: computes what a bus carries, and how many banks keep it busy
//   2 randomPieces  reads pieces of 32, 64, 128 and 256 bytes at random places
//   3 powerOfTwo    reads sectors of 32 bytes with a stride that is a power of two
//   4 oddStride     the same with a stride that is one sector longer
//   5 oneWarp       one warp reads 32 sectors from 1, 2, 4 ... 32 pages, waits, and goes on
//
// Rows 2 to 4 read the same number of sectors of the same array. Rows 3 and 4 also go through its
// pages in the same order. The program asks L2 to fetch only the sectors that a kernel reads.
//
//   bytes   the size of a piece, the stride, or the size of a page. A page is a row of a bank, or
//           what one translation of addresses covers
//   pages   the pages from which the warp reads in a round
//   plain   channels that a stride would use if each 256 bytes were on the next channel
//   per ns  accesses (pieces or sectors) per nanosecond
//   round   nanoseconds from one load of the warp to the next
//   GB/s    the bytes of the sectors divided by the time. The speed-up begins anew with each sweep,
//           and with each pair of strides
//
//   ./lab run dramParallelism -- --size=8M
//   ./lab run dramParallelism -- --kernel=bus --bits=64 --megahertz=1000 --channel=64 --wanted=128
//   ./lab test dramParallelism
//   ./lab profile dramParallelism
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target dramParallelism
//   build/ch05_performance/dramParallelism --size=8M
//   ncu build/ch05_performance/dramParallelism --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch05_performance/dramParallelism/dramParallelism.cu
//       common/*.cpp common/*.cu -o build/dramParallelism

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "busBandwidth.h"
#include "dramPlaces.cuh"
#include "lab.cuh"
#include "scattered.cuh"

constexpr unsigned kBlock = 256;
constexpr unsigned kPerThread = 8;  // loads of 16 bytes, half a sector
constexpr unsigned kTile = kBlock * kPerThread;
constexpr unsigned kWarp = 32;
constexpr unsigned kSectorWords = kSectorBytes / sizeof(unsigned);
constexpr unsigned kSparse = 64;  // the array has so many sectors for each sector that is read
constexpr std::size_t kRowBytes = 1024;          // a row of a bank, which the bank opens as a whole
constexpr std::size_t kPageBytes = 2048 * 1024;  // what one translation covers, in large arrays
constexpr unsigned kPlainWidth = 256;  // bytes on a channel in plain order, as in the GPU GT200

__global__ void fill(unsigned* array, std::size_t words, unsigned seed) {
    const std::size_t word = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (word < words) array[word] = lab::mixedNumber(word, seed);
}

// What one thread of readSectors reads, added up. Two neighbouring lanes read the two halves of a
// sector, so each load of a warp uses all bytes of 16 sectors. The thread starts all its loads
// before it adds anything up. So many loads are in flight, and latency is not the limit.
template <typename PlaceOf>
__device__ unsigned sumOfThread(const uint4* halves, unsigned sectors, PlaceOf placeOf) {
    const unsigned first = blockIdx.x * kTile + threadIdx.x;
    uint4 values[kPerThread];
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) {
        const unsigned half = first + k * kBlock;
        values[k] = half / 2 < sectors ? halves[2 * placeOf(half / 2) + half % 2] : uint4{};
    }
    unsigned sum = 0;
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k)
        sum += values[k].x + values[k].y + values[k].z + values[k].w;
    return sum;
}

// Each block reads kTile / 2 sectors.
template <typename PlaceOf>
__global__ void readSectors(const uint4* halves, unsigned sectors, PlaceOf placeOf,
                            unsigned* sums) {
    sums[blockIdx.x * kBlock + threadIdx.x] = sumOfThread(halves, sectors, placeOf);
}

// One warp, in which each lane loads one word of a sector of its own. The address of a load depends
// on the value of the load before, so no load can begin before the last one has arrived. `none` is
// 0, which the compiler does not know. So `last & none` adds nothing to the address. The warp
// computes the rest of the address while it waits.
__global__ void oneWarp(const unsigned* words, InPages placeOf, unsigned rounds, unsigned none,
                        unsigned* sums) {
    const unsigned* next = words + placeOf(0, threadIdx.x) * kSectorWords;
    unsigned sum = 0, last = 0;
#pragma unroll 1
    for (unsigned round = 0; round < rounds; ++round) {
        last = next[last & none];
        next = words + placeOf(round + 1, threadIdx.x) * kSectorWords;
        sum += last;
    }
    sums[threadIdx.x] = sum;
}

// CPU reference of readSectors: the sum of the words that each block reads.
template <typename PlaceOf>
std::vector<unsigned> sumsOfBlocks(unsigned sectors, unsigned seed, PlaceOf placeOf) {
    constexpr std::size_t kEach = kTile / 2;
    std::vector<unsigned> sums((sectors + kEach - 1) / kEach);
    lab::parallelFor(sums.size(), 1, [&](std::size_t begin, std::size_t end) {
        const std::size_t last = std::min<std::size_t>(sectors, end * kEach);
        for (std::size_t sector = begin * kEach; sector < last; ++sector) {
            const std::size_t first = kSectorWords * placeOf(static_cast<unsigned>(sector));
            for (std::size_t word = first; word < first + kSectorWords; ++word)
                sums[sector / kEach] += lab::mixedNumber(word, seed);
        }
    });
    return sums;
}

// The threads of a block have stored a part of its sum each.
std::vector<unsigned> addedUp(const std::vector<unsigned>& ofThreads) {
    std::vector<unsigned> sums(ofThreads.size() / kBlock);
    for (std::size_t i = 0; i < ofThreads.size(); ++i) sums[i / kBlock] += ofThreads[i];
    return sums;
}

// CPU reference of oneWarp: the sum of the words that each lane reads.
std::vector<unsigned> sumsOfLanes(const InPages& placeOf, unsigned rounds, unsigned seed) {
    std::vector<unsigned> sums(kWarp);
    for (unsigned round = 0; round < rounds; ++round) {
        for (unsigned lane = 0; lane < kWarp; ++lane)
            sums[lane] += lab::mixedNumber(kSectorWords * placeOf(round, lane), seed);
    }
    return sums;
}

struct Bus {
    unsigned bits, channelBits;  // data lines, of the whole bus and of one channel
    double hertz;                // clocks per second
    unsigned channels() const { return bits / channelBits; }
};

// Prints the row `bus`: what the bus carries, how many channels carry `wanted` bytes per second,
// and how many banks keep a channel busy if each of them begins an access every `cycle`
// nanoseconds.
void explain(lab::Exercise& exercise, const Bus& bus, double wanted, double cycle) {
    const double each = busBytesPerSecond(bus.channelBits, bus.hertz);
    const double burst = 1e9 * burstSeconds(bus.hertz);
    exercise.note(lab::formatted("bus: %u bits x %u x %.0f MHz / 8 = %.1f GB/s", bus.bits,
                                 kTransfersPerClock, bus.hertz / 1e6,
                                 busBytesPerSecond(bus.bits, bus.hertz) / 1e9));
    exercise.note(lab::formatted(
        "channels: %u of %u bits, %.1f GB/s each; %.0f GB/s take %u of them", bus.channels(),
        bus.channelBits, each / 1e9, wanted / 1e9, unitsFor(wanted, each)));
    exercise.note(lab::formatted("burst: %u transfers, %u bytes, in %.2f ns", kTransfersPerBurst,
                                 burstBytes(bus.channelBits), burst));
    exercise.note(lab::formatted(
        "banks: with an access every %.0f ns, one uses %.1f %% of its bus, %u use all of it", cycle,
        std::min(100.0, 100 * burst / cycle), unitsFor(cycle, burst)));
}

int main(int argc, char** argv) {
    unsigned size, rounds, megahertz, wanted, cycle;
    Bus bus;
    lab::Exercise exercise("dramParallelism",
                           "Channels and banks of memory, and what keeps them busy.");
    exercise.option("size", &size, {1 << 21, 1 << 12}, 1, 1 << 26,
                    "sectors of 32 bytes to read; the array has at least 64 times as many");
    exercise.option("rounds", &rounds, {1024, 64}, 1, 1 << 20, "loads of oneWarp");
    // The cpu back end has no bus, so its defaults are those of a stack of HBM3.
    exercise.option("bits", &bus.bits, {0, 1024}, 0, 1 << 20,
                    "data lines of the bus; 0: those of this GPU");
    exercise.option("megahertz", &megahertz, {0, 3200}, 0, 1 << 20,
                    "clock of the bus in MHz; 0: that of this GPU");
    exercise.option("channel", &bus.channelBits, 32, 8, 1 << 20, "data lines of a channel",
                    lab::Rule::kPowerOfTwo);
    exercise.option("wanted", &wanted, 128, 1, 1 << 20,
                    "bandwidth in GB/s for which `bus` counts the channels");
    exercise.option("cycle", &cycle, 45, 1, 1 << 20, "ns between two accesses of a bank");
    exercise.parse(argc, argv);

    int device;
    CUDA_CHECK(cudaGetDevice(&device));
    if (bus.bits == 0)
        bus.bits =
            static_cast<unsigned>(lab::deviceAttribute(cudaDevAttrGlobalMemoryBusWidth, device));
    bus.hertz = megahertz > 0 ? 1e6 * megahertz
                              : 1e3 * lab::deviceAttribute(cudaDevAttrMemoryClockRate, device);
    if (bus.bits == 0 || bus.hertz == 0)
        exercise.reject("--bits=0 --megahertz=0: expected both from 1: the device does not say");
    if (bus.bits % bus.channelBits != 0)
        exercise.reject("channel", std::to_string(bus.channelBits),
                        lab::formatted("a divisor of the %u bits of the bus", bus.bits));

    constexpr auto kOnGpu = lab::OwnColumn::kOnGpu;
    exercise.columns(lab::Columns::kLadder,
                     {{"bytes", 7, "bytes"},
                      {"pages", 5, "pages"},
                      {"plain", 5, "plain", lab::OwnColumn::kPredicted},
                      {"per ns", 6, "per_ns", kOnGpu},
                      {"round", 6, "round_ns", kOnGpu},
                      {"", 0, "channels"}},
                     {"grid", "block", "percent_peak"});

    unsigned lapBits = 11;  // the smallest array has 64 rows of a bank
    while (std::size_t{1} << lapBits < std::size_t{size} * kSparse) ++lapBits;
    const std::size_t sectors = std::size_t{1} << lapBits, bytes = sectors * kSectorBytes;
    exercise.title("%s sectors of an array of %s", lab::withCommas(size).c_str(),
                   lab::inBytes(bytes).c_str());
    if (exercise.selected("bus")) explain(exercise, bus, 1e9 * wanted, cycle);
    bool anyKernel = false;
    for (const char* name : {"randomPieces", "powerOfTwo", "oddStride", "oneWarp"})
        anyKernel |= exercise.selected(name);
    if (!anyKernel) return exercise.finish();

    // CUDA treats this as a hint, for the kernels of this process.
    CUDA_CHECK(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, kSectorBytes));
    const auto seed = static_cast<unsigned>(exercise.seed());
    lab::DeviceBuffer<uint4> array(2 * sectors);  // a uint4 is half a sector
    auto* const words = reinterpret_cast<unsigned*>(array.get());
    fill<<<lab::blocksFor(8 * sectors, kBlock), kBlock>>>(words, 8 * sectors, seed);
    CUDA_CHECK_LAUNCH();
    const unsigned grid = lab::blocksFor(2 * std::size_t{size}, kTile);
    lab::DeviceBuffer<unsigned> sums(std::size_t{grid} * kBlock);

    const auto perNs = [](double accesses, const lab::Statistics& time) {
        return time.median > 0 ? lab::Cell(1e-6 * accesses / time.median, 2) : lab::Cell();
    };
    const auto named = [&](const char* kernel, const std::string& sweep) {
        return lab::Name(kernel, exercise.parameters() + " sweep=" + sweep);
    };

    // A row of readSectors, in which an access is a piece of this many sectors.
    struct PieceSectors {
        unsigned count;
    };
    const auto row = [&](lab::Ladder& ladder, const lab::Name& name, std::size_t bytesOfRow,
                         PieceSectors piece, const lab::Cell& plain, auto placeOf) {
        const auto check = [=, &sums](const lab::Statistics& time) -> lab::Finding {
            return {lab::mismatch(addedUp(sums.toHost()), sumsOfBlocks(size, seed, placeOf)),
                    {bytesOfRow, "", plain, perNs(lab::blocksFor(size, piece.count), time), "",
                     bus.channels()}};
        };
        ladder.rung(name, grid, kBlock, lab::bytes(1.0 * size * kSectorBytes), check, [&, placeOf] {
            readSectors<<<grid, kBlock>>>(array.get(), size, placeOf, sums.get());
        });
    };

    lab::Ladder pieces(exercise, sums);
    const auto random = [&](PieceSectors piece, auto placeOf) {
        const std::size_t bytesOfPiece = piece.count * kSectorBytes;
        const std::string sweep = "piece piece=" + std::to_string(bytesOfPiece);
        row(pieces, named("randomPieces", sweep), bytesOfPiece, piece, "", placeOf);
    };
    random(PieceSectors{1}, RandomPieces<1>(sectors));
    random(PieceSectors{2}, RandomPieces<2>(sectors));
    random(PieceSectors{4}, RandomPieces<4>(sectors));
    random(PieceSectors{8}, RandomPieces<8>(sectors));

    for (const std::size_t power : {2 << 10, 8 << 10, 32 << 10, 128 << 10}) {
        lab::Ladder pair(exercise, sums);
        const auto strided = [&](const char* kernel, auto placeOf) {
            const std::size_t stride = placeOf.stride * kSectorBytes;
            row(pair, named(kernel, std::to_string(power)), stride, PieceSectors{1},
                channelsInPlainOrder(stride, bus.channels(), kPlainWidth), placeOf);
        };
        strided("powerOfTwo", PowerOfTwoStride{power / kSectorBytes, lapBits});
        strided("oddStride", OddStride{power / kSectorBytes + 1, lapBits});
    }

    const auto inPages = [&](const char* sweep, std::size_t pageBytes) {
        lab::Ladder ladder(exercise, sums);
        const auto pageSectors = static_cast<unsigned>(pageBytes / kSectorBytes);
        for (unsigned pages = 1; pages <= kWarp; pages *= 2) {
            const InPages placeOf(pages, pageSectors, sectors);
            const double loads = 1.0 * rounds * kWarp;
            const auto check = [=, &sums](const lab::Statistics& time) -> lab::Finding {
                const double ns = 1e6 * time.median / rounds;
                return {lab::mismatch(sums.toHost(kWarp), sumsOfLanes(placeOf, rounds, seed)),
                        {pageBytes, pages, "", perNs(loads, time),
                         ns > 0 ? lab::Cell(ns, 1) : lab::Cell(), bus.channels()}};
            };
            ladder.rung(
                named("oneWarp", sweep), 1, kWarp, lab::bytes(loads * kSectorBytes), check,
                [=, &sums] { oneWarp<<<1, kWarp>>>(words, placeOf, rounds, 0, sums.get()); });
        }
    };
    inPages("row", kRowBytes);
    inPages("page", std::min(kPageBytes, bytes / 64));
    return exercise.finish();
}
