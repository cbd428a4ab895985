// With a shuffle, a lane reads a register of another lane of its warp, without memory and without a
// barrier. Six patterns of which lane reads which, each checked lane by lane, and a prefix sum:
//
//   1 broadcast      all lanes read lane --by
//   2 shiftUp        a lane reads the lane --by below it: values move up
//   3 shiftDown      a lane reads the lane --by above it: values move down
//   4 rotate         the same, and the last lanes read the first ones
//   5 butterfly      lanes whose numbers differ in the bits of --by read each other
//   6 swapElements   lanes with arrays in registers exchange different elements
//   7 prefixShared   each lane gets the sum of all lanes up to its own, through shared memory
//   8 prefixShuffle  the same without shared memory
//
// All kernels but swapElements also run in segments of 16 and of 8 lanes. Each segment is like a
// small warp of its own.
//
//   0123 ... V  the lanes of the first warp (V is 31). Below each is the lane that it read. The
//               value says so, because the lowest bits of an element are its place in the warp
//   own         lanes of that warp that end with their own value
//
//   ./lab run warpShuffle -- --by=3
//   ./lab test warpShuffle
//   ./lab profile warpShuffle
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target warpShuffle
//   build/ch04_memory/warpShuffle --by=3
//   ncu build/ch04_memory/warpShuffle --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch04_memory/warpShuffle/warpShuffle.cu
//       common/*.cpp common/*.cu -o build/warpShuffle

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "lab.cuh"

constexpr unsigned kWarp = 32;
constexpr unsigned kBlock = 128;
constexpr unsigned kArray = 4;  // elements that a thread of swapElements has
constexpr int kNobodys = -1;    // the value of lanes past the end of the array

// The last warp may have lanes past the end of the array. They have nothing to load or to store,
// but they must come to the shuffle, because its mask names all 32 lanes. If a lane that the mask
// names does not come, the result is undefined. So the tests of `i` stand before the shuffle and
// after it, never around it.

__device__ std::size_t globalThread() {
    return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

__device__ int load(const int* in, std::size_t i, std::size_t n) {
    return i < n ? in[i] : kNobodys;
}

// A shuffle takes the number of the source modulo `width`, so each segment has a lane of that
// number.
__global__ void broadcast(const int* in, int* out, std::size_t n, unsigned by, unsigned width) {
    const std::size_t i = globalThread();
    const int own = load(in, i, n);
    const int got = __shfl_sync(lab::kAllLanes, own, by, width);
    if (i < n) out[i] = got;
}

// The first `by` lanes of a segment have no lane so far below them, and keep their own value. No
// zero comes in.
__global__ void shiftUp(const int* in, int* out, std::size_t n, unsigned by, unsigned width) {
    const std::size_t i = globalThread();
    const int own = load(in, i, n);
    const int got = __shfl_up_sync(lab::kAllLanes, own, by, width);
    if (i < n) out[i] = got;
}

// The last `by` lanes of a segment keep their own value. (A tree of additions ends in the first
// lane, so it does not matter there.)
__global__ void shiftDown(const int* in, int* out, std::size_t n, unsigned by, unsigned width) {
    const std::size_t i = globalThread();
    const int own = load(in, i, n);
    const int got = __shfl_down_sync(lab::kAllLanes, own, by, width);
    if (i < n) out[i] = got;
}

// Each lane may name a source of its own. Numbers beyond the end of a segment go on at its
// beginning, so a rotation needs no remainder.
__global__ void rotate(const int* in, int* out, std::size_t n, unsigned by, unsigned width) {
    const std::size_t i = globalThread();
    const int own = load(in, i, n);
    const int got = __shfl_sync(lab::kAllLanes, own, threadIdx.x + by, width);
    if (i < n) out[i] = got;
}

// Pairs of lanes read each other. If each lane adds the value that it gets, with by = 1, 2, 4, 8
// and 16 one after the other, every lane ends with the sum of the warp.
__global__ void butterfly(const int* in, int* out, std::size_t n, unsigned by, unsigned width) {
    const std::size_t i = globalThread();
    const int own = load(in, i, n);
    const int got = __shfl_xor_sync(lab::kAllLanes, own, by, width);
    if (i < n) out[i] = got;
}

// The lower lane of a pair gives its last element, and gets the first element of the other lane. A
// lane cannot compute the number of the register that it gives, but it can choose between two
// values. (An array whose index is known only at run time may end up in local memory.)
__global__ void swapElements(const int* in, int* out, std::size_t n, unsigned by) {
    const unsigned lane = threadIdx.x % kWarp;
    const std::size_t first = globalThread() / kWarp * kWarp * kArray + lane;
    int array[kArray];
#pragma unroll
    for (unsigned k = 0; k < kArray; ++k) array[k] = load(in, first + k * kWarp, n);

    const bool upper = (lane ^ by) < lane;
    const int give = upper ? array[0] : array[kArray - 1];
    const int got = __shfl_xor_sync(lab::kAllLanes, give, by);
    if (upper) {
        array[0] = got;
    } else {
        array[kArray - 1] = got;
    }

#pragma unroll
    for (unsigned k = 0; k < kArray; ++k) {
        if (first + k * kWarp < n) out[first + k * kWarp] = array[k];
    }
}

// Prefix sums: each lane gets the sum of its segment up to its own value. Sums are modulo 2^32. In
// each step a lane adds the sum of the lane `by` below it, which covers `by` lanes. Still wrong: a
// step takes a store, a load and two barriers of the warp, and the block needs shared memory.
__global__ void prefixShared(const int* in, int* out, std::size_t n, unsigned /*by*/,
                             unsigned width) {
    __shared__ unsigned sums[kBlock];
    const std::size_t i = globalThread();
    unsigned sum = static_cast<unsigned>(load(in, i, n));
    for (unsigned by = 1; by < width; by *= 2) {
        sums[threadIdx.x] = sum;
        __syncwarp();
        if (threadIdx.x % width >= by) sum += sums[threadIdx.x - by];
        __syncwarp();  // all lanes have read before one of them stores again
    }
    if (i < n) out[i] = static_cast<int>(sum);
}

// The sums stay in registers. All lanes come to the shuffle. Lanes that have no lane so far below
// them get their own sum, and do not add it.
__global__ void prefixShuffle(const int* in, int* out, std::size_t n, unsigned /*by*/,
                              unsigned width) {
    const std::size_t i = globalThread();
    unsigned sum = static_cast<unsigned>(load(in, i, n));
    for (unsigned by = 1; by < width; by *= 2) {
        const unsigned below = __shfl_up_sync(lab::kAllLanes, sum, by, width);
        if (threadIdx.x % width >= by) sum += below;
    }
    if (i < n) out[i] = static_cast<int>(sum);
}

// ---- CPU reference ----

int elementOf(const std::vector<int>& in, std::size_t i) {
    return i < in.size() ? in[i] : kNobodys;
}

// The values that the lanes get if lane l of each warp reads lane source(l).
template <typename Source>
std::vector<int> shuffled(const std::vector<int>& in, Source source) {
    std::vector<int> out(in.size());
    lab::parallelFor(in.size(), 1 << 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t lane = i % kWarp;
            out[i] = elementOf(in, i - lane + source(static_cast<unsigned>(lane)));
        }
    });
    return out;
}

