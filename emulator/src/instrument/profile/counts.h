// What the profiler counts: for each place in the program, over all warps of a launch.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace emu {

// A basic block of the program. A warp executes it once with all lanes that come to it together.
struct BasicBlockCounts {
    uint64_t executions = 0;  // by warps
    uint64_t lanes = 0;       // active in these
    uint64_t divergent = 0;   // splits at its end: one less than the ways that the lanes went
    // Splits at the condition that it ends with, also where a function is called before that: the
    // block that the function ends with is then the one with `divergent`.
    uint64_t splits = 0;
    // Where lanes went: the next block (0: the function's end), and in how many executions.
    std::vector<std::pair<uint32_t, uint64_t>> successors;
};

// The instructions of one kind that access memory.
struct AccessCounts {
    uint64_t requests = 0;  // by warps
    uint64_t bytes = 0;     // that the lanes of a request asked for, each counted once
    uint64_t sectors = 0;   // of global memory
    uint64_t wavefronts = 0, conflicts = 0;  // of shared memory

    void add(const AccessCounts& other);
};

// Asynchronous copies from global to shared memory: see CopyCost.
struct CopyCounts {
    uint64_t instructions = 0;  // by warps
    uint64_t requests = 0;      // those that read
    uint64_t requested = 0, sectors = 0, bytes = 0;
    uint64_t wavefronts = 0, conflicts = 0, sharedBytes = 0;

    void add(const CopyCounts& other);
};

// All counts of one launch; those of basic blocks by the offset of their code in the program.
struct LaunchCounts {
    std::unordered_map<uint32_t, BasicBlockCounts> basicBlocks;
    AccessCounts globalLoads, globalStores, globalAtomics;
    AccessCounts sharedLoads, sharedStores, sharedAtomics;
    CopyCounts copies;
    uint64_t textureReads = 0, surfaceReads = 0, surfaceWrites = 0;  // instructions, by warps
    uint64_t loopSteps = 0;                                          // of `for` loops, by warps
    uint64_t divisions = 0;                                          // signed ones, by warps
    uint64_t divergentDivisions = 0;  // of these, those with both signs in a warp
    uint64_t barriers = 0;            // arrivals of warps
    uint64_t bytesInFlight = 0;       // of a block's copies at most, while it reads shared memory
    uint64_t criticalPath = 0;        // of kernels, up to this one

    void add(const LaunchCounts& other);
};

}  // namespace emu
