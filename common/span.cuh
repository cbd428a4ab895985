#pragma once
// When and where a part of a kernel ran.

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

}  // namespace lab
