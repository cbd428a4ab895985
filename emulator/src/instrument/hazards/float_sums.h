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
    struct Swapped {
        FloatAddition other;        // the addition before, by another thread
        double sum, otherwise;      // after both, and if both had come in the other order
    };

    // Two additions of threads in no order, one right after the other at the same address: empty if
    // the sum is the same when they change places. `ordered(other)` says whether a synchronisation
    // of the warp came between.
    template <class Ordered>
    std::optional<Swapped> add(const FloatAddition& addition, Ordered ordered) {
        const std::lock_guard<std::mutex> lock(mutex_);
        FloatAddition& last = last_[addition.address / sizeof(float) % last_.size()];
        std::optional<Swapped> swapped;
        if (unordered(last, addition) && !ordered(last)) swapped = compare(last, addition);
        last = addition;
        return swapped;
    }

  private:
    static bool unordered(const FloatAddition& one, const FloatAddition& two);
    static std::optional<Swapped> compare(const FloatAddition& one, const FloatAddition& two);

    std::mutex mutex_;
    std::array<FloatAddition, 4096> last_;  // by address: some are forgotten
};

}  // namespace emu
