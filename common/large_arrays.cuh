#pragma once
// Large arrays between host and device, a piece after the other through a little pinned memory. The
// host makes or checks each element on all cores, and holds no copy of the whole array: to fill and
// to compare a GiB takes a twentieth of a second. So every element is checked at every size.

#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "buffer.cuh"
#include "check.cuh"
#include "memory.h"
#include "parallel.h"
#include "verify.h"

namespace lab {

inline constexpr std::size_t kPieceBytes = std::size_t{32} << 20;
inline constexpr std::size_t kSmallBytes = std::size_t{1} << 20;  // one copy, without pinned memory
inline constexpr std::size_t kWorthAThread = 1 << 16;             // elements

// Pinned memory for a piece, number 0 or 1, which the program keeps until it ends.
template <typename T>
T* pinnedPiece(unsigned number) {
    static const auto* const both = new PinnedBuffer<unsigned char>(2 * kPieceBytes);
    return reinterpret_cast<T*>(both->get() + number * kPieceBytes);
}

// An array on the device, whose element i is elementOf(i).
template <typename T, typename ElementOf>
DeviceBuffer<T> filled(std::size_t count, const ElementOf& elementOf) {
    DeviceBuffer<T> buffer(count);
    const auto fill = [&](T* values, std::size_t first, std::size_t n) {
        parallelFor(n, kWorthAThread, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) values[i] = elementOf(first + i);
        });
    };
    if (buffer.bytes() <= kSmallBytes) {
        std::vector<T> values = hostVector<T>(count);
        fill(values.data(), 0, count);
        buffer.copyFrom(values);
        return buffer;
    }
    constexpr std::size_t kMost = kPieceBytes / sizeof(T);
    unsigned number = 0;
    for (std::size_t first = 0; first < count; first += kMost, number = 1 - number) {
        const std::size_t n = std::min(kMost, count - first);
        T* const piece = pinnedPiece<T>(number);
        fill(piece, first, n);  // while the piece before is copied
        CUDA_CHECK(cudaStreamSynchronize(nullptr));
        CUDA_CHECK(
            cudaMemcpyAsync(buffer.get() + first, piece, n * sizeof(T), cudaMemcpyHostToDevice));
    }
    CUDA_CHECK(cudaStreamSynchronize(nullptr));
    return buffer;
}

// Calls work(values, first, n) for one piece of the buffer's first `count` elements after the
// other, while the next one is copied to the host, until it returns false.
template <typename T, typename Work>
void forEachPiece(const DeviceBuffer<T>& buffer, std::size_t count, const Work& work) {
    requireFit(count, buffer.size());
    if (count * sizeof(T) <= kSmallBytes) {
        const std::vector<T> values = buffer.toHost(count);
        work(values.data(), std::size_t{0}, count);
        return;
    }
    constexpr std::size_t kMost = kPieceBytes / sizeof(T);
    const auto copy = [&](std::size_t first, unsigned number) {
        CUDA_CHECK(cudaMemcpyAsync(pinnedPiece<T>(number), buffer.get() + first,
                                   std::min(kMost, count - first) * sizeof(T),
                                   cudaMemcpyDeviceToHost));
    };
    copy(0, 0);
    unsigned number = 0;
    for (std::size_t first = 0; first < count; first += kMost, number = 1 - number) {
        CUDA_CHECK(cudaStreamSynchronize(nullptr));
        if (first + kMost < count) copy(first + kMost, 1 - number);
        const T* const values = pinnedPiece<T>(number);
        if (!work(values, first, std::min(kMost, count - first))) break;
    }
    CUDA_CHECK(cudaStreamSynchronize(nullptr));
}

// The first i below `count` for which isWrong(i), on all cores; `count` if there is none.
template <typename IsWrong>
std::size_t firstWrong(std::size_t count, const IsWrong& isWrong) {
    std::atomic<std::size_t> first{count};
    parallelFor(count, kWorthAThread, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            if (!isWrong(i)) continue;
            for (std::size_t least = first; i < least && !first.compare_exchange_weak(least, i);) {
            }
            return;
        }
    });
    return first;
}

// Bit for bit but for the sign of a zero; a NaN is never right.
template <typename T>
bool differs(const T& value, const T& expected) {
    if constexpr (std::is_floating_point_v<T>) {
        return !(value == expected) || !std::isfinite(expected);
    } else {
        return value != expected;
    }
}

