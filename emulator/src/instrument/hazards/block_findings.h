// What the hazard check has found in the block that an OS thread runs: each hazard once for a pair
// of places in the code.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "emu/engine.h"
#include "engine/grid.h"
#include "findings.h"

namespace emu {

// The running block's number in its grid, x fastest.
uint64_t linearBlock();

// The threadIdx of the thread with this rank in a block, by default the running one.
uint3 threadIndexOf(unsigned rank, const dim3& block = blockDim);

// What the thread with this rank does at `pc`.
Act actOf(uintptr_t pc, unsigned rank, const std::string& what, const dim3& block = blockDim);

class BlockFindings {
  public:
    void beginBlock(const Grid& grid, uint64_t launch);

    // Counts the hazard once more if it has been found in this block, and returns whether it has.
    bool again(Hazard hazard, uintptr_t first, uintptr_t second, bool withinWarp);

    // Adds the finding, or counts it once more. Completes what it says of kernel and block.
    void report(Finding finding);

    // At the end of the block.
    void handOver(Findings& findings);

  private:
    const Grid* grid_ = nullptr;
    uint64_t launch_ = 0;
    std::map<std::tuple<Hazard, uintptr_t, uintptr_t>, Finding> found_;
};

}  // namespace emu
