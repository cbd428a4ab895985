#pragma once
// A table for readers, or the same rows as CSV for programs.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "format.h"

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

    const std::string& shown() const { return shown_; }
    const std::string& exact() const { return exact_; }

  private:
    std::string shown_;
    std::string exact_;
};

class Table {
  public:
    // Prints to `out`, the heading before the first row.
    Table(std::vector<Column> columns, bool csv, std::FILE* out = stdout)
        : columns_(std::move(columns)), csv_(csv), out_(out) {}

    // One cell for each column; missing ones at the end are empty.
    void row(const std::vector<Cell>& cells) {
        if (!headed_) {
            headed_ = true;
            std::vector<std::string> titles;
            for (const Column& column : columns_)
                titles.push_back(csv_ ? column.csvName : column.title);
            line(titles);
        }
        std::vector<std::string> texts;
        for (const Cell& cell : cells) texts.push_back(csv_ ? cell.exact() : cell.shown());
        texts.resize(columns_.size());
        line(texts);
    }

  private:
    void line(const std::vector<std::string>& texts) {
        std::string line;
        bool first = true;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (csv_ ? columns_[i].csvName.empty() : columns_[i].width == 0) continue;
            if (!first) line += csv_ ? "," : "  ";
            first = false;
            line += csv_ ? quoted(texts[i]) : formatted("%*s", columns_[i].width, texts[i].c_str());
        }
        while (!csv_ && !line.empty() && line.back() == ' ') line.pop_back();
        std::fprintf(out_, "%s\n", line.c_str());
        std::fflush(out_);  // a row appears when it is measured, into a pipe as well
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
    bool headed_ = false;
};

}  // namespace lab
