#pragma once
// Colour for a reader at a terminal; a pipe, a file and NO_COLOR (no-color.org) get plain text.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace lab {

enum class Style { kPlain, kGood, kBad, kNotable };

// Are colours welcome where `out` leads?
inline bool inColour(std::FILE* out) {
    const char* const refused = std::getenv("NO_COLOR");
    const char* const terminal = std::getenv("TERM");
    if (refused != nullptr && refused[0] != '\0') return false;
    if (terminal == nullptr || std::string(terminal) == "dumb") return false;
    return isatty(fileno(out)) == 1;
}

// `text` between the codes of its style (ECMA-48: green, bold red, bold yellow).
inline std::string styled(const std::string& text, Style style, bool colour) {
    if (!colour || style == Style::kPlain) return text;
    const char* const code = style == Style::kGood ? "32" : style == Style::kBad ? "1;31" : "1;33";
    return std::string("\033[") + code + "m" + text + "\033[0m";
}

}  // namespace lab
