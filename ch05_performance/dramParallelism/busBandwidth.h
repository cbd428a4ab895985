#pragma once
// Computes for dramParallelism what the bus of a memory can carry, and what keeps it busy.
//
// A channel is a bus with its banks. The bus makes two transfers in each clock. An access is a
// burst of 8 transfers, as in DDR4 and HBM3.

#include <cmath>
#include <cstddef>
#include <numeric>

inline constexpr unsigned kTransfersPerClock = 2;
inline constexpr unsigned kTransfersPerBurst = 8;

// Bytes per second that `bits` data lines carry at `hertz` clocks per second.
inline double busBytesPerSecond(unsigned bits, double hertz) {
    return kTransfersPerClock * hertz * bits / 8;
}

// Bytes that a burst over `bits` data lines carries.
inline unsigned burstBytes(unsigned bits) {
    return kTransfersPerBurst * bits / 8;
}

// Seconds for which a burst occupies the bus.
inline double burstSeconds(double hertz) {
    return kTransfersPerBurst / (kTransfersPerClock * hertz);
}

// The smallest whole number of units that together provide `wanted`, if one provides `each`. Both
// arguments are positive. A millionth of a unit is allowed for rounding errors.
inline unsigned unitsFor(double wanted, double each) {
    return static_cast<unsigned>(std::ceil(wanted / each - 1e-6));
}

// The number of channels that a program uses if it reads every `stride`-th byte and the memory is
// in plain order: each channel has `width` bytes, and the next channel has the next `width` bytes.
// No argument is 0.
//
// The places that the program reads, modulo channels * width, are the multiples of the greatest
// common divisor of the stride and channels * width.
inline unsigned channelsInPlainOrder(std::size_t stride, unsigned channels, unsigned width) {
    const std::size_t all = std::size_t{channels} * width;
    const std::size_t apart = std::gcd(stride, all);
    return apart <= width ? channels : static_cast<unsigned>(all / apart);
}
