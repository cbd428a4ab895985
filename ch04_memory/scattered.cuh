#pragma once
// A random order that needs no memory: each place is computed.

#include <cstddef>

class Scattered {
  public:
    // Of the places 0 ... 2^bits - 1, of which there are at most `count`, and more than half as
    // many.
    explicit Scattered(std::size_t count) {
        while (count / 2 >> bits_ > 0) ++bits_;
    }

    std::size_t count() const { return std::size_t{1} << bits_; }

    // Different numbers of 0 ... 2^bits - 1 have different places, since each line could be undone:
    // the factors are odd, and a shifted number leaves the upper bits as they are.
    __host__ __device__ std::size_t operator()(std::size_t number) const {
        const std::size_t mask = (std::size_t{1} << bits_) - 1;
        const unsigned half = (bits_ + 1) / 2;
        number = number * 0x9E3779B97F4A7C15 & mask;
        number ^= number >> half;
        number = number * 0xBF58476D1CE4E5B9 & mask;
        number ^= number >> half;
        return number * 0x94D049BB133111EB & mask;
    }

  private:
    unsigned bits_ = 0;
};
