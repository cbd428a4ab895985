#pragma once
// Measures what copies between host and device cost, and computes the columns that follow from it.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check.cuh"
#include "exercise.cuh"
#include "nvtx.cuh"
#include "statistics.h"
#include "table.h"
#include "timer.cuh"

namespace transfer {

// Times in milliseconds. They are empty where nothing was measured (--profile).
struct CopyTimes {
    lab::Statistics done;    // until the copy has ended, in a stream that was idle before
    lab::Statistics called;  // until the call that asks for the copy returns
};

// Measures `copy`, which begins and ends in the default stream. No other work is queued before it,
// so the time includes what the host does for the copy.
inline CopyTimes timesOf(const lab::Exercise& exercise, const std::string& name,
                         const lab::Launch& copy) {
    constexpr double kWarmupMilliseconds = 10;  // the link may be in a mode that saves power
    const lab::NvtxRange range(name);
    const lab::CpuTimer warmup;
    double ofRun = 0;
    do {
        const lab::CpuTimer run;
        copy();
        lab::checkCuda(cudaDeviceSynchronize(), "failed while it ran", name);
        ofRun = run.milliseconds();
    } while (exercise.timesCount() && warmup.milliseconds() < kWarmupMilliseconds);

    lab::GpuTimer timer;
    std::vector<double> done, called;
    for (int rep = exercise.measure().repsOf(ofRun); rep > 0; --rep) {
        const lab::NvtxRange repetition(lab::kRepetition);
        timer.start();
        const lab::CpuTimer call;
        copy();
        called.push_back(call.milliseconds());
        timer.stop();
        done.push_back(timer.milliseconds());  // waits for the copy
    }
    return {lab::statistics(std::move(done)), lab::statistics(std::move(called))};
}

// Measures work that the host does by itself.
inline lab::Statistics hostTimesOf(const lab::Exercise& exercise, const std::string& name,
                                   const std::function<void()>& work) {
    const lab::NvtxRange range(name);
    const lab::CpuTimer first;
    work();
    std::vector<double> times;
    for (int rep = exercise.measure().repsOf(first.milliseconds()); rep > 0; --rep) {
        const lab::CpuTimer timer;
        work();
        times.push_back(timer.milliseconds());
    }
    return lab::statistics(std::move(times));
}

// In the model time = latency + bytes / rate, a copy that takes twice the latency reaches half of
// the rate. Returns how many bytes such a copy has. Returns nothing if this copy was shorter,
// because then its time says little about the rate.
inline std::optional<double> halfRateBytes(double latency, double time, double bytes) {
    if (latency <= 0 || time < 2 * latency) return std::nullopt;
    return latency * bytes / (time - latency);
}

// The columns about latency: the time of the call and the time of a copy of one int, both in
// microseconds, and how many KiB a copy must have to reach half of the rate.
inline std::vector<lab::Cell> latencyCells(const CopyTimes& times, const lab::Statistics& ofOne,
                                           std::size_t bytes) {
    const double latency = ofOne.median;
    const auto halfAt = halfRateBytes(latency, times.done.median, static_cast<double>(bytes));
    return {{1e3 * times.called.median, 1},
            {1e3 * latency, 1},
            halfAt ? lab::Cell(*halfAt / 1024, 1) : lab::Cell()};
}

// After how many copies, each of which saves `saved`, the costs `extra` have paid. Nothing if
// never.
inline std::optional<double> paysAfter(double extra, double saved) {
    if (saved <= 0) return std::nullopt;
    return std::max(0.0, extra / saved);
}

// The medians of the rows so far, by kind of memory and by what was done with it. All other kinds
// are compared with the first one.
class Medians {
  public:
    void note(const std::string& kind, const std::string& what, const lab::Statistics& time) {
        if (time.count == 0) return;
        if (medians_.empty()) first_ = kind;
        medians_[{kind, what}] = time.median;
    }

    // How much longer it took than with the first kind of memory. Nothing for the first kind, and
    // if one of the two was not measured.
    std::optional<double> more(const std::string& kind, const std::string& what) const {
        const auto mine = medians_.find({kind, what}), theirs = medians_.find({first_, what});
        const bool known = mine != medians_.end() && theirs != medians_.end();
        if (kind == first_ || !known) return std::nullopt;
        return mine->second - theirs->second;
    }

