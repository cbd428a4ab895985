#pragma once
// How every kernel is measured: after a warm-up, many runs, each with fresh data and cold caches.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "buffer.cuh"
#include "statistics.h"

namespace lab {

// Replaces what the L2 cache holds by reading twice its size. By reading, not by writing: lines
// that were written go back to memory later, at the expense of the kernel that is measured next.
class L2Flush {
  public:
    explicit L2Flush(std::size_t l2Bytes);

    // Does not wait; nothing where the cache's size is unknown (0).
    void operator()() const;

  private:
    DeviceBuffer<unsigned> data_;
    DeviceBuffer<unsigned> sink_;
};

// Starts work on the default stream, and need not wait for it.
using Launch = std::function<void()>;

class Measure {
  public:
    // `reps` timed runs of each kernel; 0: each runs once, and nothing is timed. If `fewerIfLong`,
    // three or more of what takes long: as many as end within 20 ms.
    Measure(int reps, std::size_t l2Bytes, bool fewerIfLong = false);

    // Timed runs of what takes so many milliseconds; 0 where nothing is timed.
    int repsOf(double milliseconds) const;

    // The times of `launch` in milliseconds. `before` runs before each run and is not timed; best
    // without waiting on the host. `name` is for error messages and the profilers' timelines.
    Statistics operator()(const std::string& name, const Launch& before,
                          const Launch& launch) const;

    // The same of what the host computes: after a run that is not timed as many as there are
    // repetitions, or as begin within a second.
    Statistics onHost(const std::function<void()>& compute) const;

    // One run that is not timed.
    static void once(const std::string& name, const Launch& before, const Launch& launch);

  private:
    int reps_;
    bool fewerIfLong_;
    mutable bool clocksAreUp_ = false;
    std::optional<L2Flush> flushL2_;
};

}  // namespace lab
