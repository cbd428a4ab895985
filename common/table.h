#pragma once
// A table for readers, or the same rows as CSV for programs.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "format.h"
#include "terminal.h"

namespace lab {

struct Column {
    std::string title;    // in the table
    int width;            // negative: left-aligned; 0: only in the CSV
    std::string csvName;  // empty: only in the table
};

// Text, or a number with the decimals that the table shows of it (the CSV has all of them).
class Cell {
  public:
    Cell() = default;  // empty
    Cell(std::string text) : shown_(text), exact_(std::move(text)) {}
    Cell(const char* text) : Cell(std::string(text)) {}
    template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
    Cell(T number) : Cell(std::to_string(number)) {}
    Cell(double number, int decimals)
        : shown_(formatted("%.*f", decimals, number)), exact_(formatted("%.9g", number)) {}
    // A word that stands out on a terminal.
    Cell(std::string text, Style style) : Cell(std::move(text)) { style_ = style; }

    const std::string& shown() const { return shown_; }
    const std::string& exact() const { return exact_; }
    Style style() const { return style_; }

  private:
    std::string shown_;
    std::string exact_;
    Style style_ = Style::kPlain;
};

class Table {
  public:
    // Prints to `out`, the heading before the first row; `gap` spaces between columns.
    Table(std::vector<Column> columns, bool csv, std::FILE* out = stdout, int gap = 2)
        : columns_(std::move(columns)),
          csv_(csv),
          out_(out),
          gap_(gap),
          colour_(!csv && inColour(out)) {}

    // One cell for each column; missing ones at the end are empty.
    void row(std::vector<Cell> cells) {
        if (!headed_) {
            headed_ = true;
            std::vector<Cell> titles;
            for (const Column& column : columns_)
                titles.emplace_back(csv_ ? column.csvName : column.title);
            print(titles);
        }
        cells.resize(columns_.size());
        print(cells);
    }

  private:
    void print(const std::vector<Cell>& cells) {
        std::fprintf(out_, "%s\n", (csv_ ? csvLine(cells) : line(cells)).c_str());
        std::fflush(out_);  // a row appears when it is measured, into a pipe as well
    }

    std::string csvLine(const std::vector<Cell>& cells) const {
        std::string line;
        bool first = true;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (columns_[i].csvName.empty()) continue;
            line += (first ? "" : ",") + quoted(cells[i].exact());
            first = false;
        }
        return line;
    }

    // A cell that is too long takes its room from the gaps behind it: the line stays as long as the
    // heading wherever that is possible.
    std::string line(const std::vector<Cell>& cells) const {
        std::string line;
        int length = 0, end = 0;  // of the line without colours, of the columns so far
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (columns_[i].width == 0) continue;
            const std::string& text = cells[i].shown();
            const int size = static_cast<int>(text.size()), width = std::abs(columns_[i].width);
            const int start = end + (end > 0 ? gap_ : 0);
            end = start + width;
            if (text.empty()) continue;
            const int wanted = columns_[i].width < 0 ? start : end - size;
            const int spaces = std::max(wanted - length, length > 0 ? 1 : 0);
            line += std::string(spaces, ' ') + styled(text, cells[i].style(), colour_);
            length += spaces + size;
        }
        return line;
    }

    // As RFC 4180 has it.
    static std::string quoted(const std::string& text) {
        if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
        std::string result = "\"";
        for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
        return result + "\"";
    }

    std::vector<Column> columns_;
    bool csv_;
    std::FILE* out_;
    int gap_;
    bool colour_;
    bool headed_ = false;
};

}  // namespace lab
