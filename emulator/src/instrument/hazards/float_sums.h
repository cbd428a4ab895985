// Finds sums of floating-point numbers whose value depends on the order of the atomic additions.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>

namespace emu {

struct FloatAddition {
    uintptr_t address = 0;
    double before = 0, value = 0;  // what was there, and what is added
    bool isDouble = false;         // else these are floats

    // Who adds.
    uint64_t launch = 0, block = 0;  // numbers
    unsigned rank = 0;
    bool isShared = false;      // the address is in shared memory
    uint64_t barriers = 0;      // of the block, until then
    uint64_t gridBarriers = 0;  // of the grid
    uint32_t clock = 0;         // of the lane, as WarpClocks counts
};

// Of all threads. Thread-safe.
class FloatSums {
  public:
    struct Otherwise {
        FloatAddition first;    // of another thread, in no order with the one that is told of
        double sum, otherwise;  // after that one, and if the first had come last
    };

    // Of the additions at an address since some first one, that one could also have come last, if
    // nothing orders it before the others. Returns both sums if they differ. `ordered(first)` says
    // whether a synchronisation of the warp orders them.
    template <class Ordered>
    std::optional<Otherwise> add(const FloatAddition& addition, Ordered ordered) {
        const std::lock_guard<std::mutex> lock(mutex_);
        Chain& chain = chains_[addition.address / sizeof(float) % chains_.size()];
        if (isBefore(addition, chain)) return std::nullopt;
        if (continues(addition, chain) && !ordered(chain.first)) return extend(chain, addition);
        chain = begin(addition);
        return std::nullopt;
    }

  private:
    struct Chain {
        FloatAddition first;
        double sum = 0;      // after the last of them
        double without = 0;  // the first
    };

    static Chain begin(const FloatAddition& first);
    // OS threads come here some time after what they tell of, so that others may have come between.
    static bool isBefore(const FloatAddition& addition, const Chain& chain);
    static bool continues(const FloatAddition& addition, const Chain& chain);
    static std::optional<Otherwise> extend(Chain& chain, const FloatAddition& last);

    std::mutex mutex_;
    std::array<Chain, 4096> chains_;  // by address: some are forgotten
};

}  // namespace emu
