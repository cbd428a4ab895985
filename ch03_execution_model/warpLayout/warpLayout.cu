// The hardware numbers the threads of a block with x fastest, then y, then z, and makes a warp of
// every 32 threads in that order. If the size of the block is no multiple of 32, the last warp has
// lanes without a thread. It still takes registers for all 32.
//
//   1 observeWarps  every thread asks the hardware for its lane and for the threads of its warp
//   2 lineUpWarps   every thread computes its warp and its lane, and each warp writes to a row of
//                   its own
//
// Both run for the block of --block, and the program draws a picture of that block. observeWarps
// also runs for a list of other shapes (not with --profile). --kernel selects rows:
// --kernel=lineUp, --kernel=2D, --kernel=16x16.
// The column `check` compares the observed and the computed warps with the rule, in wrongPlace()
// and wrongCell() below.
//
//   ./lab run warpLayout -- --block=40x2
//   ./lab test warpLayout
//   ./lab profile warpLayout -- --block=40x2
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target warpLayout
//   build/ch03_execution_model/warpLayout --block=40x2
//   ncu build/ch03_execution_model/warpLayout --block=40x2 --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch03_execution_model/warpLayout/warpLayout.cu
//       common/*.cpp common/*.cu -o build/warpLayout
//
// ncu --metrics smsp__thread_inst_executed_per_inst_executed.ratio counts how many of the 32 lanes
// execute an instruction, on average. It is threads / warps of the table below.

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "../parseBlock.h"
#include "lab.cuh"

constexpr unsigned kWarp = 32;  // lanes of a warp

// A thread finds out these values about itself.
struct Place {
    unsigned first;  // number of the thread in the first lane of its warp: it names the warp
    unsigned lane;
    unsigned members;  // has a bit for each lane of the warp that has a thread
};

// Returns the number of this thread in its block, with x fastest. In this order, threads become
// warps.
__device__ unsigned threadNumber() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

// Nothing here computes a warp or a lane. The ballot asks all lanes, and the lanes without a thread
// do not answer. Then the first lane tells the whole warp the number of its thread. Threads that
// get the same number are in the same warp.
__global__ void observeWarps(Place* places) {
    const unsigned thread = threadNumber();
    const unsigned members = __ballot_sync(lab::kAllLanes, 1);
    const int firstLane = __ffs(members) - 1;
    const unsigned first = __shfl_sync(members, thread, firstLane);
    places[thread] = {first, lab::laneid(), members};
}

// Packs a thread's coordinates into one word.
__host__ __device__ inline unsigned packed(unsigned x, unsigned y, unsigned z) {
    return x | y << 10 | z << 20;
}

// The table has a row for each warp, and a row begins `pitch` elements after the one before. Lane l
// of warp w writes its coordinates to column l of row w. So each warp writes to one piece of
// memory, whatever the shape of the block.
__global__ void lineUpWarps(unsigned* table, unsigned pitch) {
    const unsigned thread = threadNumber();
    const unsigned warp = thread / kWarp, lane = thread % kWarp;
    table[warp * pitch + lane] = packed(threadIdx.x, threadIdx.y, threadIdx.z);
}

// Maps each warp to its threads, in the order of their numbers. The number of its first thread
// stands for a warp.
using Warps = std::map<unsigned, std::vector<unsigned>>;

Warps warpsOf(const std::vector<Place>& places) {
    Warps warps;
    for (unsigned thread = 0; thread < places.size(); ++thread)
        warps[places[thread].first].push_back(thread);
    return warps;
}

// This is the CPU reference. The rule says: divide the number of thread (x, y, z), with x fastest,
// by 32. The quotient is its warp, and the remainder is its lane. Returns the first thread that
// does not follow the rule. `places` has the order of these loops.
std::string wrongPlace(dim3 block, const std::vector<Place>& places) {
    const unsigned threads = block.x * block.y * block.z;
    std::size_t walked = 0;
    for (unsigned z = 0; z < block.z; ++z) {
        for (unsigned y = 0; y < block.y; ++y) {
            for (unsigned x = 0; x < block.x; ++x) {
                const unsigned number = (z * block.y + y) * block.x + x;
                const unsigned warp = number / kWarp, lane = number % kWarp;
                const unsigned size = std::min(kWarp, threads - warp * kWarp);
                const unsigned members = size == kWarp ? ~0u : (1u << size) - 1;
                const Place& is = places[walked++];
                if (is.first == warp * kWarp && is.lane == lane && is.members == members) continue;
                return lab::formatted(
                    "thread (%u,%u,%u) is in lane %u of the warp of thread %u with members %08x, "
                    "expected lane %u, thread %u, members %08x",
                    x, y, z, is.lane, is.first, is.members, lane, warp * kWarp, members);
            }
        }
    }
    return "";
}

