#pragma once
// How numbers and texts are shown to a reader.

#include <algorithm>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace lab {

// printf into a string.
[[gnu::format(printf, 1, 0)]] inline std::string vformatted(const char* format, va_list arguments) {
    va_list copy;
    va_copy(copy, arguments);
    const int length = std::vsnprintf(nullptr, 0, format, copy);
    va_end(copy);
    std::string text(length > 0 ? length : 0, '\0');
    std::vsnprintf(text.data(), text.size() + 1, format, arguments);
    return text;
}
[[gnu::format(printf, 1, 2)]] inline std::string formatted(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::string text = vformatted(format, arguments);
    va_end(arguments);
    return text;
}

// 16777216 -> "16,777,216"
inline std::string withCommas(std::uint64_t value) {
    std::string text = std::to_string(value);
    for (int position = static_cast<int>(text.size()) - 3; position > 0; position -= 3)
        text.insert(position, ",");
    return text;
}

// 67108864 -> "64 MiB", 1600 -> "1.6 KiB": powers of 1024, at most one decimal.
inline std::string inBytes(std::uint64_t bytes) {
    const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = static_cast<double>(bytes);
    int unit = 0;
    for (; value >= 1023.95 && unit < 6; ++unit) value /= 1024;  // more would be shown as 1024.0
    std::string text = formatted("%.1f", value);
    if (text.size() > 2 && text.compare(text.size() - 2, 2, ".0") == 0)
        text.resize(text.size() - 2);
    return text + " " + units[unit];
}

// As an option takes it: multiples of 1024 from 65536 on with a suffix, 65536 -> "64K" and
// 1099511627776 -> "1T"; all others in digits, 1000000 -> "1000000". 2^64-1 is "2^64-1".
inline std::string withSuffix(std::uint64_t value) {
    if (value == UINT64_MAX) return "2^64-1";
    if (value < 65536 || value % 1024 != 0) return std::to_string(value);
    std::size_t power = 0;
    for (; value % 1024 == 0 && power < 4; value /= 1024) ++power;
    return std::to_string(value) + " KMGT"[power];
}

// Bytes of the UTF-8 character at `start`, which is no control character; 0 where there is none.
// The Unicode Standard, table "Well-Formed UTF-8 Byte Sequences".
inline std::size_t characterAt(const std::string& text, std::size_t start) {
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

// What somebody has typed: control characters, and bytes that are not UTF-8, as \n, \x1b, \xff.
inline std::string inOneLine(const std::string& text) {
    std::string line;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = characterAt(text, i);
        const char c = text[i];
        line += length > 0  ? text.substr(i, length)
                : c == '\n' ? "\\n"
                : c == '\r' ? "\\r"
                : c == '\t' ? "\\t"
                            : formatted("\\x%02x", static_cast<unsigned char>(c));
        i += length > 0 ? length : 1;
    }
    return line;
}

// The beginning of a text of more than 100 bytes, and how many it has.
inline std::string shortened(const std::string& text) {
    constexpr std::size_t kLongest = 100, kKept = 60;
    if (text.size() <= kLongest) return text;
    std::size_t kept = kKept;
    while (kept > kKept - 3 && (text[kept] & 0xc0) == 0x80) --kept;  // within a UTF-8 character
    return text.substr(0, kept) + formatted("... (%zu bytes)", text.size());
}

// `text` in lines of at most `width` characters, broken at spaces; all but the first are indented.
// The character 0x1f is a space at which no line is broken.
inline std::string wrapped(const std::string& text, std::size_t width, std::size_t indent = 0) {
    std::string result;
    std::size_t length = indent;  // of the last line
    for (std::size_t begin = 0, end;
         (begin = text.find_first_not_of(" \n", begin)) != std::string::npos; begin = end) {
        end = std::min(text.find_first_of(" \n", begin), text.size());
        const bool first = result.empty(), fits = length + 1 + end - begin <= width;
        if (!first) result += fits ? " " : "\n" + std::string(indent, ' ');
        length = (first || fits ? length + !first : indent) + end - begin;
        result += text.substr(begin, end - begin);
    }
    std::replace(result.begin(), result.end(), '\x1f', ' ');
    return result;
}

}  // namespace lab
