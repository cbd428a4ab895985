#pragma once
// Achieved occupancy without a profiler: each warp notes when and where it ran, and the host counts
// how many were resident on average.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "format.h"
#include "intrinsics.cuh"
#include "span.cuh"

// The first lane of each warp notes its span. A kernel calls this at its end.
__device__ inline void noteSpan(lab::Span* spans, unsigned long long begin) {
    const unsigned warpsPerBlock = (blockDim.x + warpSize - 1) / warpSize;
    const std::size_t warp = std::size_t{blockIdx.x} * warpsPerBlock + threadIdx.x / warpSize;
    if (threadIdx.x % warpSize == 0) spans[warp] = {begin, lab::globaltimer(), lab::smid()};
}

// Warps that were resident on an SM on average, from its first begin to its last end.
inline double averageWarps(const std::vector<lab::Span>& spans) {
    struct Sm {
        unsigned long long begin = ~0ull, end = 0;
    };
    std::vector<Sm> sms;
    double lives = 0, busy = 0;
    for (const lab::Span& span : spans) {
        if (span.sm >= sms.size()) sms.resize(span.sm + 1);
        Sm& sm = sms[span.sm];
        sm.begin = std::min(sm.begin, span.begin);
        sm.end = std::max(sm.end, span.end);
        lives += static_cast<double>(span.end - span.begin);
    }
    for (const Sm& sm : sms) {
        if (sm.begin <= sm.end) busy += static_cast<double>(sm.end - sm.begin);
    }
    return busy > 0 ? lives / busy : 0;
}

// The same in percent of the warps that an SM can hold.
inline double achievedPercent(const std::vector<lab::Span>& spans, unsigned mostWarps) {
    return 100 * averageWarps(spans) / mostWarps;
}

// What is wrong with the notes of a kernel of which so many warps should have been resident.
inline std::string wrongSpans(const std::vector<lab::Span>& spans, unsigned predicted) {
    for (std::size_t warp = 0; warp < spans.size(); ++warp) {
        if (spans[warp].end == 0 || spans[warp].end < spans[warp].begin)
            return lab::formatted("warp %zu did not note when it ran", warp);
    }
    const double average = averageWarps(spans);
    if (average <= predicted) return "";
    return lab::formatted("%.2f warps were resident, at most %u fit", average, predicted);
}