constexpr unsigned kPitch = 2 * kWarp;  // the second half of each row of the table stays empty

// Returns the table that follows from the rule.
std::vector<unsigned> expectedTable(dim3 block, std::size_t cells) {
    std::vector<unsigned> table(cells, lab::poisoned<unsigned>());
    unsigned number = 0;
    for (unsigned z = 0; z < block.z; ++z) {
        for (unsigned y = 0; y < block.y; ++y) {
            for (unsigned x = 0; x < block.x; ++x, ++number)
                table[number / kWarp * kPitch + number % kWarp] = packed(x, y, z);
        }
    }
    return table;
}

// Returns which cell of the table has a wrong thread, or a thread where none belongs.
std::string wrongCell(dim3 block, const std::vector<unsigned>& table) {
    const auto text = [](unsigned cell) {
        if (lab::isPoison(cell)) return std::string("no thread");
        return lab::formatted("thread (%u,%u,%u)", cell % 1024, cell / 1024 % 1024, cell >> 20);
    };
    const std::vector<unsigned> expected = expectedTable(block, table.size());
    for (std::size_t cell = 0; cell < table.size(); ++cell) {
        if (table[cell] == expected[cell]) continue;
        return lab::formatted("row %zu, column %zu has %s, expected %s", cell / kPitch,
                              cell % kPitch, text(table[cell]).c_str(),
                              text(expected[cell]).c_str());
    }
    return "";
}

// Returns the threads in each row of the table. It leaves out cells without a thread.
Warps warpsIn(dim3 block, const std::vector<unsigned>& table) {
    Warps warps;
    for (unsigned cell = 0; cell < table.size(); ++cell) {
        const unsigned x = table[cell] % 1024, y = table[cell] / 1024 % 1024, z = table[cell] >> 20;
        if (cell % kPitch < kWarp && x < block.x && y < block.y && z < block.z)
            warps[cell / kPitch * kWarp].push_back((z * block.y + y) * block.x + x);
    }
    return warps;
}

// ---- what is printed ----

// Draws a line for each row of the block, with a digit for each thread.
std::string picture(dim3 block, const std::vector<unsigned>& numbers) {
    static const char kDigits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUV";
    std::string text;
    for (unsigned z = 0; z < block.z; ++z) {
        for (unsigned y = 0; y < block.y; ++y) {
            text += block.z > 1 ? lab::formatted("  z %-2u y %-2u  ", z, y)
                                : lab::formatted("  y %-2u  ", y);
            for (unsigned x = 0; x < block.x; ++x)
                text += kDigits[numbers[(z * block.y + y) * block.x + x] % kWarp];
            text += "\n";
        }
        if (z + 1 < block.z) text += "\n";
    }
    return text;
}

std::string pictures(dim3 block, const std::vector<Place>& places) {
    std::vector<unsigned> warpNumbers(places.size()), lanes(places.size());
    unsigned number = 0;
    for (const auto& [first, threads] : warpsOf(places)) {
        for (const unsigned thread : threads) {
            warpNumbers[thread] = number;
            lanes[thread] = places[thread].lane;
        }
        ++number;
    }
    return "warp of each thread (x to the right; A to V are 10 to 31):\n" +
           picture(block, warpNumbers) + "lane of each thread:\n" + picture(block, lanes);
}

// Returns a line for each warp, for a block that is too large to draw.
std::string ranges(dim3 block, const std::vector<Place>& places) {
    const auto coordinates = [&](unsigned thread) {
        return lab::formatted("(%u,%u,%u)", thread % block.x, thread / block.x % block.y,
                              thread / block.x / block.y);
    };
    std::string text = "threads (x,y,z) of each warp:\n";
    unsigned number = 0;
    for (const auto& [first, threads] : warpsOf(places)) {
        text += lab::formatted("  warp %-2u  %s to %s in lanes %u to %u\n", number,
                               coordinates(threads.front()).c_str(),
                               coordinates(threads.back()).c_str(), places[threads.front()].lane,
                               places[threads.back()].lane);
        ++number;
    }
    return text;
}

std::string drawing(dim3 block, const std::vector<Place>& places) {
    constexpr unsigned kMaxColumns = 64, kMaxLines = 32;  // a terminal shows so many
    const bool fits = block.x <= kMaxColumns && block.y * block.z <= kMaxLines;
    return fits ? pictures(block, places) : ranges(block, places);
}

// ---- blocks ----

