#pragma once
// When and where a part of a kernel ran.

#include <algorithm>
#include <vector>

#include "table.h"

namespace lab {

// Nanoseconds of globaltimer(), a clock that all multiprocessors share, and the number of the one
// that it ran on.
struct Span {
    unsigned long long begin, end;
    unsigned sm;
};

// Did it run at all, and stay for so long?
inline bool stayedFor(const Span& span, unsigned long long nanoseconds) {
    return span.begin > 0 && span.end >= span.begin && span.end - span.begin >= nanoseconds;
}

// Of a difference of two times of globaltimer().
inline double milliseconds(unsigned long long nanoseconds) {
    return 1e-6 * static_cast<double>(nanoseconds);
}

// Turns times of globaltimer() into cells in milliseconds, with the digits of nanoseconds.
class SinceFirst {
  public:
    explicit SinceFirst(unsigned long long first) : first_(first) {}

    // Since the first begin of `spans`, of which there is at least one: Span, or what has its
    // begin.
    template <typename T>
    explicit SinceFirst(const std::vector<T>& spans) : first_(spans.front().begin) {
        for (const T& span : spans) first_ = std::min(first_, span.begin);
    }

    Cell operator()(unsigned long long time) const { return {milliseconds(time - first_), 6}; }

  private:
    unsigned long long first_;
};

}  // namespace lab
