#pragma once
// The roofline model: which of two limits a kernel meets first, memory or arithmetic. The model
// knows only one number of the kernel, its operations for each byte. (Williams, Waterman,
// Patterson, "Roofline: An Insightful Visual Performance Model for Multicore Architectures", 2009.)

#include <algorithm>

// The peaks of a device, each per second: FP32 operations, bytes of device memory, bytes of shared
// memory. A peak that nobody knows is 0.
struct Roofs {
    double operations, bytes, sharedBytes = 0;

    // The intensity at which the roofs of arithmetic and device memory meet, in operations per
    // byte. Also called the machine balance. Both peaks must be known.
    double ridge() const { return operations / bytes; }

    // The most operations per second that a kernel of this intensity can do.
    double attainable(double intensity) const { return std::min(operations, intensity * bytes); }

    // Which of the two roofs that is. Both peaks must be known.
    const char* limit(double intensity) const { return intensity < ridge() ? "memory" : "FP32"; }
};

// What a kernel has to do. An addition is one operation, and a multiply-add is two.
struct Work {
    double additions, multiplyAdds;
    double deviceBytes, sharedBytes;  // that move to or from this memory
};

// Bytes that all SMs together can read from shared memory in a second: each of the 32 banks
// delivers 4 bytes per cycle (CUDA C++ Programming Guide, "Shared Memory", compute capability 5.0
// and up). `clock` is in cycles per second.
inline double sharedBandwidth(int multiprocessors, double clock) {
    return 32 * 4.0 * multiprocessors * clock;
}
