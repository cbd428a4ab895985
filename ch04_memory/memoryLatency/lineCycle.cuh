#pragma once
// The order in which a chain of dependent loads goes through memory: memoryLatency.

#include <cuda_runtime.h>

// Each of the lines 0 ... lines - 1 has a successor, and from line 0 the way leads through all of
// them and back. The successor is computed, not stored: next = a * line + c modulo a power of two
// passes through all remainders if a - 1 is a multiple of 4 and c is odd (Hull and Dobell, 1962).
// next() skips numbers from `lines` up, which leaves a shorter cycle.
struct LineCycle {
    unsigned lines;
    unsigned addend;    // odd
    unsigned mask = 0;  // the power of two, less one

    LineCycle(unsigned lines, unsigned addend) : lines(lines), addend(addend) {
        while (mask < lines - 1) mask = 2 * mask + 1;
    }

    __host__ __device__ unsigned next(unsigned line) const {
        constexpr unsigned kFactor = 1664525;
        do {
            line = (kFactor * line + addend) & mask;
        } while (line >= lines);
        return line;
    }
};
