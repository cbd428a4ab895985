#include "occupancy_rules.h"

#include <gtest/gtest.h>

#include <climits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#if __has_include(<cuda_occupancy.h>)
#include <cuda_occupancy.h>
#define HAVE_CUDA_OCCUPANCY
#endif

namespace {

using occupancy::Block;
using occupancy::kKiB;
using occupancy::Limits;
using occupancy::Occupancy;

const Limits& sm(const std::string& capability) {
    const Limits* const found = occupancy::find(capability);
    if (found == nullptr) throw std::invalid_argument(capability);
    return *found;
}

Occupancy of(const std::string& capability, const Block& block) {
    return occupancy::calculate(sm(capability), block);
}

// Blocks that one resource allows.
unsigned by(const Occupancy& result, const std::string& name) {
    for (const occupancy::Resource& resource : result.resources) {
        if (resource.name == name) return resource.blocks;
    }
    throw std::invalid_argument(name);
}

TEST(Warps, APartOfOneCountsAsAWhole) {
    EXPECT_EQ(of("9.0", {33, 32, 0}).resources[0].ofBlock, 2u);
    EXPECT_EQ(of("9.0", {1, 32, 0}).warps, 32u);
    EXPECT_EQ(of("9.0", {768, 32, 0}).blocks, 2u);  // 24 warps: a third block would need 72
    EXPECT_EQ(of("9.0", {1025, 32, 0}).blocks, 0u);
}

TEST(Registers, ComeInUnits) {
    EXPECT_EQ(of("9.0", {256, 32, 0}).blocks, 8u);
    EXPECT_EQ(of("9.0", {256, 33, 0}).blocks, 6u);  // 40 for each thread
    EXPECT_EQ(of("9.0", {256, 40, 0}).blocks, 6u);
    EXPECT_EQ(of("2.0", {64, 21, 0}).resources[2].ofBlock, 2 * 704u);  // units of 64: 22
}

TEST(Registers, ArePartitioned) {
    // 88 for a thread are 2816 for a warp. The 16,384 of each of four partitions are enough for 5,
    // and the rests do not add up: 20 warps, although 23 times 2816 is less than 65,536.
    EXPECT_EQ(of("9.0", {32, 88, 0}).warps, 20u);
    EXPECT_EQ(of("6.1", {32, 88, 0}).warps, 20u);
    EXPECT_EQ(of("6.0", {32, 88, 0}).warps, 22u);  // two partitions, 11 warps in each
}

TEST(Registers, ABlockMayNeedTooMany) {
    EXPECT_EQ(of("9.0", {1024, 64, 0}).blocks, 1u);
    const Occupancy tooMany = of("9.0", {1024, 65, 0});
    EXPECT_EQ(tooMany.blocks, 0u);
    EXPECT_EQ(tooMany.limitedBy, "registers");
    EXPECT_EQ(of("5.3", {1024, 32, 0}).blocks, 2u);
    EXPECT_EQ(of("5.3", {1024, 33, 0}).blocks, 0u);  // 32 K for a block
    EXPECT_EQ(of("3.0", {32, 64, 0}).blocks, 0u);    // at most 63 for a thread
    EXPECT_EQ(of("3.5", {32, 64, 0}).blocks, 16u);
}

TEST(Registers, ALaunchIsCheckedAsIfPartitionsWereEquallyFull) {
    // 9 warps of 2816 would fit into 32 K, but three in each of four partitions do not.
    EXPECT_EQ(of("5.3", {288, 80, 0}).blocks, 2u);
    EXPECT_EQ(of("5.3", {288, 88, 0}).blocks, 0u);
    // 6.0 has two partitions, with room for five warps of 5632 in each; it is checked for four.
    EXPECT_EQ(of("6.0", {256, 176, 0}).blocks, 1u);
    EXPECT_EQ(of("6.0", {288, 176, 0}).blocks, 0u);
}

TEST(Registers, UnknownOnesLimitNothing) {
    const Occupancy result = of("9.0", {256, 0, 0});
    EXPECT_EQ(by(result, "registers"), occupancy::kNoLimit);
    EXPECT_EQ(result.blocks, 8u);
    EXPECT_EQ(result.limitedBy, "warps");
}

TEST(Shared, ABlockTakesUnitsAndAReserve) {
    EXPECT_EQ(of("9.0", {256, 32, 0}).resources[3].ofBlock, kKiB);
    EXPECT_EQ(of("9.0", {256, 32, 1}).resources[3].ofBlock, kKiB + 128);
    EXPECT_EQ(of("7.0", {256, 32, 1}).resources[3].ofBlock, 256u);
    EXPECT_EQ(by(of("7.0", {256, 32, 0}), "shared memory"), occupancy::kNoLimit);
    // 3 of 32 KiB in 100 KiB, but the 1 KiB of each makes the 4th of 24 KiB the last that fits.
    EXPECT_EQ(of("8.6", {128, 32, 24 * kKiB}).blocks, 4u);
    EXPECT_EQ(of("8.6", {128, 32, 24 * kKiB + 1}).blocks, 3u);
}

TEST(Shared, ABlockMayNeedTooMuch) {
    EXPECT_EQ(of("9.0", {256, 32, 227 * kKiB}).blocks, 1u);
    EXPECT_EQ(of("9.0", {256, 32, 227 * kKiB + 1}).blocks, 0u);
    EXPECT_EQ(of("5.2", {256, 32, 48 * kKiB}).blocks, 2u);  // 96 KiB, but 48 for one block
    EXPECT_EQ(of("5.2", {256, 32, 48 * kKiB + 1}).blocks, 0u);
    EXPECT_EQ(of("5.2", {256, 32, 48 * kKiB + 1}).limitedBy, "shared memory");
}

TEST(Shared, MostForANumberOfBlocks) {
    for (const Limits& limits : occupancy::kLimits) {
        for (unsigned blocks = 1; blocks <= 8; ++blocks) {
            SCOPED_TRACE(occupancy::nameOf(limits) + ", " + std::to_string(blocks) + " blocks");
            const std::size_t most = occupancy::sharedFor(limits, blocks);
            const unsigned fit = by(occupancy::calculate(limits, {32, 16, most}), "shared memory");
            const unsigned more =
                by(occupancy::calculate(limits, {32, 16, most + 1}), "shared memory");
            EXPECT_GE(fit, blocks);
            EXPECT_LT(more, blocks);
        }
    }
}

// Everything that a student may ask for, in steps.
template <typename Function>
void forAllBlocks(const Limits& limits, const Function& function) {
    for (unsigned threads = 1; threads <= 1024; threads += threads < 64 ? 9 : 31) {
        for (unsigned registers = 0; registers <= limits.registersPerThread; registers += 7) {
            for (const std::size_t shared : {0u, 1u, 1000u, 2048u, 5000u, 12288u, 33000u, 49152u,
                                             65536u, 100000u, 101376u, 166912u, 232448u}) {
                function(Block{threads, registers, shared});
            }
        }
    }
}

std::string show(const Limits& limits, const Block& block) {
    return occupancy::nameOf(limits) + ": " + std::to_string(block.threads) + " threads, " +
           std::to_string(block.registers) + " registers, " + std::to_string(block.shared) +
           " bytes";
}

TEST(Calculation, AgreesWithPlacingBlocksOneByOne) {
    for (const Limits& limits : occupancy::kLimits) {
        forAllBlocks(limits, [&](const Block& block) {
            const unsigned blocks = occupancy::calculate(limits, block).blocks;
            if (blocks != occupancy::countByPlacing(limits, block)) {
                ADD_FAILURE() << show(limits, block) << ": " << blocks << " blocks, but "
                              << occupancy::countByPlacing(limits, block) << " can be placed";
            }
        });
        if (HasFailure()) return;  // one capability's are enough to read
    }
}

// NVIDIA's own calculator, which the CUDA toolkit has as a header.
TEST(Calculation, AgreesWithCudaOccupancyHeader) {
#ifdef HAVE_CUDA_OCCUPANCY
    unsigned compared = 0;
    for (const Limits& limits : occupancy::kLimits) {
        if (limits.major < 3) continue;  // the header has dropped it
        cudaOccDeviceProp device;
        device.computeMajor = static_cast<int>(limits.major);
        device.computeMinor = static_cast<int>(limits.minor);
        device.maxThreadsPerBlock = 1024;
        device.maxThreadsPerMultiprocessor = static_cast<int>(32 * limits.warps);
        device.regsPerBlock = static_cast<int>(limits.registersPerBlock);
        device.regsPerMultiprocessor = static_cast<int>(limits.registers);
        device.warpSize = 32;
        device.sharedMemPerBlock = 48 * kKiB;
        device.sharedMemPerMultiprocessor = limits.shared;
        device.numSms = 1;
        device.sharedMemPerBlockOptin = limits.sharedPerBlock;
        device.reservedSharedMemPerBlock = limits.sharedReserved;
        const cudaOccDeviceState state;
        forAllBlocks(limits, [&](const Block& block) {
            cudaOccFuncAttributes kernel;
            kernel.maxThreadsPerBlock = INT_MAX;
            kernel.numRegs = static_cast<int>(block.registers);
            kernel.sharedSizeBytes = block.shared / 3;
            kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
            kernel.maxDynamicSharedSizeBytes = limits.sharedPerBlock;
            cudaOccResult theirs = {};
            ASSERT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(
                          &theirs, &device, &kernel, &state, static_cast<int>(block.threads),
                          block.shared - kernel.sharedSizeBytes),
                      CUDA_OCC_SUCCESS);
            const Occupancy ours = occupancy::calculate(limits, block);
            const std::map<std::string, std::pair<int, unsigned>> resources = {
                {"warps", {theirs.blockLimitWarps, OCC_LIMIT_WARPS}},
                {"blocks", {theirs.blockLimitBlocks, OCC_LIMIT_BLOCKS}},
                {"registers", {theirs.blockLimitRegs, OCC_LIMIT_REGISTERS}},
                {"shared memory", {theirs.blockLimitSharedMem, OCC_LIMIT_SHARED_MEMORY}}};
            std::string limitedBy;
            bool equal = true;
            for (const occupancy::Resource& resource : ours.resources) {
                const auto& [blocks, bit] = resources.at(resource.name);
                const bool none = resource.blocks == occupancy::kNoLimit;
                equal = equal && blocks == (none ? INT_MAX : static_cast<int>(resource.blocks));
                if (theirs.limitingFactors & bit)
                    limitedBy += (limitedBy.empty() ? "" : ", ") + std::string(resource.name);
            }
            if (!equal || ours.limitedBy != limitedBy ||
                static_cast<int>(ours.blocks) != theirs.activeBlocksPerMultiprocessor) {
                ADD_FAILURE() << show(limits, block) << ": " << ours.blocks
                              << " blocks, limited by " << ours.limitedBy
                              << ", but the header says " << theirs.activeBlocksPerMultiprocessor
                              << ", limited by " << limitedBy;
            }
            ++compared;
        });
        if (HasFailure()) return;
    }
    EXPECT_GT(compared, 10000u);
    RecordProperty("configurations", static_cast<int>(compared));
#else
    GTEST_SKIP() << "no cuda_occupancy.h: the CUDA toolkit has it";
#endif
}

