#pragma once
// What every exercise does around its kernels: options, device, notes, the table, the verdict.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "device.cuh"
#include "measure.cuh"
#include "options.h"
#include "result_table.h"
#include "table.h"

namespace lab {

inline constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 40;  // more than any GPU's memory

// The default of an option: one for both back ends, or one that is right for a GPU and one that the
// emulation does in a moment.
struct Default {
    std::uint64_t value;
    Default(std::uint64_t both) : value(both) {}
    Default(std::uint64_t gpu, std::uint64_t emulation) : value(kEmulated ? emulation : gpu) {}
};

// Where an exercise runs: what needs hardware of its own is built for a GPU alone.
enum class BackEnds { kBoth, kGpuAlone };

class Exercise {
  public:
    // `name` as in the file name, `about` one or two sentences for --help.
    Exercise(std::string name, std::string about, BackEnds backEnds = BackEnds::kBoth);
    ~Exercise();

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
    void parse(int argc, char** argv);

    // The two halves of parse(), for what an exercise can do without a GPU.
    void parseOptions(int argc, char** argv);
    void selectDevice();

    // For what a range cannot say. `message` names the option, the value and what is allowed. Exit
    // status 2.
    [[noreturn]] void reject(const std::string& message) const;

    // The same for the value of one option: "--kernel=x: expected ...".
    [[noreturn]] void reject(const std::string& option, const std::string& value,
                             const std::string& expected) const;

    // Rejects options --rows and --cols that are more than kMaxSize elements together. Both are at
    // least 1.
    void requireElements(std::size_t rows, std::size_t cols) const;

    // The same for --m, --n and --k: matrices of m x k, k x n and m x n elements.
    void requireProduct(std::size_t m, std::size_t n, std::size_t k) const;

    // Was --option on the command line?
    bool given(const std::string& option) const { return options_.given(option); }

    // "size=1000 block=32", for the column `parameters`: this exercise's options, with the values
    // of a row that has others.
    std::string parameters(const Options::Values& others = {}) const;

    int reps() const { return reps_; }
    std::uint64_t seed() const { return seed_; }
    bool csv() const { return csv_; }
    bool profile() const { return profile_; }
    const DeviceFacts& device() const { return facts_; }

    // Are times and clock cycles those of a GPU? Not with --profile, and not in an emulation.
    bool timesCount() const { return !profile_ && !kEmulated; }

    // Are times shown? Those of an emulation only with --host-times: they say nothing about a GPU.
    bool showsTimes() const { return !kEmulated || hostTimes_; }

    // ---- what is printed ----

    // "<name>: <text> on <device>", in two lines or more where one is too short. printf format.
    [[gnu::format(printf, 2, 3)]] void title(const char* format, ...);

    // A line for the reader, on stdout, or on stderr where stdout is CSV. What comes before the
    // first kernel that --kernel selects waits for it: bad usage prints nothing but its message.
    void note(const std::string& text, Style style = Style::kPlain);
    void noteInEmulation(const std::string& text);

    // The columns of the table, if they are not those of a ladder alone. Before the first row.
    // `onlyInCsv` are shared columns that the reader's table has no room for, by their names in the
    // CSV.
    void columns(Columns kind, std::vector<OwnColumn> own = {},
                 std::vector<std::string> onlyInCsv = {});

    // Prints a row, and below it what is wrong with the result. All rows of an exercise have work
    // of the same unit.
    void row(Row row);

    // 0, or 1 if anything was wrong: what main() returns.
    int finish() const;

    // ---- the pieces of a rung: Ladder has them together ----

    // Does --kernel select this one?
    bool selected(const std::string& name);

    // Libraries are not run by --profile, unless --kernel names them.
    bool peerSelected(const std::string& name);

    const Measure& measure() const { return *measure_; }

  private:
    std::FILE* readers() const { return csv_ ? stderr : stdout; }
    void printPending();
    [[noreturn]] void printHelp() const;

    // A full disk or a closed pipe: rows are missing, and nobody else would say so.
    void requireWritten() const;

    std::string name_;
    std::string about_;
    BackEnds backEnds_;

    Options options_;
    std::size_t ownOptions_ = 0;
    int reps_ = kEmulated ? 3 : 20;
    std::uint64_t seed_ = 1;
    std::string filter_;
    bool csv_ = false;
    bool profile_ = false;
    bool hostTimes_ = false;
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
