// How many blocks of a kernel fit on a multiprocessor (SM) of any GPU since Fermi, and which
// resource is scarcest: what NVIDIA's spreadsheet CUDA_Occupancy_Calculator.xls computed. No kernel
// runs, and no GPU is needed.
//
//   1 calculate  a block takes warps, registers and shared memory, in units; the resource of which
//                an SM has room for the fewest blocks limits them all
//
// The rows are the block that was asked for, and blocks of other sizes with as many registers per
// thread and as much shared memory. The rules are in occupancy_rules.h; each result is checked by
// placing blocks on an SM, one after the other, until the next one finds no room.
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

#include <string>

#include "lab.cuh"
#include "occupancy_rules.h"

using occupancy::Block;
using occupancy::Limits;
using occupancy::Occupancy;

// For a reader: what each resource allows, and the result.
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

// So many blocks can be placed one after the other, and not one more.
lab::Finding checked(const Limits& sm, const Block& block) {
    const Occupancy result = calculate(sm, block);
    const unsigned placed = countByPlacing(sm, block);
    std::string wrong;
    if (placed != result.blocks) wrong = lab::formatted("%u blocks can be placed", placed);
    return {wrong,
            {nameOf(sm),
             block.threads,
             block.registers,
             block.shared,
             result.blocks,
             result.warps,
             {result.percent, 1},
             result.limitedBy}};
}

int main(int argc, char** argv) {
    std::string capability = "9.0";
    Block block;
    lab::Exercise exercise("occupancyCalculator", "How many blocks fit on an SM, of any GPU.");
    exercise.options().text("capability", &capability, "X.Y",
                            "one of " + occupancy::allCapabilities(), "compute capability");
    exercise.option("threads", &block.threads, 256, 1, occupancy::kMaxThreads, "threads per block");
    exercise.option("registers", &block.registers, 32, 1, 255, "registers per thread");
    exercise.option("shared", &block.shared, 0, 0, 227 * occupancy::kKiB,
                    "bytes of shared memory per block");
    exercise.parseOptions(argc, argv);
    // Nothing runs on it, but a GPU that is named must be there, as in every exercise.
    if (exercise.given("device")) exercise.selectDevice();
    const Limits* const sm = occupancy::find(capability);
    if (sm == nullptr)
        exercise.reject("capability", capability, "one of " + occupancy::allCapabilities());
    exercise.columns(lab::Columns::kPlain, {{"", 0, "capability"},
                                            {"block", 5, "threads"},
                                            {"regs", 4, "registers"},
                                            {"shared", 6, "shared"},
                                            {"blocks", 6, "blocks"},
                                            {"warps", 5, "warps"},
                                            {"occ. %", 6, "occupancy"},
                                            {"limited by", -36, "limited_by"}});

    exercise.note(lab::formatted(
        "Compute capability %s: %u threads of %u registers, %s of shared memory\n",
        nameOf(*sm).c_str(), block.threads, block.registers, lab::inBytes(block.shared).c_str()));
    exercise.note(explained(*sm, block) + "\n");
    if (!exercise.selected("calculate")) return exercise.finish();
    for (const unsigned threads :
         {block.threads, 32u, 64u, 96u, 128u, 192u, 256u, 384u, 512u, 768u, 1024u}) {
        lab::Row row;
        row.kernel = std::to_string(threads) + " threads";
        row.device = "compute capability " + nameOf(*sm);
        row.parameters = exercise.parameters({{"threads", std::to_string(threads)}});
        row.finding = checked(*sm, {threads, block.registers, block.shared});
        exercise.row(row);
    }
    return exercise.finish();
}
