#pragma once
// Is the result right? mismatch() describes what is wrong, and returns an empty string if nothing
// is.

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "format.h"

namespace lab {

// Outputs are filled with this byte before a kernel runs, so that an element it forgets is seen: a
// NaN in floating point, an unlikely number in integers.
template <typename T>
constexpr unsigned char poisonByte() {
    return std::is_floating_point_v<T> ? 0xFF : 0xA5;
}

// An element that no kernel wrote.
template <typename T>
T poisoned() {
    T value;
    std::memset(static_cast<void*>(&value), poisonByte<T>(), sizeof(T));
    return value;
}
template <typename T>
bool isPoison(const T& value) {
    const T poison = poisoned<T>();
    return std::memcmp(&value, &poison, sizeof(T)) == 0;
}

// The first element that no kernel wrote, in words; empty where all are written.
template <typename T>
std::string neverWritten(const std::vector<T>& output) {
    for (std::size_t i = 0; i < output.size(); ++i) {
        if (isPoison(output[i])) return formatted("element %zu was never written", i);
    }
    return "";
}

// A number with all of its digits.
template <typename T>
std::string inFull(T value) {
    if constexpr (std::is_floating_point_v<T>) {
        return formatted("%.*g", std::numeric_limits<T>::max_digits10, static_cast<double>(value));
    } else {
        return std::to_string(value);
    }
}

// Who wrote a value that was copied from the device, in words, where that is known: in the hazard
// check's runs without a GPU.
std::string writerOf(const void* value, std::size_t bytes);

// `value` is where it was copied to, so that it is known who wrote it.
template <typename T>
std::string describeMismatch(std::size_t index, const T& value, const T& expected) {
    if (isPoison(value)) {
        return formatted("element %zu was never written, expected %s", index,
                         inFull(expected).c_str());
    }
    const std::string writer = writerOf(&value, sizeof(T));
    return formatted("element %zu is %s, expected %s%s%s", index, inFull(value).c_str(),
                     inFull(expected).c_str(), writer.empty() ? "" : "; ", writer.c_str());
}

template <typename T>
std::string sizeMismatch(const std::vector<T>& output, const std::vector<T>& expected) {
    if (output.size() == expected.size()) return "";
    return formatted("%zu elements, expected %zu", output.size(), expected.size());
}

// Integers: every element must be equal.
template <typename T>
std::string mismatch(const std::vector<T>& output, const std::vector<T>& expected) {
    static_assert(std::is_integral_v<T>, "floating point needs a tolerance");
    const std::string sizes = sizeMismatch(output, expected);
    if (!sizes.empty()) return sizes;
    for (std::size_t i = 0; i < output.size(); ++i) {
        if (output[i] != expected[i]) return describeMismatch(i, output[i], expected[i]);
    }
    return "";
}

// Floating point: norm(output - expected) / norm(expected), the Euclidean norm in double, must not
// exceed `tolerance`; where the reference is all zero, norm(output) itself. Over many elements that
// hides a single wrong one, so no element may be off by more than 16 tolerances of its own size or
// of the reference's root mean square. Where `output` is only a sample, `places` says for messages
// which element of the whole each one is. The terms of a sum may cancel, but their rounding errors
// stay. So `uncancelled` replaces the reference's root mean square where it is larger.
template <typename T>
std::string mismatch(const std::vector<T>& output, const std::vector<T>& expected, double tolerance,
                     const std::vector<std::size_t>& places = {}, double uncancelled = 0) {
    static_assert(std::is_floating_point_v<T>, "integers are compared exactly");
    const std::string sizes = sizeMismatch(output, expected);
    if (!sizes.empty()) return sizes;
    const auto placeOf = [&](std::size_t i) { return places.empty() ? i : places[i]; };

    double squaredError = 0, squaredReference = 0;
    for (std::size_t i = 0; i < output.size(); ++i) {
        const double difference = static_cast<double>(output[i]) - expected[i];
        if (!std::isfinite(difference)) {  // NaN, infinity or never written
            return describeMismatch(placeOf(i), output[i], expected[i]);
        }
        squaredError += difference * difference;
        squaredReference += static_cast<double>(expected[i]) * expected[i];
    }
    const double rootOfCount = std::sqrt(static_cast<double>(output.size()));
    const double norm = std::fmax(std::sqrt(squaredReference), uncancelled * rootOfCount);
    const double scale = norm > 0 ? norm : 1;
    const double error = std::sqrt(squaredError) / scale;
    const bool wrongAsAWhole = error > tolerance;

    // The root mean square of the reference (or of the allowed error, where the reference is zero).
    const double typical = scale / rootOfCount;
    for (std::size_t i = 0; i < output.size(); ++i) {
        const double difference = std::fabs(static_cast<double>(output[i]) - expected[i]);
        const double size = std::fmax(typical, std::fabs(static_cast<double>(expected[i])));
        // If the whole is off, some element is off by the typical error: rounding must not hide it.
        const double allowed = wrongAsAWhole ? 0.999 * tolerance * typical : 16 * tolerance * size;
        if (difference > allowed) {
            return describeMismatch(placeOf(i), output[i], expected[i]) +
                   formatted(" (relative error of the whole %.2e, tolerance %.1e)", error,
                             tolerance);
        }
    }
    return "";
}

// What mismatch() says of a matrix with rows of `cols` elements, and also the row and the column of
// the element.
inline std::string inMatrix(const std::string& wrong, std::size_t cols) {
    std::size_t index;
    int end;
    if (std::sscanf(wrong.c_str(), "element %zu%n", &index, &end) != 1) return wrong;
    return wrong.substr(0, end) + formatted(" (row %zu, column %zu)", index / cols, index % cols) +
           wrong.substr(end);
}

}  // namespace lab