// Prefix sums of segments, modulo 2^32.
std::vector<int> prefixSums(const std::vector<int>& in, unsigned width) {
    std::vector<int> out(in.size());
    unsigned sum = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
        sum = (i % width == 0 ? 0 : sum) + static_cast<unsigned>(in[i]);
        out[i] = static_cast<int>(sum);
    }
    return out;
}

// The result of swapElements. Element k of lane l is in[warp][k][l].
std::vector<int> swapped(const std::vector<int>& in, unsigned by) {
    std::vector<int> out = in;
    for (std::size_t i = 0; i < in.size(); ++i) {
        const std::size_t lane = i % kWarp, k = i / kWarp % kArray, other = lane ^ by;
        constexpr std::size_t kBetween = (kArray - 1) * kWarp;  // first and last element
        if (k == 0 && other < lane) out[i] = elementOf(in, i + kBetween - lane + other);
        if (k == kArray - 1 && other >= lane)
            out[i] = elementOf(in, other == lane ? i : i - kBetween - lane + other);
    }
    return out;
}

// ---- what is printed ----

// Each element has a place in a warp: register and lane.
constexpr unsigned kPlaces = kArray * kWarp;

std::string wrongLane(const std::vector<int>& out, const std::vector<int>& expected,
                      unsigned registers) {
    const std::size_t i =
        lab::firstWrong(out.size(), [&](std::size_t j) { return out[j] != expected[j]; });
    if (i == out.size()) return "";
    const std::size_t warp = i / (registers * kWarp), k = i / kWarp % registers;
    const std::string which = registers > 1 ? lab::formatted(", register %zu", k) : "";
    return lab::formatted("warp %zu, lane %zu%s: ", warp, i % kWarp, which.c_str()) +
           lab::describeMismatch(i, out[i], expected[i]);
}

// The lanes that the first warp's values came from, a digit for each. A minus is a lane past the
// end.
lab::Finding finding(const std::vector<int>& in, const std::vector<int>& out,
                     const std::vector<int>& expected, unsigned width) {
    static const char kDigits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUV";
    std::string sources;
    unsigned own = 0;
    for (std::size_t lane = 0; lane < std::min<std::size_t>(kWarp, in.size()); ++lane) {
        sources += out[lane] < 0 ? '-' : kDigits[out[lane] % kWarp];
        own += out[lane] == in[lane];
    }
    return {wrongLane(out, expected, 1), {width, sources, own}};
}

