#include "terminal.h"

#include <unistd.h>

#include <cstdlib>

namespace lab {

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

}  // namespace lab