const char* dimensions(dim3 block) {
    if (block.z > 1) return "3D";
    return block.y > 1 ? "2D" : "1D";
}

// Returns what a kernel has found out about the warps of a block, and what is wrong with it.
lab::Finding finding(const char* kernel, dim3 block, const Warps& warps, const std::string& wrong) {
    std::size_t all = 0, mostRows = 0;
    for (const auto& [first, threads] : warps) {
        all += threads.size();
        std::set<unsigned> rows;  // a row has threads with the same y and z
        for (const unsigned thread : threads) rows.insert(thread / block.x);
        mostRows = std::max(mostRows, rows.size());
    }
    const std::size_t lanes = warps.size() * kWarp, idle = lanes - all;
    const double wasted = lanes > 0 ? 100.0 * static_cast<double>(idle) / lanes : 0;
    return {wrong,
            {kernel, dimensions(block), lab::shape(block), all, warps.size(), idle,
             lab::Cell(wasted, 1), mostRows}};
}

// Observes the warps of a block of this shape and prints its row, if --kernel selects it.
void printRow(lab::Exercise& exercise, dim3 block, bool drawn) {
    lab::Row row;
    row.kernel = dimensions(block) + (" " + lab::shape(block));
    if (!exercise.selected(row.kernel)) return;

    lab::DeviceBuffer<Place> buffer(block.x * block.y * block.z);
    buffer.fillBytes(lab::poisonByte<unsigned>());
    observeWarps<<<1, block>>>(buffer.get());
    CUDA_CHECK_LAUNCH();
    const std::vector<Place> places = buffer.toHost();

    if (drawn) exercise.note("\n" + drawing(block, places));
    row.parameters = exercise.parameters({{"block", lab::shape(block)}});
    row.finding = finding("observeWarps", block, warpsOf(places), wrongPlace(block, places));
    exercise.row(row);
}

// Lets the warps of a block of this shape write to the table, and prints its row.
void printLinedUp(lab::Exercise& exercise, dim3 block) {
    lab::Row row;
    row.kernel = "lineUpWarps";
    if (!exercise.selected(row.kernel)) return;

    const unsigned threads = block.x * block.y * block.z;
    lab::DeviceBuffer<unsigned> buffer((threads + kWarp - 1) / kWarp * kPitch);
    buffer.fillBytes(lab::poisonByte<unsigned>());
    lineUpWarps<<<1, block>>>(buffer.get(), kPitch);
    CUDA_CHECK_LAUNCH();
    const std::vector<unsigned> table = buffer.toHost();

    row.parameters = exercise.parameters({{"block", lab::shape(block)}});
    row.finding = finding("lineUpWarps", block, warpsIn(block, table), wrongCell(block, table));
    exercise.row(row);
}

int main(int argc, char** argv) {
    std::string blockText = "40x2";
    lab::Exercise exercise("warpLayout",
                           "Shows how blocks of one, two and three dimensions become warps.");
    exercise.options().text("block", &blockText, "XxYxZ", "X, XxY or XxYxZ",
                            "the block to draw, as 40, 40x2 or 5x5x5");
    exercise.parseOptions(argc, argv);
    const std::optional<dim3> block = parseBlock(blockText, 3);
    if (!block) {
        exercise.reject("block", blockText,
                        "X, XxY or XxYxZ, whole numbers from 1 with a product of at most 1024, and "
                        "Z at most 64");
    }
    exercise.selectDevice();
    exercise.note("warpLayout: block " + lab::shape(*block) + " on " + exercise.device().name);

    exercise.columns(lab::Columns::kPlain, {{"kernel", -12, "kernel"},
                                            {"", 0, "dimensions"},
                                            {"block", -8, "block"},
                                            {"threads", 7, "threads"},
                                            {"warps", 5, "warps"},
                                            {"idle", 4, "idle_lanes"},
                                            {"% wasted", 8, "wasted_percent"},
                                            {"rows in a warp", 14, "rows_in_a_warp"}});

    printRow(exercise, *block, /*drawn=*/true);
    printLinedUp(exercise, *block);
    const dim3 others[] = {{1},      {32},      {40},      {1000},       {1024},
                           {40, 2},  {2, 40},   {8, 8},    {16, 16},     {32, 32},
                           {33, 31}, {5, 5, 5}, {8, 8, 4}, {10, 10, 10}, {1, 1, 64}};
    for (const dim3 shape : others) {
        const bool same = lab::shape(shape) == lab::shape(*block);
        if (!same && !exercise.profile()) printRow(exercise, shape, /*drawn=*/false);
    }
    return exercise.finish();
}