  private:
    std::string first_;
    std::map<std::pair<std::string, std::string>, double> medians_;
};

// The directions in which a copy moves all bytes.
enum Ways : unsigned { kOneWay = 1, kBothWays = 2 };

// Measures, checks and prints the rows. Each does something with `bytes` of one kind of memory.
class Rows {
  public:
    using Check = std::function<std::string()>;  // returns what is wrong

    Rows(lab::Exercise& exercise, std::size_t bytes) : exercise_(exercise), bytes_(bytes) {
        constexpr auto kOnGpu = lab::OwnColumn::kOnGpu;
        exercise_.columns(lab::Columns::kTimed,
                          {{"", 0, "bytes"},
                           {"GB/s", 6, "gbps", kOnGpu},
                           {"call", 8, "call_us", kOnGpu},
                           {"one int", 7, "one_int_us", kOnGpu},
                           {"half at", 7, "half_at_kib", kOnGpu},
                           {"", 0, "extra_ms", kOnGpu},
                           {"", 0, "saved_ms", kOnGpu},
                           {"pays", 5, "pays_after", kOnGpu}},
                          {"grid", "block"});
    }

    // The host allocates the memory and frees it.
    void allocation(const std::string& kind, const Check& check,
                    const std::function<void()>& work) {
        if (!exercise_.selected(kind + kAllocation)) return;
        const lab::Statistics time = hostTimesOf(exercise_, kind + kAllocation, work);
        medians_.note(kind, kAllocation, time);
        print(kind, kAllocation, time, check(), {bytes_});
    }

    // `copy` copies so many bytes in each direction. `poison` overwrites the places where they will
    // arrive.
    void copies(const std::string& kind, const std::string& what, Ways ways,
                const lab::Launch& poison, const Check& check,
                const std::function<void(std::size_t bytes)>& copy) {
        const std::string name = kind + what;
        if (!exercise_.selected(name)) return;
        lab::Statistics ofOne;
        if (exercise_.timesCount())
            ofOne = timesOf(exercise_, name, [&] { copy(sizeof(int)); }).done;
        poison();
        const CopyTimes times = timesOf(exercise_, name, [&] { copy(bytes_); });

        std::vector<lab::Cell> cells = {bytes_, gbps(ways * bytes_, times.done)};
        if (exercise_.timesCount()) {
            for (lab::Cell& cell : latencyCells(times, ofOne, bytes_)) {
                cells.push_back(std::move(cell));
            }

            medians_.note(kind, what, times.done);
            const auto extra = medians_.more(kind, kAllocation), more = medians_.more(kind, what);
            if (ways == kOneWay && extra && more) {  // BothWays needs such memory twice
                const auto pays = paysAfter(*extra, -*more);
                cells.emplace_back(*extra, 4);
                cells.emplace_back(-*more, 4);
                cells.push_back(pays ? lab::Cell(*pays, 1) : lab::Cell());
            }
        }
        print(kind, what, times.done, check(), std::move(cells));
    }

    // The host works with so many bytes of the memory, and `work` waits for the end of all of it.
    void host(const std::string& kind, const std::string& what, std::size_t bytes,
              const Check& check, const std::function<void()>& work) {
        if (!exercise_.selected(kind + what)) return;
        const lab::Statistics time = hostTimesOf(exercise_, kind + what, work);
        print(kind, what, time, check(), {bytes, gbps(bytes, time)});
    }

    static lab::Cell gbps(std::size_t bytes, const lab::Statistics& time) {
        if (time.count == 0) return {};
        return {1e-6 * static_cast<double>(bytes) / time.median, 1};
    }

  private:
    static constexpr const char* kAllocation = "Allocation";

    void print(const std::string& kind, const std::string& what, const lab::Statistics& time,
               const std::string& wrong, std::vector<lab::Cell> cells) {
        lab::Row row;
        row.kernel = kind + what;
        row.parameters = exercise_.parameters() + " memory=" + kind + " what=" + what;
        row.time = time;
        row.finding = {wrong, std::move(cells)};
        exercise_.row(std::move(row));
    }

    lab::Exercise& exercise_;
    std::size_t bytes_;
    Medians medians_;
};

}  // namespace transfer
