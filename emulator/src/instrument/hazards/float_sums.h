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
        FloatAddition other;    // by another thread, right before or after at the same address
        double sum, otherwise;  // after both, and if both had come in the other order
    };

    // Looks for another thread's addition that came right before or after this one, in no order
    // with it; where both give another sum if they change places. `ordered(other)` says whether
    // a synchronisation of the warp orders them.
    template <class Ordered>
    std::optional<Swapped> add(const FloatAddition& addition, Ordered ordered) {
        const std::lock_guard<std::mutex> lock(mutex_);
        Recent& recent = recent_[addition.address / sizeof(float) % recent_.size()];
        std::optional<Swapped> swapped;
        for (const FloatAddition& other : recent.additions) {
            if (swapped || !unordered(other, addition) || ordered(other)) continue;
            swapped = compare(other, addition);
            if (!swapped) swapped = compare(addition, other);
            if (swapped) swapped->other = other;
        }
        recent.additions[recent.next++ % recent.additions.size()] = addition;
        return swapped;
    }

  private:
    static bool unordered(const FloatAddition& one, const FloatAddition& two);
    // `two` may have come right after `one`.
    static std::optional<Swapped> compare(const FloatAddition& one, const FloatAddition& two);

    // OS threads come here some time after what they tell of, so that others may have come between.
    struct Recent {
        std::array<FloatAddition, 4> additions;
        unsigned next = 0;
    };

    std::mutex mutex_;
    std::array<Recent, 1024> recent_;  // by address: some are forgotten
};

}  // namespace emu
