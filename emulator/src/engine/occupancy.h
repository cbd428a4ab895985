// How many blocks the emulated multiprocessors hold at a time, by the limits of the device.
#pragma once

#include <cstddef>

namespace emu {

// Shared memory is handed to blocks in units of this many bytes (CUDA Occupancy Calculator, 9.0).
constexpr size_t kSharedUnit = 128;

// Resident blocks of `blockSize` threads (at least 1) per SM, if only their threads counted.
int maxBlocksByThreads(int blockSize);

// Resident blocks per SM for this block size [threads] and shared memory [bytes]; 0 if one block
// does not fit.
int maxBlocksPerSm(int blockSize, size_t shared);

}  // namespace emu
