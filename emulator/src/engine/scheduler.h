// Runs the blocks of a grid on one OS thread: which CUDA thread runs next, who waits for whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "emu/runtime_types.h"
#include "failure.h"
#include "fiber.h"
#include "grid.h"

namespace emu {

// Runs blocks of `grid` on the calling OS thread until none is left (or, for a cooperative launch,
// just the one numbered `block`). `sm` is what smid() answers there.
void runBlocks(Grid& grid, unsigned sm);
void runOneBlock(Grid& grid, unsigned sm, uint64_t block);

// ---- what runs on this OS thread

// The caller is a CUDA thread, that is, code of a kernel.
bool inDevice();

// The grid whose kernel is running, or nullptr.
Grid* currentGrid();

// The fiber that is running; only while inDevice().
const Fiber* currentFiber();

// Lets each of the other CUDA threads of the block that can run do so once; only while inDevice().
void takeTurns();

// The running thread is about to touch memory that others may see; `plain`: by neither an atomic
// nor a volatile access. Lets others run if the schedule says so; there must be one.
void interleave(bool plain);

// The last error of the calling CUDA thread; valid while inDevice().
cudaError_t& deviceThreadError();

// Prints `message` with the kernel, block and thread that is running, and ends the kernel with
// `error` (sticky). Only while inDevice(). Does not return, and unwinds nothing: what the callers
// own is lost.
[[noreturn]] void failKernel(cudaError_t error, std::string message,
                             Failure failure = Failure::Other);

// Where the scheduler keeps its own state for this OS thread, which holds the values that lanes
// exchange; only while inDevice().
struct MemoryRange {
    const void* begin;
    size_t size;  // bytes
};
MemoryRange schedulerMemory();

}  // namespace emu
