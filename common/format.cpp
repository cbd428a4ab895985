#include "format.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace lab {
namespace {

// Bytes of the UTF-8 character at `start`, which is no control character; 0 where there is none.
// The Unicode Standard, table "Well-Formed UTF-8 Byte Sequences".
std::size_t characterAt(const std::string& text, std::size_t start) {
    const auto byte = [&](std::size_t i) -> unsigned {
        return start + i < text.size() ? static_cast<unsigned char>(text[start + i]) : 0;
    };
    const unsigned first = byte(0);
    if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
    if (first < 0xc2 || first > 0xf4) return 0;
    const unsigned least = first == 0xe0 || first == 0xc2 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (byte(1) < least || byte(1) > most) return 0;  // U+0080 to U+009F are control characters
    const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    for (std::size_t i = 2; i < length; ++i) {
        if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
    }
    return length;
}

std::string escaped(char c) {
    switch (c) {
        case '\n':
            return "\\n";
        case '\r':
            return "\\r";
        case '\t':
            return "\\t";
        default:
            return formatted("\\x%02x", static_cast<unsigned char>(c));
    }
}

}  // namespace

std::string vformatted(const char* format, va_list arguments) {
    va_list copy;
    va_copy(copy, arguments);
    const int length = std::vsnprintf(nullptr, 0, format, copy);
    va_end(copy);
    std::string text(length > 0 ? length : 0, '\0');
    std::vsnprintf(text.data(), text.size() + 1, format, arguments);
    return text;
}

std::string formatted(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::string text = vformatted(format, arguments);
    va_end(arguments);
    return text;
}

std::string withCommas(std::uint64_t value) {
    std::string text = std::to_string(value);
    for (int position = static_cast<int>(text.size()) - 3; position > 0; position -= 3) {
        text.insert(position, ",");
    }
    return text;
}

std::string inBytes(std::uint64_t bytes) {
    static const char* const kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = static_cast<double>(bytes);
    int unit = 0;
    while (value >= 1023.95 && unit < 6) {  // 1023.95 and more would be shown as 1024.0
        value /= 1024;
        ++unit;
    }
    std::string text = formatted("%.1f", value);
    if (text.size() > 2 && text.compare(text.size() - 2, 2, ".0") == 0)
        text.resize(text.size() - 2);
    return text + " " + kUnits[unit];
}

std::string withSuffix(std::uint64_t value) {
    if (value == UINT64_MAX) return "2^64-1";
    if (value < 65536 || value % 1024 != 0) return std::to_string(value);
    std::size_t power = 0;
    for (; value % 1024 == 0 && power < 4; value /= 1024) ++power;
    return std::to_string(value) + " KMGT"[power];
}

std::string inOneLine(const std::string& text) {
    std::string line;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = characterAt(text, i);
        line += length > 0 ? text.substr(i, length) : escaped(text[i]);
        i += length > 0 ? length : 1;
    }
    return line;
}

std::string shortened(const std::string& text) {
    constexpr std::size_t kLongest = 100, kKept = 60;
    if (text.size() <= kLongest) return text;
    std::size_t kept = kKept;
    while (kept > kKept - 3 && (text[kept] & 0xc0) == 0x80) --kept;  // within a UTF-8 character
    return text.substr(0, kept) + formatted("... (%zu bytes)", text.size());
}

std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
    std::istringstream words(text);
    std::string result, word;
    std::size_t length = indent;  // of the last line
    while (words >> word) {
        const bool first = result.empty();
        if (!first && length + 1 + word.size() > width) {
            result += "\n" + std::string(indent, ' ');
            length = indent;
        } else if (!first) {
            result += " ";
            ++length;
        }
        result += word;
        length += word.size();
    }
    std::replace(result.begin(), result.end(), '\x1f', ' ');
    return result;
}

}  // namespace lab
