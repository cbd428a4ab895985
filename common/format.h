#pragma once
// How numbers and texts are shown to a reader.

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <string>

namespace lab {

// printf into a string.
[[gnu::format(printf, 1, 0)]] std::string vformatted(const char* format, va_list arguments);
[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

// 16777216 -> "16,777,216"
std::string withCommas(std::uint64_t value);

// 67108864 -> "64 MiB", 1600 -> "1.6 KiB": powers of 1024, at most one decimal.
std::string inBytes(std::uint64_t bytes);

// As an option takes it: multiples of 1024 from 65536 on with a suffix, 65536 -> "64K" and
// 1099511627776 -> "1T"; all others in digits, 1000000 -> "1000000". 2^64-1 is "2^64-1".
std::string withSuffix(std::uint64_t value);

// What somebody has typed: control characters, and bytes that are not UTF-8, as \n, \x1b, \xff.
std::string inOneLine(const std::string& text);

// The beginning of a text of more than 100 bytes, and how many it has.
std::string shortened(const std::string& text);

// `text` in lines of at most `width` characters, broken at spaces; all but the first are indented.
// The character 0x1f is a space at which no line is broken.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent = 0);

}  // namespace lab
