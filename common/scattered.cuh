#pragma once
// A random order that needs no memory: each place is computed, and so cheaply that this does not
// limit a kernel that reads from there.

#include <cstddef>

class Scattered {
  public:
    // Of the places 0 ... 2^bits - 1, of which there are at most `count`, and more than half as
    // many; no more than 2^32.
    explicit Scattered(std::size_t count) {
        while (bits_ < 32 && count / 2 >> bits_ > 0) ++bits_;
        mask_ = static_cast<unsigned>((std::size_t{1} << bits_) - 1);
        half_ = (bits_ + 1) / 2;
    }

    std::size_t count() const { return std::size_t{mask_} + 1; }

    // Different numbers of 0 ... 2^bits - 1 have different places, since each line could be undone:
    // the factors are odd, and a shifted number leaves the upper bits as they are.
    __host__ __device__ unsigned operator()(unsigned number) const {
        number = number * 0x9E3779B1u & mask_;
        number ^= number >> half_;
        return number * 0x85EBCA77u & mask_;
    }

  private:
    unsigned bits_ = 0, mask_, half_;
};

namespace lab {

// The number at a place: so mixed that the sum of other places is another one.
__host__ __device__ inline unsigned mixedNumber(std::size_t place, unsigned seed) {
    unsigned number = static_cast<unsigned>(place ^ place >> 32) * 0x9E3779B1u + seed;
    number ^= number >> 15;
    return number * 0x85EBCA77u;
}

}  // namespace lab
