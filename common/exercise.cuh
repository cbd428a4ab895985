#pragma once
// What every exercise does around its kernels: options, device, measuring, checking, the table.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "buffer.cuh"
#include "check.cuh"
#include "device.cuh"
#include "format.h"
#include "l2_flush.cuh"
#include "memory.h"
#include "nvtx.cuh"
#include "options.h"
#include "statistics.h"
#include "table.h"
#include "timer.cuh"
#include "verify.h"

namespace lab {

inline constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 40;  // more than any GPU's memory
inline constexpr unsigned kMaxBlock = 1024;  // threads per block, on every GPU

// "ok" or "WRONG", for the last column of a table.
inline const char* verdict(const std::string& mismatch) {
    return mismatch.empty() ? "ok" : "WRONG";
}

inline std::string shape(dim3 size) {
    if (size.z > 1) return formatted("%ux%ux%u", size.x, size.y, size.z);
    if (size.y > 1) return formatted("%ux%u", size.x, size.y);
    return formatted("%u", size.x);
}

// The inverse: "40x2" as a block, with at most so many numbers (1 to 3). Nothing where the text is
// none, or one that no GPU can launch.
inline std::optional<dim3> parseBlock(const std::string& text, int most) {
    constexpr unsigned kMaxZ = 64;
    unsigned sides[3] = {1, 1, 1};
    std::size_t start = 0;
    for (int i = 0; start <= text.size(); ++i) {
        const std::size_t end = std::min(text.find('x', start), text.size());
        std::uint64_t side = 0;
        if (i == most || !parseWhole(text.substr(start, end - start), &side)) return {};
        if (side < 1 || side > kMaxBlock) return {};
        sides[i] = static_cast<unsigned>(side);
        start = end + 1;
    }
    if (sides[0] * sides[1] * sides[2] > kMaxBlock || sides[2] > kMaxZ) return {};
    return dim3(sides[0], sides[1], sides[2]);
}

// The times of a row, in milliseconds; empty where --profile has measured nothing.
struct TimeCells {
    Cell median, min, max;

    explicit TimeCells(const Statistics& time) {
        if (time.median <= 0) return;
        median = {time.median, 4};
        min = {time.min, 4};
        max = {time.max, 4};
    }
};

class Exercise {
  public:
    // `name` as in the file name, `about` one or two sentences for --help.
    Exercise(std::string name, std::string about)
        : name_(std::move(name)), about_(std::move(about)) {
        quitOnBadAlloc();
    }

    // ---- the command line ----

    // Options of this exercise, declared before parse(); *value holds the default.
    template <typename T>
    void option(const std::string& name, T* value, std::uint64_t min, std::uint64_t max,
                const std::string& help, Rule rule = Rule::kAny) {
        options_.number(name, value, min, max, help, rule);
    }
    Options& options() { return options_; }  // for flag() and text()

    // Reads the command line and selects the device. Ends the program after --help (0), on bad
    // usage (2) and where there is no usable GPU (77).
    void parse(int argc, char** argv) {
        parseOptions(argc, argv);
        selectDevice();
    }