// The values of a property, each with the compute capabilities that have it.
template <typename Value>
std::map<Value, std::string> valuesOf(Value Limits::*property) {
    std::map<Value, std::string> values;
    for (const Limits& limits : occupancy::kLimits) {
        std::string& named = values[limits.*property];
        named += (named.empty() ? "" : " ") + occupancy::nameOf(limits);
    }
    return values;
}

using Numbers = std::map<unsigned, std::string>;
using Sizes = std::map<std::size_t, std::string>;

const std::string kFermi = "2.0 2.1", kKepler = "3.0 3.2 3.5 3.7", kMaxwell = "5.0 5.2 5.3",
                  kPascal = "6.0 6.1 6.2", kVolta = "7.0 7.2", kAmpere = "8.0 8.6 8.7 8.9",
                  kNewest = "9.0 10.0 10.3 11.0 12.0 12.1";

// As the same table has them: by property, not by GPU.
TEST(Limits, OfAnSmAreThoseOfTheGuide) {
    EXPECT_EQ(valuesOf(&Limits::warps), (Numbers{{32, "7.5"},
                                                 {48, kFermi + " 8.6 8.7 8.9 11.0 12.0 12.1"},
                                                 {64, kKepler + " " + kMaxwell + " " + kPascal +
                                                          " " + kVolta + " 8.0 9.0 10.0 10.3"}}));
    EXPECT_EQ(valuesOf(&Limits::blocks),
              (Numbers{{8, kFermi},
                       {16, kKepler + " 7.5 8.6 8.7"},
                       {24, "8.9 11.0 12.0 12.1"},
                       {32, kMaxwell + " " + kPascal + " " + kVolta + " 8.0 9.0 10.0 10.3"}}));
    EXPECT_EQ(valuesOf(&Limits::registers),
              (Numbers{{32 << 10, kFermi},
                       {64 << 10, "3.0 3.2 3.5 " + kMaxwell + " " + kPascal + " " + kVolta +
                                      " 7.5 " + kAmpere + " " + kNewest},
                       {128 << 10, "3.7"}}));
    EXPECT_EQ(valuesOf(&Limits::shared), (Sizes{{48 * kKiB, kFermi + " 3.0 3.2 3.5"},
                                                {64 * kKiB, "5.0 5.3 6.0 6.2 7.5"},
                                                {96 * kKiB, "5.2 6.1 7.0 7.2"},
                                                {100 * kKiB, "8.6 8.9 12.0 12.1"},
                                                {112 * kKiB, "3.7"},
                                                {164 * kKiB, "8.0 8.7"},
                                                {228 * kKiB, "9.0 10.0 10.3 11.0"}}));
}

TEST(Limits, OfABlockAreThoseOfTheGuide) {
    EXPECT_EQ(valuesOf(&Limits::registersPerBlock),
              (Numbers{{32 << 10, kFermi + " 3.2 5.3 6.2"},
                       {64 << 10, "3.0 3.5 3.7 5.0 5.2 6.0 6.1 " + kVolta + " 7.5 " + kAmpere +
                                      " " + kNewest}}));
    EXPECT_EQ(valuesOf(&Limits::registersPerThread),
              (Numbers{{63, kFermi + " 3.0"},
                       {255, "3.2 3.5 3.7 " + kMaxwell + " " + kPascal + " " + kVolta + " 7.5 " +
                                 kAmpere + " " + kNewest}}));
    EXPECT_EQ(valuesOf(&Limits::sharedPerBlock),
              (Sizes{{48 * kKiB, kFermi + " " + kKepler + " " + kMaxwell + " " + kPascal},
                     {64 * kKiB, "7.5"},
                     {96 * kKiB, kVolta},
                     {99 * kKiB, "8.6 8.9 12.0 12.1"},
                     {163 * kKiB, "8.0 8.7"},
                     {227 * kKiB, "9.0 10.0 10.3 11.0"}}));
}

}  // namespace
