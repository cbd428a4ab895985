#pragma once
// When and where a part of a kernel ran.

namespace lab {

// Nanoseconds of globaltimer(), a clock that all multiprocessors share, and the number of the one
// that it ran on.
struct Span {
    unsigned long long begin, end;
    unsigned sm;
};

}  // namespace lab
