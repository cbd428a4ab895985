// CUDA's fast, less accurate intrinsics. On the host the accurate function serves: its result lies
// within the error that CUDA allows, but is not bit for bit that of a GPU.
#pragma once

#include <cmath>

#include <math.h>

// glibc's <math.h> declares several of these names, without defining them for programs. C linkage
// and noexcept make the definitions below agree with its declarations.
extern "C" {
inline float __sinf(float x) noexcept {
    return sinf(x);
}
inline float __cosf(float x) noexcept {
    return cosf(x);
}
inline float __tanf(float x) noexcept {
    return tanf(x);
}
inline float __tanhf(float x) noexcept {
    return tanhf(x);
}
inline void __sincosf(float x, float* sine, float* cosine) noexcept {
    *sine = sinf(x);
    *cosine = cosf(x);
}
inline float __expf(float x) noexcept {
    return expf(x);
}
inline float __exp10f(float x) noexcept {
    return exp10f(x);
}
inline float __logf(float x) noexcept {
    return logf(x);
}
inline float __log2f(float x) noexcept {
    return log2f(x);
}
inline float __log10f(float x) noexcept {
    return log10f(x);
}

// CUDA defines it by this formula: unlike powf(), it has no result for a negative x.
inline float __powf(float x, float y) noexcept {
    return exp2f(y * log2f(x));
}
}

inline float __fdividef(float x, float y) {
    return x / y;
}

// Clamps to [0, 1]; a NaN becomes 0.
inline float __saturatef(float x) {
    return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f;
}
