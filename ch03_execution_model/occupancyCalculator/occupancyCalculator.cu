// This program computes how many blocks of a kernel fit on a multiprocessor (SM) of any GPU since
// Fermi, and which resource is scarcest. NVIDIA's spreadsheet CUDA_Occupancy_Calculator.xls
// computed the same. The program needs no GPU.
//
//   1 calculate     a block takes warps, registers and shared memory, in units; the resource that
//                   has room for the fewest blocks limits them all
//   2 largestBlock  launches the kernel countInBins in the largest blocks that CUDA allows
//   3 fullestBlock  launches it with the block size that makes the most warps resident
//
// The first rows are the block that you ask for, and blocks of other sizes with as many registers
// per thread and as much shared memory. The rules are in occupancy_rules.h. To check a result, the
// program places blocks on an SM, one after the other, until the next one finds no room. Rows 2 and
// 3 appear only if the device, emulated or not, has the compute capability that you ask for.
//
//   ./lab run occupancyCalculator -- --capability=8.6 --threads=256 --registers=48 --shared=16K
//   ./lab test occupancyCalculator
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target occupancyCalculator
//   build/ch03_execution_model/occupancyCalculator --capability=8.6 --threads=256 --registers=48
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch03_execution_model/occupancyCalculator/occupancyCalculator.cu
//       common/*.cpp common/*.cu -o build/occupancyCalculator

#include <cstddef>
#include <string>
#include <vector>

#include "lab.cuh"
#include "occupancy_rules.h"

using occupancy::Block;
using occupancy::kMaxThreads;
using occupancy::kWarp;
using occupancy::Limits;
using occupancy::Occupancy;

// Computes a histogram: how many of the numbers fall into each bin. Each thread counts in bins of
// its own, in dynamic shared memory: bin b of thread t is counts[b * blockDim.x + t]. Any block
// size gives the same totals. `*block` tells the host the block size of the launch.
__global__ void countInBins(const unsigned* numbers, unsigned n, unsigned bins, unsigned* totals,
                            unsigned* block) {
    extern __shared__ unsigned counts[];
    for (unsigned b = 0; b < bins; ++b) counts[b * blockDim.x + threadIdx.x] = 0;

    const unsigned threads = gridDim.x * blockDim.x, tid = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned i = tid; i < n; i += threads)
        ++counts[numbers[i] % bins * blockDim.x + threadIdx.x];

    for (unsigned b = 0; b < bins; ++b) atomicAdd(totals + b, counts[b * blockDim.x + threadIdx.x]);
    if (tid == 0) *block = blockDim.x;
}

// A Work has what countInBins works on, and what it takes of an SM.
struct Work {
    const unsigned* numbers;
    unsigned n, bins;
    unsigned *totals, *block;
    unsigned multiprocessors;  // all SMs of the GPU
    unsigned registers;        // registers of a thread; 0 where we do not know them
    std::size_t sharedFor(unsigned threads) const {
        return std::size_t{threads} * bins * sizeof(unsigned);
    }
};

// Launches the largest blocks that CUDA allows, as many of them as the GPU holds at a time.
void launchLargest(const Limits& sm, const Work& work) {
    const unsigned threads = kMaxThreads;
    const Occupancy found = calculate(sm, {threads, work.registers, work.sharedFor(threads)});
    countInBins<<<work.multiprocessors * found.blocks, threads, work.sharedFor(threads)>>>(
        work.numbers, work.n, work.bins, work.totals, work.block);
}

// Launches with the block size that makes the most warps resident. It tries all whole numbers of
// warps.
void launchFullest(const Limits& sm, const Work& work) {
    Occupancy best;
    unsigned threads = 0;
    for (unsigned tried = kWarp; tried <= kMaxThreads; tried += kWarp) {
        const Occupancy found = calculate(sm, {tried, work.registers, work.sharedFor(tried)});
        if (found.warps <= best.warps) continue;
        best = found;
        threads = tried;
    }
    countInBins<<<work.multiprocessors * best.blocks, threads, work.sharedFor(threads)>>>(
        work.numbers, work.n, work.bins, work.totals, work.block);
}

