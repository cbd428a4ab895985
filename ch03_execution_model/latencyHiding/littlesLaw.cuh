#pragma once
// This header computes what the warps of a multiprocessor (SM) have in flight, and what Little's
// law predicts from it: in flight = latency x throughput.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "device.cuh"
#include "format.h"
#include "statistics.h"
#include "table.h"

// A launch puts so many warps on each of `sms` SMs, in one block or in two of the largest size. It
// reserves `shared` bytes of dynamic shared memory that no thread uses, to keep a second block
// away.
struct Shape {
    static constexpr unsigned kWarp = 32;        // threads of a warp
    static constexpr unsigned kBlockWarps = 32;  // warps of the largest block
    unsigned sms, warps, block, shared;
    unsigned blocksPerSm() const { return warps > kBlockWarps ? warps / kBlockWarps : 1; }
    unsigned grid() const { return sms * blocksPerSm(); }
    std::size_t threads() const { return std::size_t{grid()} * block; }
};

// A Law collects the rows of a kernel and compares them with Little's law.
class Law {
  public:
    // `unit` names what is in flight, FMAs or bytes, and an operation of a thread has
    // `perOperation` of them. The GPU finishes at most `peak` of them per second. (If `peak` is 0,
    // it is unknown.) `latency` is the latency of an operation on an idle SM, in cycles. If it is
    // 0, the first row decides it.
    Law(const lab::DeviceFacts& gpu, const char* unit, unsigned perOperation, double peak,
        double latency = 0)
        : sms_(gpu.multiprocessors),
          unit_(unit),
          perOperation_(perOperation),
          peak_(peak),
          peakPerCycle_(peak / gpu.clock / gpu.multiprocessors),
          latency_(latency) {}

    double latency() const { return latency_; }

    // Returns the cells of a row. `amount` is what all threads did together, and `cycles` is what
    // each block took. Without a time, it returns only the cells that need none.
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

    // Says what the law asks for, and the fewest warps that came within 10 % of the best row. The
    // text is empty if the peak is unknown or there is nothing to compare.
    std::string comparison() const {
        if (points_.size() < 2 || peak_ == 0) return "";
        const double needed = latency_ * peakPerCycle_;
        std::string text = lab::formatted(
            "    By the law, %.0f %s must be in flight: %.1f warps x 1 per thread.\n", needed,
            unit_, needed / points_.front().inFlight);
        text += "    These come within 10 % of the best:";
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
        double inFlight, perCycle;  // both on an SM
    };

    int sms_;
    const char* unit_;
    unsigned perOperation_;
    double peak_, peakPerCycle_;  // of the GPU per second, of an SM per cycle
    double latency_;
    std::vector<Point> points_;
};
