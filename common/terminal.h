#pragma once
// Colour for a reader at a terminal; a pipe, a file and NO_COLOR (no-color.org) get plain text.

#include <cstdio>
#include <string>

namespace lab {

enum class Style { kPlain, kGood, kBad, kNotable };

// Are colours welcome where `out` leads?
bool inColour(std::FILE* out);

// `text` between the codes of its style (ECMA-48: green, bold red, bold yellow).
std::string styled(const std::string& text, Style style, bool colour);

}  // namespace lab
