#pragma once
// Dwells on the GPU: that of a pixel, by a thread; those of a rectangle, by a block: mandelbrot.

#include <cstddef>

#include "escapeTime.h"
#include "rectangles.cuh"

inline constexpr unsigned kUnroll = 16;

struct Complex {
    float re, im;
};

// z * z + c: three multiply-adds and one addition.
__device__ inline Complex step(const Complex& z, const Complex& c) {
    const float re = fmaf(z.re, z.re, fmaf(-z.im, z.im, c.re));
    return {re, fmaf(z.re + z.re, z.im, c.im)};
}

// False for NaN, too, which comes of steps after z has left.
__device__ inline bool isNear(const Complex& z) {
    return fmaf(z.im, z.im, z.re * z.re) <= kFar;
}

// Steps that a pixel takes without leaving, at most view.dwell. With `unroll` > 1, so many are done
// before looking; those among which z leaves are done again, one by one.
template <unsigned unroll>
__device__ unsigned dwellOf(const View& view, unsigned x, unsigned y) {
    const Complex c = {fmaf(static_cast<float>(x), view.step, view.left),
                       fmaf(static_cast<float>(y), view.step, view.top)};
    Complex z = {0, 0};
    unsigned dwell = 0;
    if (unroll > 1) {
        for (; dwell + unroll <= view.dwell; dwell += unroll) {
            Complex later = z;
#pragma unroll
            for (unsigned k = 0; k < unroll; ++k) later = step(later, c);
            if (!isNear(later)) break;
            z = later;
        }
    }
    for (; dwell < view.dwell; ++dwell) {
        z = step(z, c);
        if (!isNear(z)) break;
    }
    return dwell;
}

__device__ inline std::size_t placeOf(const View& view, unsigned x, unsigned y) {
    return std::size_t{y} * view.width + x;
}

// The pixels of the border, by all threads of the block: do they have one dwell? *dwell is that of
// the first.
__device__ inline bool borderIsEqual(unsigned* image, const View& view, const Rectangle& rectangle,
                                     unsigned* dwell) {
    __shared__ unsigned first;
    unsigned low = ~0u, high = 0;  // of this thread
    for (unsigned i = threadIdx.x; i < borderPixels(rectangle); i += blockDim.x) {
        const Pixel pixel = borderPixel(rectangle, i);
        const unsigned found = dwellOf<kUnroll>(view, pixel.x, pixel.y);
        image[placeOf(view, pixel.x, pixel.y)] = found;
        low = min(low, found);
        high = max(high, found);
    }
    if (threadIdx.x == 0) first = low;
    __syncthreads();
    *dwell = first;
    const bool hasNone = low > high;
    return __syncthreads_and(hasNone || (low == *dwell && high == *dwell));
}

__device__ inline void fill(unsigned* image, const View& view, const Rectangle& rectangle,
                            unsigned dwell) {
    for (unsigned i = threadIdx.x; i < rectangle.width * rectangle.height; i += blockDim.x) {
        const unsigned x = rectangle.x + i % rectangle.width;
        image[placeOf(view, x, rectangle.y + i / rectangle.width)] = dwell;
    }
}

__device__ inline void compute(unsigned* image, const View& view, const Rectangle& rectangle) {
    for (unsigned i = threadIdx.x; i < rectangle.width * rectangle.height; i += blockDim.x) {
        const unsigned x = rectangle.x + i % rectangle.width;
        const unsigned y = rectangle.y + i / rectangle.width;
        image[placeOf(view, x, y)] = dwellOf<kUnroll>(view, x, y);
    }
}

struct Counts {
    unsigned long long filled, divided;  // pixels, rectangles
    unsigned long long refusal;          // the error of a launch, 0 where there was none
};

// A block settles a rectangle: its border, and its inside where that is filled or too small to be
// divided. True if *rectangle, of which only an inside is left then, remains to be divided. No
// pixel is computed twice.
__device__ inline bool leavesInside(unsigned* image, const View& view, unsigned least,
                                    Rectangle* rectangle, Counts* counts) {
    unsigned dwell, next;
    bool equal = borderIsEqual(image, view, *rectangle, &dwell);
    *rectangle = inside(*rectangle);
    // An inlet of those who leave can be narrower than a pixel where it crosses the border. Those
    // who stay are only believed if further borders say so.
    for (unsigned b = 1; b < kBorders && equal && dwell == view.dwell && !isEmpty(*rectangle);
         ++b) {
        equal = borderIsEqual(image, view, *rectangle, &next) && next == dwell;
        *rectangle = inside(*rectangle);
    }
    if (isEmpty(*rectangle)) return false;
    if (!equal && isDivided(*rectangle, least)) return true;
    if (equal) {
        fill(image, view, *rectangle, dwell);
        if (threadIdx.x == 0) {
            atomicAdd(&counts->filled, 1ull * rectangle->width * rectangle->height);
        }
    } else {
        compute(image, view, *rectangle);
    }
    return false;
}
