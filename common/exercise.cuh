#pragma once
// What every exercise does around its kernels: options, device, notes, the table, the verdict.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "block_shape.cuh"
#include "check.cuh"
#include "device.cuh"
#include "format.h"
#include "measure.cuh"
#include "memory.h"
#include "options.h"
#include "result_table.h"
#include "terminal.h"

namespace lab {

inline constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 40;  // more than any GPU's memory

// The default of an option: one for both back ends, or one that is right for a GPU and one that the
// emulation does in a moment.
struct Default {
    std::uint64_t value;
    Default(std::uint64_t both) : value(both) {}
    Default(std::uint64_t gpu, std::uint64_t emulation) : value(kEmulated ? emulation : gpu) {}
};

class Exercise {
  public:
    // `name` as in the file name, `about` one or two sentences for --help.
    Exercise(std::string name, std::string about)
        : name_(std::move(name)), about_(std::move(about)) {
        quitOnBadAlloc();
    }

    // ---- the command line ----

    // An option of this exercise: a whole number of min ... max. Before parse().
    template <typename T>
    void option(const std::string& name, T* value, Default byDefault, std::uint64_t min,
                std::uint64_t max, const std::string& help, Rule rule = Rule::kAny) {
        *value = static_cast<T>(byDefault.value);
        options_.number(name, value, min, max, help, rule);
    }
    Options& options() { return options_; }  // for flag(), text() and file()

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
        measure_.emplace(profile_ ? 0 : reps_, facts_.l2Bytes);
    }

    // For what a range cannot say. `message` names the option, the value and what is allowed. Exit
    // status 2.
    [[noreturn]] void reject(const std::string& message) const {
        quit(kExitBadUsage, "%s: %s (see --help)", name_.c_str(), message.c_str());
    }

    // Was --option on the command line?
    bool given(const std::string& option) const { return options_.given(option); }

    // "size=1000 block=32", for the column `parameters`: this exercise's options, with the values
    // of a row that has others.
    std::string parameters(const Options::Values& others = {}) const {
        return options_.values(ownOptions_, others);
    }

    int reps() const { return reps_; }
    std::uint64_t seed() const { return seed_; }
    bool csv() const { return csv_; }
    bool profile() const { return profile_; }
    const DeviceFacts& device() const { return facts_; }

    // Are times and clock cycles those of a GPU? Not with --profile, and not in an emulation.
    bool timesCount() const { return !profile_ && !kEmulated; }

    // ---- what is printed ----

    // "<name>: <text> on <device>", in two lines where one is too short. printf format.
    [[gnu::format(printf, 2, 3)]] void title(const char* format, ...) {
        va_list arguments;
        va_start(arguments, format);
        const std::string text = name_ + ": " + vformatted(format, arguments);
        va_end(arguments);
        std::string device = "on " + facts_.name;
        if (!kEmulated) {
            device += formatted(" (sm_%d%d, %d SMs, %.0f GB/s)", facts_.major, facts_.minor,
                                facts_.multiprocessors, facts_.peakBandwidth / 1e9);
        }
        const bool fits = text.size() + 1 + device.size() <= ResultTable::kLineLength;
        note(text + (fits ? " " : "\n") + device);
        noteInEmulation("Times are of an emulation on the host CPU: they say nothing about a GPU.");
    }

    // A line for the reader, on stdout, or on stderr where stdout is CSV. What comes before the
    // first kernel that --kernel selects waits for it: bad usage prints nothing but its message.
    void note(const std::string& text, Style style = Style::kPlain) {
        pending_ += styled(text, style, inColour(readers())) + "\n";
        if (ran_) printPending();
    }
    void noteInEmulation(const std::string& text) {
        if (kEmulated) note(text);
    }

    // The columns of the table, if they are not those of a ladder alone. Before the first row.
    // `onlyInCsv` are shared columns that the reader's table has no room for, by their names in the
    // CSV.
    void columns(Columns kind, std::vector<OwnColumn> own = {},
                 std::vector<std::string> onlyInCsv = {}) {
        kind_ = kind;
        own_ = std::move(own);
        onlyInCsv_ = std::move(onlyInCsv);
    }

    // Prints a row, and below it what is wrong with the result. All rows of an exercise have work
    // of the same unit.
    void row(Row row) {
        if (!table_) {
            table_.emplace(name_, kind_, own_, row.work.unit, kEmulated, csv_, onlyInCsv_);
        }
        if (row.device.empty()) row.device = facts_.name;
        if (row.parameters.empty()) row.parameters = parameters();
        row.peak = row.work.unit == Work::kBytes ? facts_.peakBandwidth : facts_.peakFlops;
        table_->row(row);
        if (row.finding.wrong.empty()) return;
        wrong_ = true;
        note("    WRONG: " + row.kernel + ": " + row.finding.wrong, Style::kBad);
    }

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

    // ---- the pieces of a rung: Ladder has them together ----

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

    // Libraries are not run by --profile, unless --kernel names them.
    bool peerSelected(const std::string& name) {
        return selected(name) && (!profile_ || !filter_.empty());
    }

    const Measure& measure() const { return *measure_; }

  private:
    std::FILE* readers() const { return csv_ ? stderr : stdout; }

    void printPending() {
        std::fputs(pending_.c_str(), readers());
        std::fflush(readers());
        pending_.clear();
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
    int reps_ = kEmulated ? 3 : 20;
    std::uint64_t seed_ = 1;
    std::string filter_;
    bool csv_ = false;
    bool profile_ = false;
    int device_ = 0;

    DeviceFacts facts_;
    std::optional<Measure> measure_;

    Columns kind_ = Columns::kLadder;
    std::vector<OwnColumn> own_;
    std::vector<std::string> onlyInCsv_;
    std::optional<ResultTable> table_;

    std::string pending_;             // notes that are not printed yet
    std::vector<std::string> names_;  // of all kernels
    bool ran_ = false;                // --kernel has selected one
    bool wrong_ = false;
};

}  // namespace lab
