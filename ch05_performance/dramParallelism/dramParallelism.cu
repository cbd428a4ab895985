// Memory is fast because it is many memories: channels, each with a bus of its own, and banks
// behind each bus. A bus is only busy if enough accesses wait for different banks of it.
//
//   1 bus           no kernel: what a bus carries, and what keeps it busy, computed
//   2 randomPieces  pieces of 32, 64, 128 and 256 bytes, which lie anywhere
//   3 powerOfTwo    single sectors of 32 bytes, a power of two apart
//   4 oddStride     the same, one sector farther apart
//   5 oneWarp       a single warp: 32 sectors in 1, 2, 4 ... 32 pages, then the next 32
//
// Rows 2 to 4 read equally many sectors of the same array, rows 3 and 4 also from the same pages at
// the same pace. L2 is told to ask for no more than the sectors.
//
//   bytes   of a piece; from sector to sector; of a page: of the memory (a row of a bank), or of
//           the translation of addresses
//   pages   from which the lanes of a warp read in a round
//   plain   channels that a lap uses if each has 256 bytes of memory, and the next the next 256
//   per ns  accesses (pieces, sectors) in a nanosecond
//   round   nanoseconds from one load of the warp to the next
//   GB/s    of the sectors; the speedup begins anew with each sweep, and with each pair of strides
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
constexpr unsigned kSparse = 64;         // the array has so many sectors for each that is read
constexpr std::size_t kRowBytes = 1024;  // a page of the memory: what a bank opens at a time
constexpr std::size_t kPageBytes = 2048 * 1024;  // of large allocations, with one translation
constexpr unsigned kPlainWidth = 256;  // bytes of a channel, then the next: GPUs up to GT200

__global__ void fill(unsigned* array, std::size_t words, unsigned seed) {
    const std::size_t word = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (word < words) array[word] = lab::mixedNumber(word, seed);
}

// Two lanes read a sector. A thread asks for several halves before it adds anything up, so that
// many loads are in flight: it is the memory that limits, and not its latency.
template <typename PlaceOf>
__global__ void readSectors(const uint4* halves, unsigned sectors, PlaceOf placeOf,
                            unsigned* sums) {
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
    sums[blockIdx.x * kBlock + threadIdx.x] = sum;
}

// One warp, each lane one word of a sector of its own. No load begins before the last one is there:
// its address contains what that has brought, of which `none`, a 0 that the compiler does not know,
// leaves nothing. The rest of the address is computed meanwhile.
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

// CPU reference of readSectors: what each thread adds up, of as many blocks as that takes.
template <typename PlaceOf>
std::vector<unsigned> sumsOfThreads(unsigned sectors, unsigned seed, PlaceOf placeOf) {
    const std::size_t halves = 2 * std::size_t{sectors}, blocks = (halves + kTile - 1) / kTile;
    std::vector<unsigned> sums = lab::hostVector<unsigned>(blocks * kBlock);
    lab::parallelFor(blocks, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t half = begin * kTile; half < std::min(halves, end * kTile); ++half) {
            const std::size_t first =
                kSectorWords * placeOf(static_cast<unsigned>(half / 2)) + 4 * (half % 2);
            for (std::size_t word = first; word < first + 4; ++word)
                sums[half / kTile * kBlock + half % kBlock] += lab::mixedNumber(word, seed);
        }
    });
    return sums;
}

// CPU reference of oneWarp.
std::vector<unsigned> sumsOfLanes(const InPages& placeOf, unsigned rounds, unsigned seed) {
    std::vector<unsigned> sums(kWarp);
    for (unsigned round = 0; round < rounds; ++round) {
        for (unsigned lane = 0; lane < kWarp; ++lane)
            sums[lane] += lab::mixedNumber(kSectorWords * placeOf(round, lane), seed);
    }
    return sums;
}

// Of the bus: data lines, those of one channel, clocks per second.
struct Bus {
    unsigned bits, channelBits;
    double hertz;
    unsigned channels() const { return bits / channelBits; }
};