// The registers of the first lanes. lane:element says where each value was before.
std::string arraysOfLanes(const std::vector<int>& out) {
    std::string text = "swapElements: where each value was before, as lane:element";
    for (unsigned k = 0; k < kArray; ++k) {
        text += lab::formatted("\n  element %u of lanes 0 to 7 ", k);
        for (unsigned lane = 0; lane < 8; ++lane) {
            const int value = elementOf(out, k * kWarp + lane);
            text += value < 0 ? "    -"
                              : lab::formatted("  %u:%u", value % kWarp, value / kWarp % kArray);
        }
    }
    return text;
}

int main(int argc, char** argv) {
    std::size_t size;
    unsigned by;
    lab::Exercise exercise("warpShuffle", "Lanes of a warp read one another's registers.");
    exercise.option("size", &size, {1 << 22, 1 << 14}, 1, lab::kMaxSize, "number of integers");
    exercise.option("by", &by, 2, 0, kWarp - 1, "lane, distance or bits of the shuffles");
    exercise.parse(argc, argv);
    exercise.columns(lab::Columns::kTimed,
                     {{"width", 5, "width"},
                      {"0123456789ABCDEFGHIJKLMNOPQRSTUV", 32, "sources"},
                      {"own", 3, "own"}},
                     {"grid", "block", "median_ms"});

    std::vector<int> input = lab::randomInts(size, exercise.seed(), 0, (1 << 24) - 1);
    for (std::size_t i = 0; i < size; ++i)
        input[i] = input[i] * static_cast<int>(kPlaces) + static_cast<int>(i % kPlaces);
    const lab::DeviceBuffer<int> source(input);
    lab::DeviceBuffer<int> target(size);
    const int* const in = source.get();
    int* const out = target.get();
    exercise.title("%s ints (%s), by %u", lab::withCommas(size).c_str(),
                   lab::inBytes(source.bytes()).c_str(), by);

    lab::Ladder ladder(exercise, target);
    // Runs one kernel in segments of each width. `sourceOf` is its rule. It takes a lane, the first
    // lane of the segment, and the width of the segments.
    const auto rungs = [&](const char* name, auto* kernel, auto sourceOf) {
        const unsigned grid = lab::blocksFor(size, kBlock);
        for (const unsigned width : {32u, 16u, 8u}) {
            const auto check = [&] {
                const std::vector<int> expected = shuffled(input, [&](unsigned lane) {
                    return sourceOf(lane, lane / width * width, width);
                });
                return finding(input, target.toHost(), expected, width);
            };
            ladder.rung(name, grid, kBlock, lab::kNoRate, check,
                        [&] { kernel<<<grid, kBlock>>>(in, out, size, by, width); });
        }
    };
    rungs("broadcast", broadcast,
          [=](unsigned /*lane*/, unsigned first, unsigned width) { return first + by % width; });
    rungs("shiftUp", shiftUp, [=](unsigned lane, unsigned first, unsigned /*width*/) {
        return lane >= first + by ? lane - by : lane;
    });
    rungs("shiftDown", shiftDown, [=](unsigned lane, unsigned first, unsigned width) {
        return lane + by < first + width ? lane + by : lane;
    });
    rungs("rotate", rotate, [=](unsigned lane, unsigned first, unsigned width) {
        return first + (lane - first + by) % width;
    });
    // A lane can read an earlier segment, but not a later one.
    rungs("butterfly", butterfly, [=](unsigned lane, unsigned first, unsigned width) {
        return (lane ^ by) < first + width ? lane ^ by : lane;
    });

    const unsigned grid = lab::blocksFor(size, kBlock * kArray);
    std::string arrays;
    const auto isSwapped = [&]() -> lab::Finding {
        const std::vector<int> result = target.toHost();
        arrays = arraysOfLanes(result);
        return {wrongLane(result, swapped(input, by), kArray), {kWarp}};
    };
    ladder.rung("swapElements", grid, kBlock, lab::kNoRate, isSwapped,
                [&] { swapElements<<<grid, kBlock>>>(in, out, size, by); });

    const auto prefixRungs = [&](const char* name, auto* kernel) {
        const unsigned blocks = lab::blocksFor(size, kBlock);
        for (const unsigned width : {32u, 16u, 8u}) {
            const auto check = [&]() -> lab::Finding {
                return {wrongLane(target.toHost(), prefixSums(input, width), 1), {width}};
            };
            const std::string segments = " segments=" + std::to_string(width);
            ladder.rung({name, exercise.parameters() + segments}, blocks, kBlock, lab::kNoRate,
                        check, [&] { kernel<<<blocks, kBlock>>>(in, out, size, by, width); });
        }
    };
    prefixRungs("prefixShared", prefixShared);
    prefixRungs("prefixShuffle", prefixShuffle);
    if (!arrays.empty()) exercise.note("\n" + arrays);
    return exercise.finish();
}
