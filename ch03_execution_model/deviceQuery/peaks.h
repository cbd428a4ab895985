#pragma once
// What deviceQuery computes from the numbers of the hardware; 0 where one of them is not known.

#include <string>

// Operations for each byte at which arithmetic and memory take equally long.
inline double machineBalance(double flops, double bytes) {
    return bytes > 0 ? flops / bytes : 0;
}

// Cycles in which the schedulers of all SMs issue the instructions of all warps, one each per
// cycle.
inline double cyclesToIssue(double warps, double instructions, int sms, int schedulers) {
    return schedulers > 0 ? warps * instructions / sms / schedulers : 0;
}

// How long cycles take, in microseconds.
inline double microseconds(double cycles, double megahertz) {
    return megahertz > 0 ? cycles / megahertz : 0;
}

// A version as CUDA has it in one number: 13020 is "13.2".
inline std::string cudaVersion(int number) {
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}
