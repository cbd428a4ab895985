#pragma once
// How numbers are shown to a reader.

#include <cstdarg>
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

}  // namespace lab