    // The two halves of parse(), for what an exercise can do without a GPU.
    void parseOptions(int argc, char** argv) {
        ownOptions_ = options_.size();
        bool help = false;
        options_.number("reps", &reps_, 1, 1000000, "measured runs of each kernel");
        options_.number("seed", &seed_, 0, UINT64_MAX, "seed of the input data");
        options_.text("kernel", &filter_, "NAME", "a part of a kernel's name",
                      "only kernels whose name contains NAME");
        options_.flag("csv", &csv_, "rows as CSV on stdout, everything else on stderr");
        options_.flag("profile", &profile_, "launch each kernel once and do not time it");
        options_.number("device", &device_, 0, 1023, "which GPU");
        options_.flag("help", &help, "this text");
        const std::string usage = options_.help();  // has the defaults: before they are overwritten
        const std::string error = options_.parse(argc, argv);
        if (!error.empty()) reject(error);
        if (help) printHelp(usage);
    }
    void selectDevice() {
        int count = 0;
        cudaError_t error = cudaGetDeviceCount(&count);
        if (error == cudaSuccess && count == 0) error = cudaErrorNoDevice;
        if (error == cudaSuccess && device_ >= count) {
            reject(
                formatted("--device=%d: expected a whole number from 0 to %d", device_, count - 1));
        }
        if (error == cudaSuccess) error = cudaSetDevice(device_);
        if (error == cudaSuccess)
            error = cudaFree(nullptr);  // creates the context: fails here or not at all
        if (error != cudaSuccess) {
            quit(kExitNoGpu,
                 "%s: no usable GPU: %s: %s; the cpu back end needs none: ./lab run --backend cpu "
                 "%s",
                 name_.c_str(), cudaGetErrorName(error), cudaGetErrorString(error), name_.c_str());
        }
        facts_ = deviceFacts(device_);
        if (!profile_) flushL2_.emplace(facts_.l2Bytes);
    }

    // For what a range cannot say. `message` names the option, the value and what is allowed. Exit
    // status 2.
    [[noreturn]] void reject(const std::string& message) const {
        quit(kExitBadUsage, "%s: %s (see --help)", name_.c_str(), message.c_str());
    }

    int reps() const { return reps_; }
    std::uint64_t seed() const { return seed_; }
    bool csv() const { return csv_; }
    bool profile() const { return profile_; }
    const DeviceFacts& device() const { return facts_; }

    // ---- what holds for the rungs that follow ----

    // The work of one run, for the columns GB/s or GFLOP/s and % peak. One of the two for all rungs
    // of an exercise.
    void bytesPerRun(double bytes) { work_ = {bytes, "GB/s", facts_.peakBandwidth}; }
    void flopsPerRun(double flops) { work_ = {flops, "GFLOP/s", facts_.peakFlops}; }

    // Speedups refer to the first rung, or from here on to the next one.
    void newBaseline() { baseline_ = 0; }

    // This buffer alone is poisoned before every run; `buffer` must outlive the rungs.
    template <typename T>
    void output(DeviceBuffer<T>& buffer) {
        poison_ = [&buffer] { buffer.fillBytes(poisonByte<T>()); };
    }

    // Runs before every run of a kernel, after the poisoning, and is not timed. Best without
    // waiting on the host.
    void prepare(std::function<void()> prepare) { prepare_ = std::move(prepare); }

    // Says what is wrong with the result of the last run: lab::mismatch(...), empty if nothing is.
    void check(std::function<std::string()> check) { check_ = std::move(check); }

    // Further columns of the table, between block and time. `cells` gives those of a row when its
    // kernel has run and was checked; missing ones at the end are empty. Before the first rung.
    void details(std::vector<Column> columns,
                 std::function<std::vector<Cell>(const Statistics&)> cells) {
        detailColumns_ = std::move(columns);
        detailCells_ = std::move(cells);
    }

    // ---- output ----

    // The line "<name>: <text> on <device>". printf format.
    [[gnu::format(printf, 2, 3)]] void title(const char* format, ...) {
        va_list arguments;
        va_start(arguments, format);
        std::string text = name_ + ": " + vformatted(format, arguments) + " on " + facts_.name;
        va_end(arguments);
        if (kEmulated) {
            text += "\nTimes are of an emulation on the host CPU: they say nothing about a GPU.";
        } else {
            text += formatted(" (sm_%d%d, %d SMs, %.0f GB/s)", facts_.major, facts_.minor,
                              facts_.multiprocessors, facts_.peakBandwidth / 1e9);
        }
        note(text);
    }

    // A line for the reader, on stdout, or on stderr where stdout is CSV. What comes before the
    // first kernel that --kernel selects waits for it: bad usage prints nothing but its message.
    void note(const std::string& text) {
        pending_ += text + "\n";
        if (ran_) printPending();
    }