// What the bus carries, how much of that is `wanted` (bytes per second), and how many banks keep it
// busy if each begins an access every `cycle` nanoseconds.
void explain(lab::Exercise& exercise, const Bus& bus, double wanted, double cycle) {
    const double each = busBytesPerSecond(bus.channelBits, bus.hertz);
    const double burst = 1e9 * burstSeconds(bus.hertz);
    exercise.note(lab::formatted("bus: %u bits x %u x %.0f MHz / 8 = %.1f GB/s", bus.bits,
                                 kTransfersPerClock, bus.hertz / 1e6,
                                 busBytesPerSecond(bus.bits, bus.hertz) / 1e9));
    exercise.note(lab::formatted(
        "channels: %u of %u bits, %.1f GB/s each; %u of them for %.0f GB/s", bus.channels(),
        bus.channelBits, each / 1e9, unitsFor(wanted, each), wanted / 1e9));
    exercise.note(lab::formatted("burst: %u transfers, %u bytes, in %.2f ns", kTransfersPerBurst,
                                 burstBytes(bus.channelBits), burst));
    exercise.note(lab::formatted(
        "banks: one with an access every %.0f ns uses %.1f %% of its bus; %u use all of it", cycle,
        std::min(100.0, 100 * burst / cycle), unitsFor(cycle, burst)));
}

int main(int argc, char** argv) {
    unsigned size, rounds, megahertz, wanted, cycle;
    Bus bus;
    lab::Exercise exercise("dramParallelism", "Channels and banks of memory, and what fills them.");
    exercise.option("size", &size, {1 << 21, 1 << 12}, 1, 1 << 26,
                    "sectors of 32 bytes to read, of an array of 64 times as many or more");
    exercise.option("rounds", &rounds, {1024, 64}, 1, 1 << 20, "loads of the one warp");
    // An emulation has no bus: there, that of a stack of HBM3.
    exercise.option("bits", &bus.bits, {0, 1024}, 0, 1 << 20, "data lines of the bus; 0: as it is");
    exercise.option("megahertz", &megahertz, {0, 3200}, 0, 1 << 20,
                    "clock of the bus; 0: as it is");
    exercise.option("channel", &bus.channelBits, 32, 8, 1 << 20, "data lines of a channel",
                    lab::Rule::kPowerOfTwo);
    exercise.option("wanted", &wanted, 128, 1, 1 << 20, "GB/s for which channels are counted");
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

    unsigned lapBits = 11;  // the least has 64 pages of the memory
    while (std::size_t{1} << lapBits < std::size_t{size} * kSparse) ++lapBits;
    const std::size_t sectors = std::size_t{1} << lapBits, bytes = sectors * kSectorBytes;
    exercise.title("%s sectors of an array of %s", lab::withCommas(size).c_str(),
                   lab::inBytes(bytes).c_str());
    if (exercise.selected("bus")) explain(exercise, bus, 1e9 * wanted, cycle);
    bool anyKernel = false;
    for (const char* name : {"randomPieces", "powerOfTwo", "oddStride", "oneWarp"})
        anyKernel |= exercise.selected(name);
    if (!anyKernel) return exercise.finish();

    // A hint, for the kernels of this process.
    CUDA_CHECK(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, kSectorBytes));
    const auto seed = static_cast<unsigned>(exercise.seed());
    lab::DeviceBuffer<uint4> array(2 * sectors);  // half a sector each
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

    // A row of readSectors. An access is a piece of so many sectors.
    struct PieceSectors {
        unsigned count;
    };
    const auto row = [&](lab::Ladder& ladder, const lab::Name& name, std::size_t bytesOfRow,
                         PieceSectors piece, const lab::Cell& plain, auto placeOf) {
        const auto check = [=, &sums](const lab::Statistics& time) -> lab::Finding {
            return {lab::mismatch(sums, sumsOfThreads(size, seed, placeOf)),
                    {bytesOfRow, "", plain, perNs(lab::blocksFor(size, piece.count), time), "",
                     bus.channels()}};
        };
        ladder.rung(name, grid, kBlock, lab::bytes(1.0 * size * kSectorBytes), check, [&, placeOf] {
            readSectors<<<grid, kBlock>>>(array.get(), size, placeOf, sums.get());
        });
    };

    lab::Ladder pieces(exercise, sums);
    const auto random = [&](PieceSectors piece, auto placeOf) {
        row(pieces, named("randomPieces", "piece"), piece.count * kSectorBytes, piece, "", placeOf);
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
