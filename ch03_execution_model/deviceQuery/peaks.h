#pragma once
// deviceQuery computes these values from the numbers of the hardware. A value is 0 if one of these
// numbers is unknown.

#include <string>

// Returns the operations for each byte at which arithmetic and memory take equally long.
inline double machineBalance(double flops, double bytes) {
    return bytes > 0 ? flops / bytes : 0;
}

// Returns the cycles in which the schedulers of all SMs issue the instructions of all warps. Each
// scheduler issues one instruction per cycle.
inline double cyclesToIssue(double warps, double instructions, int sms, int schedulers) {
    return schedulers > 0 ? warps * instructions / sms / schedulers : 0;
}

// Returns how long cycles take, in microseconds.
inline double microseconds(double cycles, double megahertz) {
    return megahertz > 0 ? cycles / megahertz : 0;
}

// Returns the text of a version that CUDA has as one number: "13.2" for 13020.
inline std::string cudaVersion(int number) {
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}