    // One kernel of the ladder: runs it, measures it, checks it and prints its row. `launch` starts
    // it on the default stream; grid and block are for the table.
    void rung(const std::string& name, dim3 grid, dim3 block, const std::function<void()>& launch) {
        if (selected(name)) run(name, shape(grid), shape(block), launch);
    }

    // A library that does the same job. Not run by --profile, unless --kernel names it.
    void peer(const std::string& name, const std::function<void()>& launch) {
        if (selected(name) && (!profile_ || !filter_.empty())) run(name, "-", "-", launch);
    }

    // A row of what the host computed: checked like a kernel's, but not timed.
    void hostRow(const std::string& name) {
        if (selected(name)) addRow(name, "-", "-", {});
    }

    // For a check() that wants more than one run: runs the kernel of this row once more.
    void again() const { again_(); }

    // 0, or 1 if anything was wrong: what main() returns.
    int finish() const {
        if (!ran_ && !filter_.empty()) {
            std::string names;
            for (const std::string& name : names_) names += (names.empty() ? "" : ", ") + name;
            reject("--kernel=" + filter_ + ": expected a part of one of " + names);
        }
        requireWritten();
        return wrong_ ? kExitFailure : kExitOk;
    }

    // ---- the pieces, for exercises with a table of their own ----

    // Does --kernel select this one?
    bool selected(const std::string& name) {
        if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
        const bool wanted = name.find(filter_) != std::string::npos;
        if (wanted) {
            ran_ = true;
            printPending();
        }
        return wanted;
    }

    // Milliseconds of `launch` over reps() runs, each poisoned, prepared and with a cold L2. With
    // --profile: runs it once, and measures nothing. `name` is for error messages and for the
    // profilers' timelines.
    Statistics measure(const std::string& name, const std::function<void()>& launch) {
        const NvtxRange range(name);
        if (profile_) {
            runOnce(name, launch);
            return {};
        }
        const CpuTimer warmup;
        do {  // the first run loads the kernel, the others bring the clocks up
            runOnce(name, launch);
        } while (!kEmulated && warmup.milliseconds() < kWarmupMilliseconds);

        // The host runs ahead: while the GPU flushes, event, kernel and event are queued, so that
        // the time between the events is the kernel's and not that of its launch.
        std::vector<GpuTimer> timers(reps_);
        for (GpuTimer& timer : timers) {
            poisonAndPrepare();
            (*flushL2_)();
            timer.start();
            launchChecked(name, launch);
            timer.stop();
        }
        waitFor(name);
        std::vector<double> times;
        for (const GpuTimer& timer : timers) times.push_back(timer.milliseconds());
        return statistics(std::move(times));
    }

    // Counts a wrong result and prints what is wrong with it, below its row.
    void report(const std::string& name, const std::string& mismatch) {
        if (mismatch.empty()) return;
        wrong_ = true;
        note("    WRONG: " + name + ": " + mismatch);
    }

  private:
    struct Work {
        double amount = 0;  // bytes or operations of one run; 0 where nothing was said
        std::string rate;   // the column's title
        double peak = 0;    // per second; 0 where unknown
    };
    static constexpr double kWarmupMilliseconds = 20;

    void run(const std::string& name, const std::string& grid, const std::string& block,
             const std::function<void()>& launch) {
        again_ = [&] { runOnce(name, launch); };
        addRow(name, grid, block, measure(name, launch));
        again_ = nullptr;
    }

    void addRow(const std::string& name, const std::string& grid, const std::string& block,
                const Statistics& time) {
        const std::string wrong = check_ ? check_() : "";
        if (baseline_ == 0) baseline_ = time.median;
        if (!table_) table_.emplace(columns(), csv_);

        const TimeCells times(time);
        Cell rate, percent, speedup;
        if (time.median > 0) {
            const double perSecond = work_.amount / (time.median * 1e-3);
            if (work_.amount > 0) rate = {perSecond / 1e9, perSecond < 1e10 ? 3 : 1};
            if (work_.amount > 0 && work_.peak > 0) percent = {100 * perSecond / work_.peak, 1};
            speedup = {baseline_ / time.median, 2};
        }
        std::vector<Cell> details = detailCells_ ? detailCells_(time) : std::vector<Cell>();
        details.resize(detailColumns_.size());

        std::vector<Cell> row = {name_, facts_.name, options_.values(ownOptions_),
                                 name,  grid,        block};
        row.insert(row.end(), details.begin(), details.end());
        row.insert(row.end(), {time.count, times.median, times.min, times.max, rate, percent,
                               speedup, verdict(wrong)});
        table_->row(row);
        report(name, wrong);
    }

