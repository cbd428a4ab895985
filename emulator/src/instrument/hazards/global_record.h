// An access to global memory, as it is remembered.
#pragma once

#include <cstdint>

#include "emu/limits.h"
#include "instrument/record/recorder.h"

namespace emu {

// A clock of warp_clocks.h that is larger counts as this.
constexpr uint32_t kMostClock = (1 << 12) - 1;

// What some thread did to some bytes of a word.
struct GlobalRecord {
    uint32_t block = 0;                 // its number in the grid
    uint32_t place = 0;                 // in the code: see program_code.h
    uint32_t epoch : 20, clock : 12;    // barriers of the block, synchronisations of the lane
    uint32_t rank : 10, bytes : 4;      // of the word: bit i for byte i; 0: nobody did anything
    uint32_t isVolatile : 1, kind : 2;  // an AccessKind, or kNarrow
    uint32_t fences : 15;               // of the block, so far

    GlobalRecord() : epoch(0), clock(0), rank(0), bytes(0), isVolatile(0), kind(0), fences(0) {}
    static constexpr uint32_t kNarrow = 3;  // an atomic among the threads of its block alone
    bool isNarrow() const { return kind == kNarrow; }
    AccessKind accessKind() const {
        return isNarrow() ? AccessKind::Atomic : static_cast<AccessKind>(kind);
    }
};

inline bool sameWarp(const GlobalRecord& a, const GlobalRecord& b) {
    return a.block == b.block && a.rank / kWarpSize == b.rank / kWarpSize;
}

}  // namespace emu
