// Shared memory has 32 banks. In one wavefront, each bank delivers one word of 4 bytes, to all
// lanes that want it. If lanes want different words of one bank, the access takes several
// wavefronts. Their number follows from the addresses alone. The program predicts it, a profiler
// counts it, and the clock shows what it costs.
//
//   1 staticTile    stores and loads a tile[rows][columns] by rows or by columns, also with padding
//   2 dynamicTile   the same in dynamic shared memory, where the program computes the index
//   3 swizzledTile  no padding: each row has its columns in another order
//   4 strided       lane i loads element i * stride, of 4, 8 or 16 bytes
//
// A `square` tile has 32 x 32 integers, a `rect` tile 16 rows of 32. The rest of a row's name says
// in which order it is stored and loaded: squareRowCol by rows and by columns.
//
//   bytes        bytes of an element
//   stride       elements between two rows of the tile, or between two neighbouring lanes
//   store, load  predicted wavefronts of a warp's store and of its load (bank_conflicts.h)
//   cycles       cycles of a warp's store and load, or of its load (strided), while all warps of
//                the block are busy
//   latency      cycles of a load that waits for the load before it, in a single warp
//
// The CSV also has the wavefronts of the whole launch, store_wavefronts and load_wavefronts. A
// profiler must count the same.
//
//   ./lab run sharedBanks -- --strides=33 --kernel=stridedInt2
//   ./lab test sharedBanks
//   ./lab profile sharedBanks
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target sharedBanks
//   build/ch04_memory/sharedBanks --strides=33 --kernel=stridedInt2
//   ncu build/ch04_memory/sharedBanks --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch04_memory/sharedBanks/sharedBanks.cu
//       common/*.cpp common/*.cu -o build/sharedBanks

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "bank_conflicts.h"
#include "lab.cuh"
#include "wideElements.cuh"

constexpr unsigned kWarp = 32, kCols = 32;  // lanes of a warp, columns of a tile

using Order = unsigned;
constexpr Order kByRows = 0, kByCols = 1;

struct Place {
    unsigned row, col;
};

// The place of thread t in a tile with one element for each thread.
__host__ __device__ inline Place placeOf(unsigned t, Order order, unsigned rows) {
    return order == kByRows ? Place{t / kCols, t % kCols} : Place{t % rows, t / rows};
}

// The part that all tile kernels share. `cycles` gets the time of all rounds, on the clock of the
// SM.
struct Exchange {
    unsigned rounds;
    const int* in;
    int* out;
    long long* cycles;

    // In each round, a thread stores its number to one place of the tile, loads the number of
    // another place, and adds one.
    __device__ void run(int* to, const int* from, unsigned t) const {
        int value = in[t];
        __syncthreads();
        const long long begin = clock64();
        for (unsigned round = 0; round < rounds; ++round) {
            *to = value;
            __syncthreads();
            value = *from + 1;
            __syncthreads();  // all threads have loaded before the next round stores
        }
        if (t == 0) *cycles = clock64() - begin;
        out[t] = value;
    }
};

// The textbook's tile. Element (r, c) lies in bank (r * (32 + kPad) + c) % 32. Without padding, a
// column lies in one bank.
template <unsigned kRows, unsigned kPad, Order kWrite, Order kRead>
__global__ void staticTile(Exchange exchange) {
    __shared__ int tile[kRows][kCols + kPad];
    const unsigned t = threadIdx.y * kCols + threadIdx.x;
    const Place to = placeOf(t, kWrite, kRows), from = placeOf(t, kRead, kRows);
    exchange.run(&tile[to.row][to.col], &tile[from.row][from.col], t);
}

// The launch sets the size, and with it the padding. Rows begin `pitch` elements apart. Such an
// array has one dimension, which makes no difference to the banks.
__global__ void dynamicTile(unsigned pitch, Exchange exchange) {
    extern __shared__ int elements[];
    const unsigned t = threadIdx.y * kCols + threadIdx.x;
    const Place to = placeOf(t, kByRows, blockDim.y), from = placeOf(t, kByCols, blockDim.y);
    exchange.run(&elements[to.row * pitch + to.col], &elements[from.row * pitch + from.col], t);
}