// Returns a table for the reader, with what each resource allows, and the result.
std::string explained(const Limits& sm, const Block& block) {
    const Occupancy result = calculate(sm, block);
    std::string text =
        lab::formatted("%-14s %10s  %13s  %6s\n", "limit", "an SM has", "a block takes", "blocks");
    for (const occupancy::Resource& resource : result.resources) {
        const bool none = resource.blocks == occupancy::kNoLimit;
        const std::string blocks = none ? "-" : std::to_string(resource.blocks);
        text += lab::formatted("%-14s %10zu  %13zu  %6s\n", resource.name, resource.ofSm,
                               resource.ofBlock, blocks.c_str());
    }
    const std::string found =
        lab::formatted("%u blocks, %u of %u warps: occupancy %.1f %%, limited by %s", result.blocks,
                       result.warps, sm.warps, result.percent, result.limitedBy.c_str());
    return text + lab::wrapped(found, lab::ResultTable::kLineLength);
}

// Returns a row of the table. Its result is right if the SM has room for exactly so many blocks,
// placed one after the other.
lab::Row rowOf(const lab::Exercise& exercise, const std::string& kernel, const Limits& sm,
               const Block& block) {
    const Occupancy result = calculate(sm, block);
    const unsigned placed = countByPlacing(sm, block);
    std::string wrong;
    if (placed != result.blocks) wrong = lab::formatted("an SM has room for %u blocks", placed);
    lab::Row row;
    row.kernel = lab::formatted("%s, %u threads", kernel.c_str(), block.threads);
    row.device = "compute capability " + nameOf(sm);
    row.parameters = exercise.parameters({{"threads", std::to_string(block.threads)}});
    row.finding = {wrong,
                   {kernel,
                    nameOf(sm),
                    block.threads,
                    block.registers,
                    block.shared,
                    result.blocks,
                    result.warps,
                    {result.percent, 1},
                    result.limitedBy}};
    return row;
}

// Is there a device of this compute capability? Only the launches need one.
bool isHere(lab::Exercise& exercise, const Limits& sm) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return false;
    exercise.selectDevice();
    const lab::DeviceFacts& device = exercise.device();
    return nameOf(sm) == lab::formatted("%d.%d", device.major, device.minor);
}

// The CPU reference counts the numbers in each bin.
std::vector<unsigned> totalsOf(const std::vector<unsigned>& numbers, unsigned bins) {
    std::vector<unsigned> totals(bins);
    for (const unsigned number : numbers) ++totals[number % bins];
    return totals;
}

// Adds row 2 or 3, which shows what a function launches, as the kernel has seen it.
template <typename Launch>
void launchRow(lab::Exercise& exercise, const std::string& name, const Limits& sm, unsigned bins,
               Launch launch) {
    std::vector<unsigned> numbers(1 << 16);
    for (unsigned i = 0; i < numbers.size(); ++i) numbers[i] = i * i;
    const std::vector<unsigned> zeros(bins), zero(1);
    const lab::DeviceBuffer<unsigned> input(numbers);
    lab::DeviceBuffer<unsigned> totals(zeros), block(zero);
    // A program must ask for more than 48 KiB of shared memory before the launch.
    CUDA_CHECK(cudaFuncSetAttribute(countInBins, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(sm.sharedPerBlock)));
    cudaFuncAttributes kernel;
    CUDA_CHECK(cudaFuncGetAttributes(&kernel, countInBins));

    const Work work = {input.get(),
                       static_cast<unsigned>(numbers.size()),
                       bins,
                       totals.get(),
                       block.get(),
                       static_cast<unsigned>(exercise.device().multiprocessors),
                       static_cast<unsigned>(kernel.numRegs)};
    launch(sm, work);
    CUDA_CHECK_LAUNCH();

    const unsigned threads = block.toHost()[0];
    lab::Row row = rowOf(exercise, name, sm, {threads, work.registers, work.sharedFor(threads)});
    std::string& wrong = row.finding.wrong;
    if (threads == 0)
        wrong = "countInBins was not launched";
    else if (wrong.empty())
        wrong = lab::mismatch(totals.toHost(), totalsOf(numbers, bins));
    exercise.row(row);
}

