#pragma once
// What a memory's bus can carry, and what it takes to keep it busy: dramParallelism.
//
// A channel is a bus of its own with banks behind it. On the bus, data moves twice per clock; an
// access is a burst of 8 transfers, as in DDR4 and HBM3.

#include <cmath>
#include <cstddef>
#include <numeric>

inline constexpr unsigned kTransfersPerClock = 2;
inline constexpr unsigned kTransfersPerBurst = 8;

// Bytes per second of `bits` data lines at `hertz` clocks per second.
inline double busBytesPerSecond(unsigned bits, double hertz) {
    return kTransfersPerClock * hertz * bits / 8;
}

// Bytes of a burst over `bits` data lines.
inline unsigned burstBytes(unsigned bits) {
    return kTransfersPerBurst * bits / 8;
}

// Seconds for which a burst occupies the bus.
inline double burstSeconds(double hertz) {
    return kTransfersPerBurst / (kTransfersPerClock * hertz);
}

// The smallest whole number of units, each good for `each`, that together are good for `wanted`.
// Both are more than 0. A millionth of a unit is taken for rounding.
inline unsigned unitsFor(double wanted, double each) {
    return static_cast<unsigned>(std::ceil(wanted / each - 1e-6));
}

// Channels that are used, if one bus after the other has the next `width` bytes of memory, and
// every `stride`-th byte is read: all of them at best. None of the three is 0.
//
// The places modulo channels * width are the multiples of the greatest common divisor of that and
// the stride.
inline unsigned channelsInPlainOrder(std::size_t stride, unsigned channels, unsigned width) {
    const std::size_t all = std::size_t{channels} * width;
    const std::size_t apart = std::gcd(stride, all);
    return apart <= width ? channels : static_cast<unsigned>(all / apart);
}