// No padding: each row has its columns in an order of its own. An exclusive or swaps columns in
// pairs, so no element is lost. A warp loads 32 / rows neighbouring columns at once. The factor
// leaves the lowest bits of the column as they are, so these columns never share a bank.
__host__ __device__ inline Place swizzled(Place place, unsigned rows) {
    return {place.row, place.col ^ (place.row * (kWarp / rows))};
}

template <unsigned kRows>
__global__ void swizzledTile(Exchange exchange) {
    __shared__ int tile[kRows][kCols];
    const unsigned t = threadIdx.y * kCols + threadIdx.x;
    const Place to = swizzled(placeOf(t, kByRows, kRows), kRows);
    const Place from = swizzled(placeOf(t, kByCols, kRows), kRows);
    exchange.run(&tile[to.row][to.col], &tile[from.row][from.col], t);
}

// Enough for all strides and rounds. With int4 it is just below 48 KiB, the default limit of a
// block.
constexpr unsigned kMostStride = 64, kMostRounds = 1024;
constexpr unsigned kElements = (kWarp - 1) * (kMostStride + 1) + kMostRounds;
constexpr unsigned kStridedBlock = 1024;  // threads

// Lane i begins at element i * stride and goes on by one element in each round. All lanes do, so
// they move to other banks together. Element k holds k + 1, the number of the next element.
template <typename Element>
__global__ void __launch_bounds__(kStridedBlock)
    strided(unsigned stride, unsigned rounds, int* results, long long* cycles) {
    __shared__ Element elements[kElements];
    for (unsigned i = threadIdx.x; i < kElements; i += blockDim.x) {
        const Element element = elementWith<Element>(static_cast<int>(i + 1));
        elements[i] = element;
    }
    __syncthreads();

    // Latency: each address comes from the load before it, and only the first warp loads.
    const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
    int next = static_cast<int>(lane * stride);
    const long long begin = clock64();
    if (warp == 0) {
        for (unsigned round = 0; round < rounds; ++round) {
            const Element element = elements[next];
            next = numberIn(element);
        }
    }
    __syncthreads();
    const long long middle = clock64();

    // Throughput: all warps load, and no load waits for another one. (The stride comes with the
    // launch. If the compiler knew it, it could merge several narrow loads into a wide one.)
    const unsigned first = lane * stride + warp;
    int sum = 0;
#pragma unroll 16
    for (unsigned round = 0; round < rounds; ++round) {
        const Element element = elements[first + round];
        sum += numberIn(element);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        cycles[0] = clock64() - middle;
        cycles[1] = middle - begin;
    }
    results[threadIdx.x] = next + sum;
}

// CPU reference of the tile kernels.
std::vector<int> exchanged(std::vector<int> values, unsigned rounds, Order write, Order read) {
    const auto threads = static_cast<unsigned>(values.size()), rows = threads / kCols;
    const auto at = [](Place place) { return place.row * kCols + place.col; };
    std::vector<int> tile(threads);
    for (unsigned round = 0; round < rounds; ++round) {
        for (unsigned t = 0; t < threads; ++t) tile[at(placeOf(t, write, rows))] = values[t];
        for (unsigned t = 0; t < threads; ++t) values[t] = tile[at(placeOf(t, read, rows))] + 1;
    }
    return values;
}

// CPU reference of strided: the end of a thread's chain, plus the sum of its elements.
std::vector<int> endsAndSums(unsigned threads, unsigned stride, unsigned rounds) {
    std::vector<int> results(threads);
    for (unsigned t = 0; t < threads; ++t) {
        const unsigned start = t % kWarp * stride, first = start + t / kWarp;
        const unsigned end = t < kWarp ? start + rounds : start;
        results[t] = static_cast<int>(end + rounds * (first + 1) + rounds * (rounds - 1) / 2);
    }
    return results;
}

