#pragma once
// What the warps of a multiprocessor (SM) have in flight, and what Little's law says of it: in
// flight = latency x throughput.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "device.cuh"
#include "format.h"
#include "statistics.h"
#include "table.h"

// On each of `sms` SMs so many warps, in one block or in two of the largest size. `shared`, dynamic
// shared memory that nobody uses, keeps a second block away.
struct Shape {
    static constexpr unsigned kWarp = 32;        // threads of a warp
    static constexpr unsigned kBlockWarps = 32;  // of the largest block
    unsigned sms, warps, block, shared;
    unsigned blocksPerSm() const { return warps > kBlockWarps ? warps / kBlockWarps : 1; }
    unsigned grid() const { return sms * blocksPerSm(); }
    std::size_t threads() const { return std::size_t{grid()} * block; }
};

// Little's law, and the rows of a kernel that are compared with it.
class Law {
  public:
    // In flight are FMAs or bytes, `unit`, so many to an operation of a thread; the GPU finishes at
    // most `peak` of them per second (0: unknown). `latency` is that of an operation on an idle SM,
    // in cycles; 0: the one of the first row.
    Law(const lab::DeviceFacts& gpu, const char* unit, unsigned perOperation, double peak,
        double latency = 0)
        : sms_(gpu.multiprocessors),
          unit_(unit),
          perOperation_(perOperation),
          peak_(peak),
          peakPerCycle_(peak / gpu.clock / gpu.multiprocessors),
          latency_(latency) {}

    double latency() const { return latency_; }

    // The cells of a row: `amount` is what all threads did together, `cycles` what each block took.
    // Without a time, those that need none.
    std::vector<lab::Cell> cells(const Shape& shape, unsigned perThread, double amount,
                                 const lab::Statistics& time,
                                 const std::vector<long long>& cycles) {
        const double perSm = 1.0 * shape.threads() / shape.sms;
        const double inFlight = perSm * perThread * perOperation_;
        std::vector<lab::Cell> cells = {perThread, shape.warps, {inFlight, 0}};
        if (time.count == 0) return cells;

        const long long longest = *std::max_element(cycles.begin(), cycles.end());
        const double perCycle = amount / shape.sms / static_cast<double>(longest);
        points_.push_back({shape.warps, perThread, inFlight, perCycle});
        if (latency_ == 0) latency_ = inFlight / perCycle;

        const double perSecond = amount / (1e-3 * time.median);
        const bool fmas = perOperation_ == 1;
        const lab::Cell gflops = fmas ? lab::Cell(2 * perSecond / 1e9, 1) : lab::Cell();
        const lab::Cell gbps = fmas ? lab::Cell() : lab::Cell(perSecond / 1e9, 1);
        cells.insert(cells.end(), {{perCycle, 2}, {inFlight / perCycle, 1}, gflops, gbps});
        if (peak_ > 0) {
            const double part = 1.0 * shape.sms / sms_;
            const double allowed = part * inFlight / (latency_ * peakPerCycle_);
            cells.emplace_back(100 * perSecond / peak_, 1);
            cells.emplace_back(100 * std::min(1.0, allowed), 1);
        }
        return cells;
    }

    // What the law asks for, and beside it the fewest warps that came within 10 % of the best row;
    // empty where there is no peak to reach or nothing to compare.
    std::string comparison() const {
        if (points_.size() < 2 || peak_ == 0) return "";
        const double needed = latency_ * peakPerCycle_;
        std::string text =
            lab::formatted("    By the law, %.0f %s must be in flight: %.1f warps x 1.\n", needed,
                           unit_, needed / points_.front().inFlight);
        text += "    Within 10 % of the best:";
        double best = 0;
        for (const Point& point : points_) best = std::max(best, point.perCycle);
        unsigned told = 0;
        for (const Point& point : points_) {
            if (point.perThread == told || point.perCycle < 0.9 * best) continue;
            text += lab::formatted("%s %u x %u", told > 0 ? "," : "", point.warps, point.perThread);
            told = point.perThread;
        }
        return text;
    }

  private:
    struct Point {
        unsigned warps, perThread;
        double inFlight, perCycle;  // on an SM
    };

    int sms_;
    const char* unit_;
    unsigned perOperation_;
    double peak_, peakPerCycle_;  // of the GPU per second, of an SM per cycle
    double latency_;
    std::vector<Point> points_;
};
