#include "table.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "format.h"

namespace lab {
namespace {

// As RFC 4180 has it.
std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    std::string result = "\"";
    for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
    return result + "\"";
}

}  // namespace

bool inColour(std::FILE* out) {
    const char* const refused = std::getenv("NO_COLOR");
    const char* const terminal = std::getenv("TERM");
    if (refused != nullptr && refused[0] != '\0') return false;
    if (terminal == nullptr || std::string(terminal) == "dumb") return false;
    return isatty(fileno(out)) == 1;
}

std::string styled(const std::string& text, Style style, bool colour) {
    if (!colour || style == Style::kPlain) return text;
    const char* const code = style == Style::kGood ? "32" : style == Style::kBad ? "1;31" : "1;33";
    return std::string("\033[") + code + "m" + text + "\033[0m";
}

Cell::Cell(std::string text) : shown_(text), exact_(std::move(text)) {}
Cell::Cell(const char* text) : Cell(std::string(text)) {}
Cell::Cell(double number, int decimals)
    : shown_(formatted("%.*f", decimals, number)), exact_(formatted("%.9g", number)) {}
Cell::Cell(std::string text, Style style) : Cell(std::move(text)) {
    style_ = style;
}

Table::Table(std::vector<Column> columns, bool csv, std::FILE* out, int gap)
    : columns_(std::move(columns)),
      csv_(csv),
      out_(out),
      gap_(gap),
      colour_(!csv && inColour(out)) {}

void Table::row(std::vector<Cell> cells) {
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

void Table::print(const std::vector<Cell>& cells) {
    std::fprintf(out_, "%s\n", (csv_ ? csvLine(cells) : line(cells)).c_str());
    std::fflush(out_);  // a row appears when it is measured, into a pipe as well
}

std::string Table::csvLine(const std::vector<Cell>& cells) const {
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
std::string Table::line(const std::vector<Cell>& cells) const {
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

}  // namespace lab
