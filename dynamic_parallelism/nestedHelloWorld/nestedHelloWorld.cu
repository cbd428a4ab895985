// A kernel can launch kernels (dynamic parallelism). Here each block launches one child block with
// half of its threads, which does the same, until a single thread is left: recursion on the GPU,
// without the host.
//
//   1 nestedHelloWorld  every thread says hello; thread 0 of each block launches the next depth
//
// With --grid=2 there are two such families. All their children call themselves block 0, for each
// is the only block of a grid of its own. The lines come in any order: grids of different families
// run at the same time, and nothing says which warp of a grid prints first. What is certain is how
// many hellos come from each depth and block, so this is what the check counts.
//
// Textbooks let a parent wait for its children with cudaDeviceSynchronize(). Since CUDA 12, device
// code cannot; nor does it have to here, for a grid counts as complete only when all its children
// are. Work that needs the results of children goes into a kernel of its own that is launched into
// the stream cudaStreamTailLaunch: it starts when the launching grid and all other children of that
// grid are complete.
//
//   ./lab run nestedHelloWorld -- --grid=2 --size=8
//   ./lab test nestedHelloWorld
//   ./lab trace nestedHelloWorld
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target nestedHelloWorld
//   build/dynamic_parallelism/nestedHelloWorld --grid=2 --size=8
//   nsys profile build/dynamic_parallelism/nestedHelloWorld --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -rdc=true -Icommon dynamic_parallelism/nestedHelloWorld/nestedHelloWorld.cu
//       common/*.cpp common/*.cu -o build/nestedHelloWorld
//
// Launches from a kernel need relocatable device code and the device runtime library: nvcc with
// -rdc=true and -lcudadevrt, which is what rdc in exercise.toml stands for. Of the tools of
// compute-sanitizer, only memcheck supports them.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "lab.cuh"

// Each thread counts itself in hellos[depth][block], rows of `width` blocks, and prints if `speak`.
// It shows how to launch, not how to be fast: a child starts microseconds after its launch, and
// with a single block of ever fewer threads it leaves the GPU idle. (No launch is refused: there
// are 640 at most, 64 blocks of 1024 threads halved ten times, and CUDA has room for 2048.)
__global__ void nestedHelloWorld(unsigned depth, unsigned* hellos, unsigned width, bool speak) {
    const unsigned block = blockIdx.x, thread = threadIdx.x;
    atomicAdd(&hellos[depth * width + block], 1u);
    if (speak) printf("depth %u: hello from thread %u of block %u\n", depth, thread, block);

    const unsigned threads = blockDim.x / 2;
    if (thread == 0 && threads > 0) {
        nestedHelloWorld<<<1, threads>>>(depth + 1, hellos, width, speak);
        if (speak) printf("depth %u: block %u launched depth %u\n", depth, block, depth + 1);
    }
}

// CPU reference: the hellos of each block number at `depth`. Below depth 0, every number is 0.
std::vector<unsigned> expectedHellos(unsigned depth, unsigned grid, unsigned size) {
    if (depth == 0) return std::vector<unsigned>(grid, size);
    std::vector<unsigned> hellos(grid, 0);
    hellos[0] = grid * (size >> depth);
    return hellos;
}

unsigned sum(const std::vector<unsigned>& values) {
    return std::accumulate(values.begin(), values.end(), 0u);
}

// Makes room for `lines` printed by kernels, before the first launch of one that can print: what
// does not fit into the device's buffer is lost.
void reservePrintf(std::size_t lines) {
    constexpr std::size_t kBytesPerLine = 1024;  // plenty; CUDA does not say what an entry takes
    std::size_t bytes = 0;
    CUDA_CHECK(cudaDeviceGetLimit(&bytes, cudaLimitPrintfFifoSize));
    if (lines * kBytesPerLine > bytes) {
        CUDA_CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, lines * kBytesPerLine));
    }
}

int main(int argc, char** argv) {
    unsigned grid, size;
    lab::Exercise exercise("nestedHelloWorld", "A kernel that launches itself.");
    exercise.option("grid", &grid, 2, 1, 64, "blocks at depth 0");
    exercise.option("size", &size, 8, 1, lab::kMaxBlock, "threads of each block at depth 0");
    exercise.parse(argc, argv);
    exercise.columns(lab::Columns::kPlain, {{"depth", -5, "depth"},
                                            {"grids", 6, "grids"},
                                            {"blocks of each", 14, "blocks_of_each"},
                                            {"threads of each", 15, "threads_of_each"},
                                            {"hellos", 9, "hellos"},
                                            {"expected", 9, "expected"},
                                            {"", 0, "reps"},
                                            {"", 0, "all_depths_ms"}});
    exercise.title("grid %u, %u threads per block at depth 0", grid, size);
    if (!exercise.selected("nestedHelloWorld")) return exercise.finish();

    unsigned depths = 0;  // 8, 4, 2, 1 threads: four; an odd number is rounded down when halved
    while (size >> depths > 0) ++depths;
    lab::DeviceBuffer<unsigned> hellos(std::size_t{depths} * grid);
    const auto clear = [&] { hellos.fillBytes(0); };

    const bool speak = !exercise.csv();
    if (speak) reservePrintf((std::size_t{2} * size + depths) * grid);

    // Silent while it is measured: printing takes far longer than everything else.
    lab::Statistics time;
    if (exercise.showsTimes() && !exercise.profile()) {
        time = exercise.measure()("nestedHelloWorld", clear, [&] {
            nestedHelloWorld<<<grid, size>>>(0, hellos.get(), grid, false);
        });
    }
    // The run that is checked.
    lab::Measure::once("nestedHelloWorld", clear,
                       [&] { nestedHelloWorld<<<grid, size>>>(0, hellos.get(), grid, speak); });
    const std::vector<unsigned> counted = hellos.toHost();

    const lab::Cell milliseconds = time.count > 0 ? lab::Cell(time.median, 4) : lab::Cell();
    bool missing = false;
    for (unsigned depth = 0; depth < depths; ++depth) {
        const auto first = counted.begin() + std::size_t{depth} * grid;
        const std::vector<unsigned> ofBlocks(first, first + grid);
        const std::vector<unsigned> expected = expectedHellos(depth, grid, size);
        // From the hellos: each grid has one block 0, and a block has said hello if it was there.
        const unsigned threads = size >> depth, grids = ofBlocks[0] / threads;
        const unsigned blocks = grid - std::count(ofBlocks.begin(), ofBlocks.end(), 0u);
        missing |= depth > 0 && sum(ofBlocks) < sum(expected);
        lab::Row row;
        row.kernel = lab::formatted("hellos by block at depth %u", depth);
        row.finding = {lab::mismatch(ofBlocks, expected),
                       {depth, grids, blocks, threads, sum(ofBlocks), sum(expected), time.count,
                        milliseconds}};
        exercise.row(row);
    }
    if (missing) {
        exercise.note("Hellos are missing. Was a launch refused? Only 2048 may be pending.");
    }
    if (time.count > 0) {
        exercise.note(
            lab::formatted("All depths together take %.4f ms without the printing (median of %zu).",
                           time.median, time.count));
    }
    return exercise.finish();
}
