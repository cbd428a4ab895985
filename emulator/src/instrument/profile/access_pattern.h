// What one memory instruction of a warp costs: sectors of global memory, wavefronts of shared
// memory. Checked against what ncu reads on an H200 for the kernels in tests/emulator/profiler.
#pragma once

#include <cstdint>

namespace emu {

// The accesses of the active lanes, in ascending order of lanes; all of the same size.
struct WarpAccess {
    uint32_t lanes = 0;  // active ones, one bit each
    uint32_t size = 0;   // bytes per lane, at most 16
    bool store = false;
    uintptr_t address[32];  // of the active lanes, without gaps
    unsigned count() const { return static_cast<unsigned>(__builtin_popcount(lanes)); }
};

constexpr uint32_t kSectorSize = 32;      // bytes: the unit in which caches and memory move data
constexpr uint32_t kWavefrontSize = 128;  // bytes of shared memory: a word from each of the banks

// Different bytes that the lanes touch.
unsigned bytesOf(const WarpAccess& access);

// Different sectors that the lanes touch.
unsigned sectorsOf(const WarpAccess& access);

// The same of an atomic operation: a sector counts once for each lane of the largest group that
// wants one address in it. Lanes with different addresses in a sector go at once. ncu counts this,
// and a slice of the L2 cache takes a cycle for each.
unsigned atomicSectorsOf(const WarpAccess& access);

struct SharedCost {
    unsigned wavefronts = 0;  // passes through the 32 banks of 4 bytes
    unsigned conflicts = 0;   // of these, how many only because lanes met in a bank
    unsigned bytes = 0;       // different ones that the lanes touch
};

// Lanes conflict if they want different words of one bank; all may have the same word. Accesses of
// 8 bytes go by half warps and those of 16 bytes by quarters; but a whole warp of the former, and
// half a warp of the latter, load at once if they are free of conflicts together and lanes want in
// pairs the same: each lane i what i ^ 1 wants, or each what i ^ 2 wants.
// Lanes whose atomics are for one word go at once, too, as -O3 makes it of atomicAdd(&count, 1).
SharedCost sharedCostOf(const WarpAccess& access);

// The asynchronous copies of the active lanes, in ascending order of lanes; all of the same size.
struct WarpCopy {
    uint32_t lanes = 0;          // active ones, one bit each
    uint32_t size = 0;           // bytes per lane that are written: 4, 8 or 16
    uint32_t read = 0;           // of these, how many are read
    uintptr_t from[32], to[32];  // of the active lanes, without gaps
    unsigned count() const { return static_cast<unsigned>(__builtin_popcount(lanes)); }
};

struct CopyCost {
    unsigned requested = 0;   // sectors, as ncu counts them among those of loads
    unsigned sectors = 0;     // that are moved: of 16 bytes, one has to fit into one
    unsigned bytes = 0;       // different ones in global memory
    unsigned wavefronts = 0;  // of shared memory
    unsigned conflicts = 0;   // of these, how many only because lanes met in a bank
    unsigned sharedBytes = 0;
};

// Copies of 4 and 8 bytes go through the L1 cache, which reads as it writes: in passes through the
// banks, in which lanes do not share words. Copies of 16 bytes come from the L2 cache, in what the
// lanes have of a line of both memories: at once if all bytes go as far, in 32-byte sectors.
CopyCost copyCostOf(const WarpCopy& copy);

}  // namespace emu