// Each of `count` elements must be equal to expectedOf(i). Says which is the first that is not.
template <typename T, typename ExpectedOf>
std::string mismatchOf(const T* values, std::size_t count, const ExpectedOf& expectedOf) {
    const std::size_t i =
        firstWrong(count, [&](std::size_t j) { return differs<T>(values[j], expectedOf(j)); });
    return i == count ? "" : describeMismatch<T>(i, values[i], expectedOf(i));
}

// The same for the first `count` elements of a buffer.
template <typename T, typename ExpectedOf>
std::string mismatchOf(const DeviceBuffer<T>& output, std::size_t count,
                       const ExpectedOf& expectedOf) {
    std::string wrong;
    forEachPiece(output, count, [&](const T* values, std::size_t first, std::size_t n) {
        const std::size_t i = firstWrong(
            n, [&](std::size_t j) { return differs<T>(values[j], expectedOf(first + j)); });
        if (i < n) wrong = describeMismatch<T>(first + i, values[i], expectedOf(first + i));
        return i == n;
    });
    return wrong;
}
template <typename T, typename ExpectedOf>
std::string mismatchOf(const DeviceBuffer<T>& output, const ExpectedOf& expectedOf) {
    return mismatchOf(output, output.size(), expectedOf);
}

// Does `output` agree with expectedOf() by the rules of lab::mismatch() in verify.h? Where rounding
// could decide, this says no.
template <typename T, typename ExpectedOf>
bool surelyRight(const DeviceBuffer<T>& output, const ExpectedOf& expectedOf, double tolerance) {
    // Of some elements: whether all are numbers, the squares of errors and of the reference, and
    // the largest error that is too much for the element's own size.
    struct Part {
        bool finite = true;
        double squaredError = 0, squaredReference = 0, excess = 0;

        void add(double value, double reference, double tolerated) {
            const double error = std::fabs(value - reference);
            finite = finite && std::isfinite(error);
            squaredError += error * error;
            squaredReference += reference * reference;
            if (error > tolerated * std::fabs(reference)) excess = std::max(excess, error);
        }
        void add(const Part& other) {
            finite = finite && other.finite;
            squaredError += other.squaredError;
            squaredReference += other.squaredReference;
            excess = std::max(excess, other.excess);
        }
    } all;
    std::mutex mutex;
    forEachPiece(output, output.size(), [&](const T* values, std::size_t first, std::size_t n) {
        parallelFor(n, kWorthAThread, [&](std::size_t begin, std::size_t end) {
            Part part;
            for (std::size_t i = begin; i < end; ++i)
                part.add(values[i], expectedOf(first + i), 16 * tolerance);
            const std::lock_guard<std::mutex> lock(mutex);
            all.add(part);
        });
        return true;
    });
    const double scale = std::sqrt(all.squaredReference), allowed = 0.999999 * tolerance;
    return all.finite && std::sqrt(all.squaredError) <= allowed * scale &&
           all.excess <= 16 * allowed * scale / std::sqrt(static_cast<double>(output.size()));
}

// What lab::mismatch() of verify.h says of output.toHost() and of all that is expected.
template <typename T, typename ExpectedOf>
std::string mismatchOf(const DeviceBuffer<T>& output, const ExpectedOf& expectedOf,
                       double tolerance) {
    static_assert(std::is_floating_point_v<T>, "integers are compared exactly");
    if (output.bytes() > kSmallBytes && surelyRight(output, expectedOf, tolerance)) return "";
    std::vector<T> expected = hostVector<T>(output.size());
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = expectedOf(i);
    return mismatch(output.toHost(), expected, tolerance);
}

// The same where what is expected stands in a vector of the same size. (Buffer: a DeviceBuffer,
// which cannot be mistaken for a list of values.)
template <typename Buffer>
std::string mismatch(const Buffer& output, const decltype(output.toHost())& expected) {
    if (output.size() != expected.size()) return mismatch(output.toHost(), expected);
    return mismatchOf(output, [&](std::size_t i) { return expected[i]; });
}
template <typename Buffer>
std::string mismatch(const Buffer& output, const decltype(output.toHost())& expected,
                     double tolerance) {
    if (output.size() != expected.size()) return mismatch(output.toHost(), expected, tolerance);
    const auto expectedOf = [&](std::size_t i) { return expected[i]; };
    return tolerance == 0 ? mismatchOf(output, expectedOf)
                          : mismatchOf(output, expectedOf, tolerance);
}

}  // namespace lab