int main(int argc, char** argv) {
    std::string capability = "9.0";
    Block block;
    unsigned bins;
    lab::Exercise exercise("occupancyCalculator",
                           "Computes how many blocks fit on an SM of any GPU.");
    exercise.options().text("capability", &capability, "X.Y",
                            "one of " + occupancy::allCapabilities(), "compute capability");
    exercise.option("threads", &block.threads, 256, 1, occupancy::kMaxThreads, "threads per block");
    exercise.option("registers", &block.registers, 32, 1, 255, "registers per thread");
    exercise.option("shared", &block.shared, 0, 0, 227 * occupancy::kKiB,
                    "bytes of shared memory per block");
    exercise.option("bins", &bins, 32, 1, 56, "bins of countInBins, of 4 bytes for each thread");
    exercise.parseOptions(argc, argv);
    // Nothing runs on a GPU here, but a GPU that you name must be there, as in every exercise.
    if (exercise.given("device")) exercise.selectDevice();
    const Limits* const sm = occupancy::find(capability);
    if (sm == nullptr)
        exercise.reject("capability", capability, "one of " + occupancy::allCapabilities());
    exercise.columns(lab::Columns::kPlain, {{"", 0, "kernel"},
                                            {"", 0, "capability"},
                                            {"block", 5, "threads"},
                                            {"regs", 4, "registers"},
                                            {"shared", 6, "shared"},
                                            {"blocks", 6, "blocks"},
                                            {"warps", 5, "warps"},
                                            {"occ. %", 6, "occupancy"},
                                            {"limited by", -36, "limited_by"}});

    if (exercise.selected("calculate")) {
        exercise.note(lab::formatted(
            "Compute capability %s: %u threads of %u registers, %s of shared memory\n",
            nameOf(*sm).c_str(), block.threads, block.registers,
            lab::inBytes(block.shared).c_str()));
        exercise.note(explained(*sm, block) + "\n");
        for (const unsigned threads :
             {block.threads, 32u, 64u, 96u, 128u, 192u, 256u, 384u, 512u, 768u, 1024u}) {
            const Block other = {threads, block.registers, block.shared};
            exercise.row(rowOf(exercise, "calculate", *sm, other));
        }
    }
    const bool largest = exercise.selected("largestBlock");
    const bool fullest = exercise.selected("fullestBlock");
    if (!largest && !fullest) return exercise.finish();
    // If you ask only for launches, the program needs a GPU, as every exercise does.
    if (!exercise.selected("calculate")) exercise.selectDevice();
    if (!isHere(exercise, *sm)) {
        if (exercise.given("kernel"))
            exercise.note("No device here has compute capability " + nameOf(*sm) +
                          ", so countInBins is not launched.");
        return exercise.finish();
    }
    exercise.note(lab::formatted("countInBins, %u bytes of shared memory for each thread:",
                                 bins * static_cast<unsigned>(sizeof(unsigned))));
    if (largest && kMaxThreads * bins * sizeof(unsigned) > sm->sharedPerBlock)
        exercise.note(lab::formatted("A block of %u threads does not fit.", kMaxThreads));
    else if (largest)
        launchRow(exercise, "largestBlock", *sm, bins, launchLargest);
    if (fullest) launchRow(exercise, "fullestBlock", *sm, bins, launchFullest);
    return exercise.finish();
}
