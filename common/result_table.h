#pragma once
// The table of an exercise: the columns that all exercises have, once, around those of its own.

#include <string>
#include <vector>

#include "statistics.h"
#include "table.h"

namespace lab {

// What one run of a kernel has to move or to compute, and the peak that its rate is compared with.
struct Work {
    enum Unit { kNone, kBytes, kFlops, kTensorFlops };
    Unit unit = kNone;
    double amount = 0;
};
inline Work bytes(double amount) {
    return {Work::kBytes, amount};
}
inline Work flops(double amount) {
    return {Work::kFlops, amount};
}
// Of BF16 with FP32 sums, by tensor cores.
inline Work tensorFlops(double amount) {
    return {Work::kTensorFlops, amount};
}
inline constexpr Work kNoRate = {};  // where neither GB/s nor GFLOP/s say anything

// What a check found: what is wrong (empty: nothing), and the cells of the exercise's own columns.
struct Finding {
    std::string wrong;
    std::vector<Cell> cells;
    std::string word = "ok";  // stands in the column `check` where nothing is wrong

    Finding() = default;
    Finding(std::string wrong, std::vector<Cell> cells = {});
    Finding(const char* wrong);

    // Nothing is wrong, and there is nothing else to say.
    bool ok() const { return wrong.empty() && word == "ok"; }
};

struct Row {
    std::string kernel, grid = "-", block = "-";
    std::string device, parameters;
    Work work;
    double peak = 0;      // of the work's rate, per second; 0 where unknown
    double baseline = 0;  // milliseconds that the speedup refers to; 0: no speedup
    Statistics time;      // in milliseconds; empty where nothing was measured
    Finding finding;
};

// Which of the shared columns a table has around its own: all; no rates and no speedup; or only
// those that say which exercise, which device, with which options, and whether it is right.
enum class Columns { kLadder, kTimed, kPlain };

// A column that is kOnGpu says nothing in an emulation: the CSV leaves its cells empty, the table
// leaves it out. One that is kPredicted has what a rule says of the kernel as it came, which nobody
// has counted: the table marks its title with a *.
struct OwnColumn : Column {
    enum Kind { kPlain, kOnGpu, kPredicted };
    OwnColumn(std::string title, int width, std::string csvName, Kind kind = kPlain);
    bool onGpu, predicted;
};

// Whose times a row has: of a GPU; of an emulation, which has no rates; or none that it shows.
enum class Times { kOfGpu, kOfEmulation, kNone };

class ResultTable {
  public:
    static constexpr int kLineLength = 80;

    // `unit` is that of the rates. `onlyInCsv` are shared columns that the reader's table leaves
    // out, by their names in the CSV.
    ResultTable(std::string exercise, Columns kind, std::vector<OwnColumn> own, Work::Unit unit,
                Times times, bool csv, std::vector<std::string> onlyInCsv = {});

    void row(Row row);

  private:
    Table makeTable(Work::Unit unit, bool csv) const;

    std::string exercise_;
    Columns kind_;
    std::vector<OwnColumn> own_;
    std::vector<std::string> onlyInCsv_;
    Times times_;
    Table table_;
};

}  // namespace lab
