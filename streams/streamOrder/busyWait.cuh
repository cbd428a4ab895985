#pragma once
// A kernel that does nothing but pass the time: streamOrder.

#include "intrinsics.cuh"
#include "span.cuh"

__device__ inline void stayUntil(unsigned long long end) {
    while (lab::globaltimer() < end) {
    }
}

// One thread, whose `span` may lie in page-locked memory of the host.
__global__ void stay(unsigned long long nanoseconds, lab::Span* span) {
    const unsigned long long begin = lab::globaltimer();
    stayUntil(begin + nanoseconds);
    *span = {begin, lab::globaltimer(), lab::smid()};
}