int main(int argc, char** argv) {
    unsigned rounds, mostStride;
    lab::Exercise exercise("sharedBanks", "Bank conflicts: predicted, counted and timed.");
    // The default is odd, since an even number of transpositions changes nothing.
    exercise.option("rounds", &rounds, {1023, 7}, 1, kMostRounds, "rounds of each thread");
    exercise.option("strides", &mostStride, 4, 0, kMostStride, "strided runs with strides 0 to N");
    exercise.parse(argc, argv);
    constexpr auto kOnGpu = lab::OwnColumn::kOnGpu;
    constexpr auto kPredicted = lab::OwnColumn::kPredicted;
    exercise.columns(lab::Columns::kTimed,
                     {{"bytes", 5, "bytes"},
                      {"stride", 6, "stride"},
                      {"store", 5, "wavefronts_per_store", kPredicted},
                      {"load", 4, "wavefronts_per_load", kPredicted},
                      {"cycles", 7, "cycles", kOnGpu},
                      {"latency", 7, "latency", kOnGpu},
                      {"", 0, "store_wavefronts"},
                      {"", 0, "load_wavefronts"}},
                     {"grid", "median_ms"});
    exercise.title("%u rounds, strides of 0 to %u", rounds, mostStride);
    exercise.noteInEmulation("An emulation waits for no banks, so there are no cycles.");

    const dim3 square(kCols, 32), rect(kCols, 16), line(kStridedBlock);
    const std::vector<int> input = lab::randomInts(line.x, exercise.seed(), -100, 100);
    const lab::DeviceBuffer<int> source(input);
    lab::DeviceBuffer<int> results(line.x);
    lab::DeviceBuffer<long long> cycles(2);
    lab::Ladder ladder(exercise, results);
    // The cycles of a round for each of `count` warps. `taken` is the time of all rounds.
    const auto perRound = [&](const lab::Statistics& time, long long taken, unsigned count) {
        if (time.count == 0) return lab::Cell();
        return lab::Cell(static_cast<double>(taken) / rounds / count, 2);
    };

    struct Tile {
        const char* name;
        dim3 block;  // has as many rows as the tile
        unsigned pitch = kCols;
        Order writeOrder = kByRows, readOrder = kByRows;
        bool isSwizzled = false;

        Tile& ofPitch(unsigned elements) { return pitch = elements, *this; }
        Tile& written(Order order) { return writeOrder = order, *this; }
        Tile& read(Order order) { return readOrder = order, *this; }
        Tile& swizzled() { return isSwizzled = true, *this; }
    };
    const auto tile = [&](const Tile& of, const lab::Launch& launch) {
        const unsigned rows = of.block.y;  // one warp for each row
        const auto wavefronts = [&](banks::Access access, Order order) {
            return banks::wavefrontsOfBlock(rows * kCols, sizeof(int), access, [&](unsigned t) {
                const Place place = placeOf(t, order, rows);
                const unsigned col = of.isSwizzled ? swizzled(place, rows).col : place.col;
                return place.row * of.pitch + col;
            });
        };
        const auto check = [&](const lab::Statistics& time) -> lab::Finding {
            const std::vector<int> start(input.begin(), input.begin() + rows * kCols);
            const std::vector<int> expected = exchanged(start, rounds, of.writeOrder, of.readOrder);
            const unsigned stores = wavefronts(banks::Access::kStore, of.writeOrder);
            const unsigned loads = wavefronts(banks::Access::kLoad, of.readOrder);
            const std::string wrong = lab::mismatch(results.toHost(expected.size()), expected);
            const long long taken = cycles.toHost(1)[0];
            return {wrong,
                    {sizeof(int), of.pitch, stores / rows, loads / rows,
                     perRound(time, taken, rows), lab::Cell(), rounds * stores, rounds * loads}};
        };
        ladder.rung(of.name, 1, of.block, lab::kNoRate, check, launch);
    };
    const Exchange run = {rounds, source.get(), results.get(), cycles.get()};
    tile(Tile{"squareRowRow", square}.written(kByRows).read(kByRows),
         [&] { staticTile<32, 0, kByRows, kByRows><<<1, square>>>(run); });
    tile(Tile{"squareColCol", square}.written(kByCols).read(kByCols),
         [&] { staticTile<32, 0, kByCols, kByCols><<<1, square>>>(run); });
    tile(Tile{"squareColRow", square}.written(kByCols).read(kByRows),
         [&] { staticTile<32, 0, kByCols, kByRows><<<1, square>>>(run); });
    tile(Tile{"squareRowCol", square}.written(kByRows).read(kByCols),
         [&] { staticTile<32, 0, kByRows, kByCols><<<1, square>>>(run); });
    tile(Tile{"squareRowColDynamic", square}.written(kByRows).read(kByCols),
         [&] { dynamicTile<<<1, square, 32 * 32 * sizeof(int)>>>(32, run); });
    tile(Tile{"squareRowColPad1", square}.ofPitch(33).written(kByRows).read(kByCols),
         [&] { staticTile<32, 1, kByRows, kByCols><<<1, square>>>(run); });
    tile(Tile{"squareRowColPad2", square}.ofPitch(34).written(kByRows).read(kByCols),
         [&] { staticTile<32, 2, kByRows, kByCols><<<1, square>>>(run); });
    tile(Tile{"squareRowColDynamicPad1", square}.ofPitch(33).written(kByRows).read(kByCols),
         [&] { dynamicTile<<<1, square, 32 * 33 * sizeof(int)>>>(33, run); });
    tile(Tile{"squareRowColSwizzled", square}.written(kByRows).read(kByCols).swizzled(),
         [&] { swizzledTile<32><<<1, square>>>(run); });
    tile(Tile{"rectRowCol", rect}.written(kByRows).read(kByCols),
         [&] { staticTile<16, 0, kByRows, kByCols><<<1, rect>>>(run); });
    tile(Tile{"rectRowColPad1", rect}.ofPitch(33).written(kByRows).read(kByCols),
         [&] { staticTile<16, 1, kByRows, kByCols><<<1, rect>>>(run); });
    tile(Tile{"rectRowColPad2", rect}.ofPitch(34).written(kByRows).read(kByCols),
         [&] { staticTile<16, 2, kByRows, kByCols><<<1, rect>>>(run); });
    tile(Tile{"rectRowColSwizzled", rect}.written(kByRows).read(kByCols).swizzled(),
         [&] { swizzledTile<16><<<1, rect>>>(run); });

    const auto sweep = [&](const std::string& name, unsigned bytes, auto* kernel) {
        for (unsigned stride = 0; stride <= mostStride; ++stride) {
            const auto check = [&](const lab::Statistics& time) -> lab::Finding {
                const unsigned warps = line.x / kWarp;
                const unsigned load =
                    banks::wavefrontsOfBlock(kWarp, bytes, banks::Access::kLoad,
                                             [&](unsigned lane) { return lane * stride; });
                const unsigned fill = banks::wavefrontsOfBlock(
                    kElements, bytes, banks::Access::kStore, [](unsigned i) { return i; });
                const std::vector<int> expected = endsAndSums(line.x, stride, rounds);
                const std::string wrong = lab::mismatch(results.toHost(), expected);
                const std::vector<long long> taken = cycles.toHost();
                return {wrong,
                        {bytes, stride, lab::Cell(), load, perRound(time, taken[0], warps),
                         perRound(time, taken[1], 1), fill, rounds * load * (warps + 1)}};
            };
            const std::string of = exercise.parameters() + " stride=" + std::to_string(stride);
            ladder.rung({name, of}, 1, line, lab::kNoRate, check,
                        [&] { kernel<<<1, line>>>(stride, rounds, run.out, run.cycles); });
        }
    };
    sweep("stridedInt", sizeof(int), strided<int>);
    sweep("stridedInt2", sizeof(int2), strided<int2>);
    sweep("stridedInt4", sizeof(int4), strided<int4>);
    return exercise.finish();
}
