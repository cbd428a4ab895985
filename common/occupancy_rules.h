#pragma once
// How many blocks of a kernel are resident on a multiprocessor (SM) at a time, and what limits
// them. Plain C++: needs neither a GPU nor CUDA, and knows GPUs that today's toolkits have dropped.
//
// Where the numbers come from:
//   Guide   CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability".
//           Release 8 has compute capability 2.x, 11 has 3.x, 12 has 5.x to 7.2, 13 all others.
//   Sheet   CUDA_Occupancy_Calculator.xls, sheet "GPU Data", of CUDA 5 to 11.1.
//   Header  cuda_occupancy.h of CUDA 13.0, for compute capability 3.0 and up.
//   10.3, 11.0 and 12.1 are as libcu++ has them: cuda/__device/arch_traits.h of CCCL.

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace occupancy {

constexpr unsigned kWarp = 32;          // threads of a warp, on every GPU (Guide)
constexpr unsigned kMaxThreads = 1024;  // of a block, since 2.0 (Guide)
constexpr unsigned kRegisterPartitions =
    4;  // that a launch is checked for, see registersFitAtAll()
constexpr std::size_t kKiB = 1024;

struct Limits {
    unsigned major, minor;        // compute capability
    unsigned warps, blocks;       // resident on an SM (Guide)
    unsigned registers;           // of an SM (Guide)
    unsigned registersPerBlock;   // (Guide: 32 K on the Tegra GPUs 3.2, 5.3 and 6.2)
    unsigned registersPerThread;  // (Guide)
    unsigned registerUnit;        // a warp gets registers in multiples of this (Sheet, Header)
    unsigned partitions;          // of an SM, each with its share of warps and registers (Sheet:
                                  // "warp allocation granularity"; Header)
    std::size_t shared;           // bytes of an SM, as much as can be configured (Guide)
    std::size_t sharedPerBlock;   // bytes, with cudaFuncSetAttribute() where needed (Guide)
    unsigned sharedUnit;          // a block gets shared memory in multiples of this (Sheet, Header)
    unsigned sharedReserved;      // bytes that the system takes for each block (Guide)
};

// clang-format off
constexpr Limits kLimits[] = {
    //      warps  registers:               unit  parts  shared memory:       unit  reserved
    //        blocks  SM      block  thread                SM        block
    { 2, 0,  48,  8,  32768,  32768,  63,    64,  2,       48 * kKiB, 48 * kKiB, 128,    0},
    { 2, 1,  48,  8,  32768,  32768,  63,    64,  2,       48 * kKiB, 48 * kKiB, 128,    0},
    { 3, 0,  64, 16,  65536,  65536,  63,   256,  4,       48 * kKiB, 48 * kKiB, 256,    0},
    { 3, 2,  64, 16,  65536,  32768, 255,   256,  4,       48 * kKiB, 48 * kKiB, 256,    0},
    { 3, 5,  64, 16,  65536,  65536, 255,   256,  4,       48 * kKiB, 48 * kKiB, 256,    0},
    { 3, 7,  64, 16, 131072,  65536, 255,   256,  4,      112 * kKiB, 48 * kKiB, 256,    0},
    { 5, 0,  64, 32,  65536,  65536, 255,   256,  4,       64 * kKiB, 48 * kKiB, 256,    0},
    { 5, 2,  64, 32,  65536,  65536, 255,   256,  4,       96 * kKiB, 48 * kKiB, 256,    0},
    { 5, 3,  64, 32,  65536,  32768, 255,   256,  4,       64 * kKiB, 48 * kKiB, 256,    0},
    { 6, 0,  64, 32,  65536,  65536, 255,   256,  2,       64 * kKiB, 48 * kKiB, 256,    0},
    { 6, 1,  64, 32,  65536,  65536, 255,   256,  4,       96 * kKiB, 48 * kKiB, 256,    0},
    { 6, 2,  64, 32,  65536,  32768, 255,   256,  4,       64 * kKiB, 48 * kKiB, 256,    0},
    { 7, 0,  64, 32,  65536,  65536, 255,   256,  4,       96 * kKiB, 96 * kKiB, 256,    0},
    { 7, 2,  64, 32,  65536,  65536, 255,   256,  4,       96 * kKiB, 96 * kKiB, 256,    0},
    { 7, 5,  32, 16,  65536,  65536, 255,   256,  4,       64 * kKiB, 64 * kKiB, 256,    0},
    { 8, 0,  64, 32,  65536,  65536, 255,   256,  4,      164 * kKiB, 163 * kKiB, 128, 1024},
    { 8, 6,  48, 16,  65536,  65536, 255,   256,  4,      100 * kKiB,  99 * kKiB, 128, 1024},
    { 8, 7,  48, 16,  65536,  65536, 255,   256,  4,      164 * kKiB, 163 * kKiB, 128, 1024},
    { 8, 9,  48, 24,  65536,  65536, 255,   256,  4,      100 * kKiB,  99 * kKiB, 128, 1024},
    { 9, 0,  64, 32,  65536,  65536, 255,   256,  4,      228 * kKiB, 227 * kKiB, 128, 1024},
    {10, 0,  64, 32,  65536,  65536, 255,   256,  4,      228 * kKiB, 227 * kKiB, 128, 1024},
    {10, 3,  64, 32,  65536,  65536, 255,   256,  4,      228 * kKiB, 227 * kKiB, 128, 1024},
    {11, 0,  48, 24,  65536,  65536, 255,   256,  4,      228 * kKiB, 227 * kKiB, 128, 1024},
    {12, 0,  48, 24,  65536,  65536, 255,   256,  4,      100 * kKiB,  99 * kKiB, 128, 1024},
    {12, 1,  48, 24,  65536,  65536, 255,   256,  4,      100 * kKiB,  99 * kKiB, 128, 1024},
};
// clang-format on

inline std::string nameOf(const Limits& sm) {
    return std::to_string(sm.major) + "." + std::to_string(sm.minor);
}

// Of the compute capability that is written "8.6" or "86"; nullptr if there is none.
inline const Limits* find(const std::string& capability) {
    for (const Limits& sm : kLimits) {
        const std::string digits = std::to_string(sm.major) + std::to_string(sm.minor);
        if (capability == nameOf(sm) || capability == digits) return &sm;
    }
    return nullptr;
}

// Threads that an SM of this compute capability holds at a time; 0 where it is not known.
constexpr unsigned residentThreads(unsigned major, unsigned minor) {
    for (const Limits& sm : kLimits) {
        if (sm.major == major && sm.minor == minor) return sm.warps * kWarp;
    }
    return 0;
}

// "2.0, 2.1, ..."
inline std::string allCapabilities() {
    std::string names;
    for (const Limits& sm : kLimits) names += (names.empty() ? "" : ", ") + nameOf(sm);
    return names;
}

// What a launch asks for. Shared memory is the sum of static and dynamic.
struct Block {
    unsigned threads;
    unsigned registers;  // of a thread; 0 where they are not known, which then limit nothing
    std::size_t shared;  // bytes
};

constexpr unsigned kNoLimit = std::numeric_limits<unsigned>::max();

struct Resource {
    const char* name;
    std::size_t ofSm;     // there is this much
    std::size_t ofBlock;  // a block takes this much, allocation units and reserves included
    unsigned blocks;      // so many fit; kNoLimit where a block takes none
};

struct Occupancy {
    std::array<Resource, 4> resources;
    unsigned blocks = 0;    // resident on an SM: as many as the scarcest resource allows
    unsigned warps = 0;     // of these blocks
    double percent = 0;     // of the warps that an SM can hold
    std::string limitedBy;  // every resource that allows no more
};

constexpr std::size_t divideUp(std::size_t a, std::size_t b) {
    return (a + b - 1) / b;
}
constexpr std::size_t roundUp(std::size_t a, std::size_t unit) {
    return divideUp(a, unit) * unit;
}

// Registers are allocated to warps (to blocks before 2.0): `unit` of them at a time.
constexpr std::size_t registersOfWarp(const Limits& sm, const Block& block) {
    return roundUp(std::size_t{block.registers} * kWarp, sm.registerUnit);
}

// May a block be launched at all, as far as its registers go? The hardware checks the limit of a
// block as if each partition of the SM had to hold as many warps as the fullest one (Header; it
// counts four partitions also on 6.0, which has two).
constexpr bool registersFitAtAll(const Limits& sm, const Block& block) {
    const unsigned partitions = std::max(sm.partitions, sm.major == 2 ? 0 : kRegisterPartitions);
    const std::size_t warps = roundUp(divideUp(block.threads, kWarp), partitions);
    return block.registers <= sm.registersPerThread &&
           registersOfWarp(sm, block) * warps <= sm.registersPerBlock;
}

inline Occupancy calculate(const Limits& sm, const Block& block) {
    const std::size_t warps = divideUp(block.threads, kWarp);
    const std::size_t perWarp = registersOfWarp(sm, block);
    const std::size_t shared = roundUp(block.shared + sm.sharedReserved, sm.sharedUnit);
    // A warp lives in one partition and gets its registers there: what is left over in each of the
    // partitions does not add up to the registers of one more warp.
    const std::size_t warpsWithRegisters =
        perWarp == 0 ? 0 : sm.registers / sm.partitions / perWarp * sm.partitions;

    const auto blocks = [](bool launchable, std::size_t available, std::size_t taken) {
        if (!launchable) return 0u;
        return taken == 0 ? kNoLimit : static_cast<unsigned>(available / taken);
    };
    Occupancy result;
    result.resources = {{
        {"warps", sm.warps, warps, blocks(block.threads <= kMaxThreads, sm.warps, warps)},
        {"blocks", sm.blocks, 1, sm.blocks},
        {"registers", sm.registers, perWarp * warps,
         blocks(registersFitAtAll(sm, block), warpsWithRegisters, perWarp == 0 ? 0 : warps)},
        {"shared memory", sm.shared, shared,
         blocks(block.shared <= sm.sharedPerBlock, sm.shared, shared)},
    }};
    result.blocks = kNoLimit;
    for (const Resource& resource : result.resources)
        result.blocks = std::min(result.blocks, resource.blocks);
    for (const Resource& resource : result.resources) {
        if (resource.blocks != result.blocks) continue;
        result.limitedBy += (result.limitedBy.empty() ? "" : ", ") + std::string(resource.name);
    }
    result.warps = result.blocks * static_cast<unsigned>(warps);
    result.percent = 100.0 * result.warps / sm.warps;
    return result;
}

// The most shared memory, static and dynamic, that each of `blocks` resident blocks can have.
constexpr std::size_t sharedFor(const Limits& sm, unsigned blocks) {
    const std::size_t share = sm.shared / blocks / sm.sharedUnit * sm.sharedUnit;
    return std::min(share - std::min<std::size_t>(share, sm.sharedReserved), sm.sharedPerBlock);
}

// The blocks that calculate() must find, counted the way an SM fills up: block after block, warp
// after warp into the partition with most registers left, until something has run out.
inline unsigned countByPlacing(const Limits& sm, const Block& block) {
    if (block.threads > kMaxThreads || block.shared > sm.sharedPerBlock) return 0;
    if (!registersFitAtAll(sm, block)) return 0;
    struct Partition {
        unsigned warps, registers;  // free ones
    };
    std::vector<Partition> partitions(sm.partitions,
                                      {sm.warps / sm.partitions, sm.registers / sm.partitions});
    std::size_t shared = sm.shared;
    for (unsigned placed = 0; placed < sm.blocks; ++placed) {
        std::size_t takenShared = 0;
        while (takenShared < block.shared + sm.sharedReserved) takenShared += sm.sharedUnit;
        if (shared < takenShared) return placed;
        shared -= takenShared;
        for (unsigned thread = 0; thread < block.threads; thread += kWarp) {
            unsigned taken = 0;
            while (taken < block.registers * kWarp) taken += sm.registerUnit;
            const auto partition = std::max_element(
                partitions.begin(), partitions.end(), [](const Partition& a, const Partition& b) {
                    return a.registers != b.registers ? a.registers < b.registers
                                                      : a.warps < b.warps;
                });
            if (partition->warps == 0 || partition->registers < taken) return placed;
            partition->warps -= 1;
            partition->registers -= taken;
        }
    }
    return sm.blocks;
}

}  // namespace occupancy
