#pragma once
// The roofline model: which of two limits a kernel meets first, memory or arithmetic. It knows
// nothing of the kernel but its operations for each byte. (Williams, Waterman, Patterson,
// "Roofline: An Insightful Visual Performance Model for Multicore Architectures", 2009.)

#include <algorithm>

// The two peaks of a device, operations and bytes per second; 0 where one is not known.
struct Roofs {
    double operations, bytes;

    // Where the two roofs meet, in operations per byte: with fewer of them memory is the limit.
    // Also called the machine balance. Of known peaks only.
    double ridge() const { return operations / bytes; }

    // The most operations per second that a kernel can do that does so many for each byte.
    double attainable(double perByte) const { return std::min(operations, perByte * bytes); }

    // Which roof that is. Of known peaks only.
    const char* limit(double perByte) const { return perByte < ridge() ? "memory" : "FP32"; }
};

// Bytes that all multiprocessors together can read from shared memory in a second: 32 banks of 4
// bytes each, once per cycle (CUDA C++ Programming Guide, "Shared Memory", compute capability 5.0
// and up). `clock` in cycles per second.
inline double sharedBandwidth(int multiprocessors, double clock) {
    return 32 * 4.0 * multiprocessors * clock;
}
