// What the hazard check looks for in the global memory that a block uses: races, and reads of what
// nobody has written.
#pragma once

#include <cstdint>
#include <set>

#include "block_findings.h"
#include "engine/guarded_memory.h"
#include "global_shadow.h"
#include "instrument/record/program_code.h"
#include "instrument/record/recorder.h"
#include "warp_clocks.h"
#include "warp_fences.h"

namespace emu {

uint3 blockIndexOf(uint32_t number, const dim3& grid);

// A race in a grid of these dimensions; kernel, block and launch are the second access'.
Finding findingOf(const GlobalRace& race, const dim3& grid, const dim3& block);

class GlobalCheck {
  public:
    GlobalCheck(GlobalShadow& shadow, WarpClocks& clocks, WarpFences& fences, BlockFindings& found)
        : races_(shadow, clocks, fences), found_(found) {}

    void beginBlock(uint64_t launch);
    void barrier(bool wholeGrid) { races_.barrier(wholeGrid); }
    void fence(unsigned rank) { races_.fence(rank); }
    LaunchPoint launchPoint(unsigned rank) { return races_.launchPoint(rank); }
    // `pc` reads what the same thread then updates by an atomic.
    void looksBeforeUpdate(uintptr_t pc) { races_.looksBeforeUpdate(placeOf(pc)); }

    // The running thread is about to do this, at `pc` of the user's code. Call settle() before
    // anything else happens.
    void access(const Access& access, uintptr_t pc, unsigned rank);
    void settle();
    // It has begun a copy that reads this, at some time from now on.
    void copiesFrom(const Access& access, uintptr_t pc, unsigned rank);

    // At the end of the block.
    void handOver(Findings& findings);

  private:
    void report();
    bool find(uintptr_t address);
    void findUnwritten(const Access& access, uintptr_t pc, unsigned rank);

    GlobalRaces races_;
    BlockFindings& found_;
    std::set<uintptr_t> copies_;      // places that copy asynchronously
    GuardedAllocation allocation_{};  // that was used last, and is valid in this generation
    unsigned generation_ = 0;
};

}  // namespace emu
