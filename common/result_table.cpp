#include "result_table.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace lab {
namespace {

constexpr int kKernelWidth = 26;  // of the longest name

void add(std::vector<Cell>& cells, const std::vector<Cell>& more) {
    cells.insert(cells.end(), more.begin(), more.end());
}

void addTimes(std::vector<Cell>& cells, const Statistics& time) {
    cells.emplace_back(time.count);
    for (const double t : {time.median, time.min, time.max})
        cells.push_back(time.median > 0 ? Cell(t, 4) : Cell());
}

void addRates(std::vector<Cell>& cells, const Row& row) {
    Cell rate, percent, speedup;
    if (row.time.median > 0) {
        const double perSecond = row.work.amount / (row.time.median * 1e-3);
        const int decimals = perSecond < 1e10 ? 3 : perSecond < 1e14 ? 1 : 0;
        if (perSecond > 0) rate = {perSecond / 1e9, decimals};
        if (perSecond > 0 && row.peak > 0) percent = {100 * perSecond / row.peak, 1};
        if (row.baseline > 0) speedup = {row.baseline / row.time.median, 2};
    }
    add(cells, {rate, percent, speedup});
}

Cell verdict(const Finding& finding) {
    if (!finding.wrong.empty()) return {"WRONG", Style::kBad};
    return {finding.word, finding.ok() ? Style::kGood : Style::kNotable};
}

// Of a line, with `gap` spaces between columns.
int length(const std::vector<Column>& columns, int gap) {
    int length = -gap;
    for (const Column& column : columns) {
        if (column.width != 0) length += gap + std::abs(column.width);
    }
    return length;
}

}  // namespace

Finding::Finding(std::string wrong, std::vector<Cell> cells)
    : wrong(std::move(wrong)), cells(std::move(cells)) {}
Finding::Finding(const char* wrong) : Finding(std::string(wrong)) {}

OwnColumn::OwnColumn(std::string title, int width, std::string csvName, Kind kind)
    : Column{std::move(title), width, std::move(csvName)},
      onGpu(kind == kOnGpu),
      predicted(kind == kPredicted) {
    if (!predicted) return;
    this->title += "*";
    this->width = std::max(this->width, static_cast<int>(this->title.size()));
}

ResultTable::ResultTable(std::string exercise, Columns kind, std::vector<OwnColumn> own,
                         Work::Unit unit, Times times, bool csv, std::vector<std::string> onlyInCsv)
    : exercise_(std::move(exercise)),
      kind_(kind),
      own_(std::move(own)),
      onlyInCsv_(std::move(onlyInCsv)),
      times_(times),
      table_(makeTable(unit, csv)) {}

void ResultTable::row(Row row) {
    if (times_ == Times::kNone) row.time = {0, 0, 0, row.time.count};
    std::vector<Cell> cells = {exercise_, row.device, row.parameters};
    if (kind_ != Columns::kPlain) add(cells, {row.kernel, row.grid, row.block});
    for (std::size_t i = 0; i < own_.size(); ++i) {
        const bool known =
            i < row.finding.cells.size() && (times_ == Times::kOfGpu || !own_[i].onGpu);
        cells.push_back(known ? row.finding.cells[i] : Cell());
    }
    if (kind_ != Columns::kPlain) addTimes(cells, row.time);
    if (kind_ == Columns::kLadder) addRates(cells, row);
    cells.push_back(verdict(row.finding));
    table_.row(std::move(cells));
}

Table ResultTable::makeTable(Work::Unit unit, bool csv) const {
    const bool emulated = times_ != Times::kOfGpu;
    std::vector<Column> columns = {{"", 0, "exercise"}, {"", 0, "device"}, {"", 0, "parameters"}};
    if (kind_ != Columns::kPlain) {
        columns.insert(columns.end(),
                       {{"kernel", -1, "kernel"}, {"grid", 8, "grid"}, {"block", 5, "block"}});
    }
    for (const OwnColumn& column : own_) {
        const int width = column.onGpu && emulated ? 0 : column.width;
        columns.push_back({column.title, width, column.csvName});
    }
    if (kind_ != Columns::kPlain) {
        columns.insert(columns.end(), {{"", 0, "reps"},
                                       {"time [ms]", times_ == Times::kNone ? 0 : 9, "median_ms"},
                                       {"", 0, "min_ms"},
                                       {"", 0, "max_ms"}});
    }
    if (kind_ == Columns::kLadder) {
        const bool flops = unit == Work::kFlops || unit == Work::kTensorFlops;
        const int shown = unit == Work::kNone || emulated ? 0 : 1;
        columns.insert(columns.end(),
                       {{flops ? "GFLOP/s" : "GB/s", 7 * shown, flops ? "gflops" : "gbps"},
                        {"% peak", 6 * shown, "percent_peak"},
                        {"speedup", emulated ? 0 : 7, "speedup"}});
    }
    columns.push_back({"check", -5, "check"});
    for (Column& column : columns) {
        if (std::count(onlyInCsv_.begin(), onlyInCsv_.end(), column.csvName) > 0) column.width = 0;
    }

    // The names of the kernels have what the other columns leave of the line.
    constexpr std::size_t kKernel = 3;
    const bool named = kind_ != Columns::kPlain;
    int gap = 2;
    if (named) columns[kKernel].width = -kKernelWidth;
    if (length(columns, gap) > kLineLength) gap = 1;
    if (named) columns[kKernel].width += std::max(0, length(columns, gap) - kLineLength);
    return Table(std::move(columns), csv, stdout, gap);
}

}  // namespace lab
