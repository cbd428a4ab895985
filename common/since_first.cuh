#pragma once
// The times of a timeline, counted from when the first piece of work began.

#include <algorithm>
#include <vector>

#include "result_table.h"
#include "span.cuh"

namespace lab {

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