    std::vector<Column> columns() const {
        const bool flops = work_.rate == "GFLOP/s";
        const int rateWidth = work_.amount > 0 ? 8 : 0;
        std::vector<Column> columns = {{"", 0, "exercise"},   {"", 0, "device"},
                                       {"", 0, "parameters"}, {"kernel", -26, "kernel"},
                                       {"grid", 10, "grid"},  {"block", 6, "block"}};
        columns.insert(columns.end(), detailColumns_.begin(), detailColumns_.end());
        columns.insert(columns.end(), {{"", 0, "reps"},
                                       {"time [ms]", 10, "median_ms"},
                                       {"", 0, "min_ms"},
                                       {"", 0, "max_ms"},
                                       {work_.rate, rateWidth, flops ? "gflops" : "gbps"},
                                       {"% peak", rateWidth > 0 ? 6 : 0, "percent_peak"},
                                       {"speedup", 7, "speedup"},
                                       {"check", -5, "check"}});
        return columns;
    }

    void printPending() {
        std::FILE* out = csv_ ? stderr : stdout;
        std::fputs(pending_.c_str(), out);
        std::fflush(out);
        pending_.clear();
    }

    void poisonAndPrepare() const {
        if (poison_) poison_();
        if (prepare_) prepare_();
    }
    void runOnce(const std::string& name, const std::function<void()>& launch) const {
        poisonAndPrepare();
        launchChecked(name, launch);
        waitFor(name);
    }
    static void launchChecked(const std::string& name, const std::function<void()>& launch) {
        launch();
        checkCuda(cudaGetLastError(), "cannot be launched", name);
    }
    static void waitFor(const std::string& name) {
        checkCuda(cudaDeviceSynchronize(), "failed while it ran", name);
    }

    [[noreturn]] void printHelp(const std::string& usage) const {
        std::printf(
            "%s: %s\n\noptions (--name=value or --name value; N may end in K, M or G: powers of "
            "1024):\n%s\n"
            "exit status: 0 all results right, 1 a wrong result or a CUDA error, 2 bad usage, 77 "
            "no usable GPU\n",
            name_.c_str(), about_.c_str(), usage.c_str());
        requireWritten();
        std::exit(kExitOk);
    }

    // A full disk or a closed pipe: rows are missing, and nobody else would say so.
    void requireWritten() const {
        if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return;
        quit(kExitFailure, "%s: cannot write to stdout", name_.c_str());
    }

    std::string name_;
    std::string about_;

    Options options_;
    std::size_t ownOptions_ = 0;
    int reps_ = perBackend(20, 3);
    std::uint64_t seed_ = 1;
    std::string filter_;
    bool csv_ = false;
    bool profile_ = false;
    int device_ = 0;

    DeviceFacts facts_;
    std::optional<L2Flush> flushL2_;

    Work work_;
    std::function<void()> poison_;
    std::function<void()> prepare_;
    std::function<std::string()> check_;
    std::function<void()> again_;
    std::vector<Column> detailColumns_;
    std::function<std::vector<Cell>(const Statistics&)> detailCells_;

    std::string pending_;  // notes that are not printed yet
    std::optional<Table> table_;
    std::vector<std::string> names_;  // of all kernels
    double baseline_ = 0;             // milliseconds of the rung that speedups refer to
    bool ran_ = false;                // --kernel has selected one
    bool wrong_ = false;
};

}  // namespace lab
