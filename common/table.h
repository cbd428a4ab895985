#pragma once
// A table for readers, or the same rows as CSV for programs.

#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

namespace lab {

// Colour for a reader at a terminal; a pipe, a file and NO_COLOR (no-color.org) get plain text.
enum class Style { kPlain, kGood, kBad, kNotable };

// Are colours welcome where `out` leads?
bool inColour(std::FILE* out);

// `text` between the codes of its style (ECMA-48: green, bold red, bold yellow).
std::string styled(const std::string& text, Style style, bool colour);

struct Column {
    std::string title;    // in the table
    int width;            // negative: left-aligned; 0: only in the CSV
    std::string csvName;  // empty: only in the table
};

// Text, or a number with the decimals that the table shows of it (the CSV has all of them).
class Cell {
  public:
    Cell() = default;  // empty
    Cell(std::string text);
    Cell(const char* text);
    template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
    Cell(T number) : Cell(std::to_string(number)) {}
    Cell(double number, int decimals);
    Cell(std::string text, Style style);  // a word that stands out on a terminal

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
    Table(std::vector<Column> columns, bool csv, std::FILE* out = stdout, int gap = 2);

    // One cell for each column; missing ones at the end are empty.
    void row(std::vector<Cell> cells);

  private:
    void print(const std::vector<Cell>& cells);
    std::string csvLine(const std::vector<Cell>& cells) const;
    std::string line(const std::vector<Cell>& cells) const;

    std::vector<Column> columns_;
    bool csv_;
    std::FILE* out_;
    int gap_;
    bool colour_;
    bool headed_ = false;
};

}  // namespace lab
