#pragma once
// How spectralDerivative's rungs 4 and 5 lay out their elements in shared memory, and how they load
// and store four values at a time.

#include <algorithm>
#include <cstddef>

// Elements of kN x kN x kN points in shared memory. A thread has four lines. Padding avoids bank
// conflicts: a row is 4 floats longer than its values, and a row of the next plane begins in the
// bank behind the last value of the same row in this plane. So eight lanes that access 16 bytes
// each use 32 different banks, whether they are neighbours in x, in y, or in x and z. (For kN < 32,
// they do share banks where a block stores u to the tile and where it loads du/dx from there: these
// eight lanes are neighbours in x and y.)
template <unsigned kN>
struct Lines {
    static constexpr unsigned kThreadsPerElement = kN * kN / 4;
    static constexpr unsigned kElements = std::max(1u, 128 / kThreadsPerElement);  // in a block
    static constexpr unsigned kThreads = kElements * kThreadsPerElement;
    static constexpr unsigned kRow = kN + 4;
    static constexpr unsigned kPlane = kN * kRow + kN % 32;
    static constexpr std::size_t kSharedBytes = sizeof(float) * (kN * kN + kElements * kN * kPlane);
};

// Four lines of kN points: [j][l] is value j of line l.
template <unsigned kN>
using FourLines = float[kN][4];

__device__ inline float4 asFloat4(const float (&values)[4]) {
    return make_float4(values[0], values[1], values[2], values[3]);
}

// Loads four neighbours of a row from global memory. Only the first `count` are inside the element.
// If kWhole, that is all of them or none.
template <bool kWhole>
__device__ void loadFour(float (&values)[4], const float* from, unsigned count) {
    if constexpr (kWhole) {
        const float4 v = count > 0 ? *reinterpret_cast<const float4*>(from) : float4{};
        values[0] = v.x, values[1] = v.y, values[2] = v.z, values[3] = v.w;
    } else {
#pragma unroll
        for (unsigned l = 0; l < 4; ++l) values[l] = l < count ? from[l] : 0;
    }
}

template <bool kWhole>
__device__ void storeFour(float* to, float4 values, unsigned count) {
    if constexpr (kWhole) {  // the compiler may split a plain assignment into four stores
        if (count > 0) __stwb(reinterpret_cast<float4*>(to), values);
    } else {
        if (count > 0) to[0] = values.x;
        if (count > 1) to[1] = values.y;
        if (count > 2) to[2] = values.z;
        if (count > 3) to[3] = values.w;
    }
}
