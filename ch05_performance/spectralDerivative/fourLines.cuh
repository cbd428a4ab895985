#pragma once
// What a thread of spectralDerivative's rungs 4 and 5 does with four lines of a field.

#include <algorithm>
#include <cstddef>

// Elements of kN x kN x kN points in shared memory, as these rungs have them. A thread has four
// lines. Rows lie 4 floats further apart than they are long, and planes so far that the next one
// goes on in the bank after the last of this one: eight lanes with 16 bytes each, be they
// neighbours in x, y or z, meet in no bank. (For kN < 32 those in x and y do, where u comes in and
// du/dx goes out.)
template <unsigned kN>
struct Lines {
    static constexpr unsigned kThreadsPerElement = kN * kN / 4;
    static constexpr unsigned kElements = std::max(1u, 128 / kThreadsPerElement);  // to a block
    static constexpr unsigned kThreads = kElements * kThreadsPerElement;
    static constexpr unsigned kRow = kN + 4;
    static constexpr unsigned kPlane = kN * kRow + kN % 32;
    static constexpr std::size_t kSharedBytes = sizeof(float) * (kN * kN + kElements * kN * kPlane);
};

// The derivatives of four lines. Each value of the matrix, the same for all lanes, is loaded once
// for the four: store(i, sums) gets the results i ... i + 3, sums[of i][of the lines].
template <unsigned kN, typename Store>
__device__ void differentiate(const float (&lines)[kN][4], const float* matrix, Store store) {
#pragma unroll 1
    for (unsigned i = 0; i < kN; i += 4) {
        float sums[4][4] = {};
#pragma unroll
        for (unsigned j = 0; j < kN; ++j) {
            const float4 v = *reinterpret_cast<const float4*>(matrix + j * kN + i);
            const float ofMatrix[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (unsigned r = 0; r < 4; ++r) {
#pragma unroll
                for (unsigned l = 0; l < 4; ++l) sums[r][l] += ofMatrix[r] * lines[j][l];
            }
        }
        store(i, sums);
    }
}

// The same with half of the multiply-adds. Seen from the other end of the line the matrix is the
// same but for its sign: D_i'j' = -D_ij, where i' and j' mirror i and j. So of two results at
// mirrored places half the sum and half the difference are
//
//   (r_i + r_i') / 2 = sum over j < kN / 2 of (D_ij - D_ij') / 2 * (u_j - u_j')
//   (r_i - r_i') / 2 = sum over j < kN / 2 of (D_ij + D_ij') / 2 * (u_j + u_j')
//
// It leaves the differences of values in the front half of `lines`, their sums in the back half.
template <unsigned kN, typename Store>
__device__ void differentiateMirrored(float (&lines)[kN][4], const float* factors, Store store) {
    constexpr unsigned kHalf = kN / 2;
#pragma unroll
    for (unsigned j = 0; j < kHalf; ++j) {
#pragma unroll
        for (unsigned l = 0; l < 4; ++l) {
            const float a = lines[j][l], b = lines[kN - 1 - j][l];
            lines[j][l] = a - b;
            lines[kN - 1 - j][l] = a + b;
        }
    }
#pragma unroll 1
    for (unsigned i = 0; i < kHalf; i += 4) {
        float halfSums[4][4] = {}, halfDifferences[4][4] = {};
#pragma unroll
        for (unsigned j = 0; j < kHalf; ++j) {
            const float4 v = *reinterpret_cast<const float4*>(factors + j * kN + i);
            const float4 w = *reinterpret_cast<const float4*>(factors + j * kN + kHalf + i);
            const float ofDifference[4] = {v.x, v.y, v.z, v.w}, ofSum[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
            for (unsigned r = 0; r < 4; ++r) {
#pragma unroll
                for (unsigned l = 0; l < 4; ++l) {
                    halfSums[r][l] += ofDifference[r] * lines[j][l];
                    halfDifferences[r][l] += ofSum[r] * lines[kN - 1 - j][l];
                }
            }
        }
        float front[4][4], back[4][4];
#pragma unroll
        for (unsigned r = 0; r < 4; ++r) {
#pragma unroll
            for (unsigned l = 0; l < 4; ++l) {
                front[r][l] = halfSums[r][l] + halfDifferences[r][l];
                back[3 - r][l] = halfSums[r][l] - halfDifferences[r][l];
            }
        }
        store(i, front);
        store(kN - 4 - i, back);
    }
}

// Its factors: row j < kN / 2 has (D_ij - D_ij') / 2 for all i < kN / 2, then (D_ij + D_ij') / 2.
template <unsigned kN>
__device__ float mirroredFactor(const float* columns, unsigned j, unsigned place) {
    const unsigned i = place % (kN / 2);
    const float ofJ = columns[j * kN + i], ofMirrored = columns[(kN - 1 - j) * kN + i];
    return (place < kN / 2 ? ofJ - ofMirrored : ofJ + ofMirrored) / 2;
}

__device__ inline float4 asFloat4(const float (&values)[4]) {
    return make_float4(values[0], values[1], values[2], values[3]);
}

// Four neighbours of a row in global memory, of which `count` are inside: all or none if kWhole.
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
    if constexpr (kWhole) {  // an assignment would do, but may become four stores
        if (count > 0) __stwb(reinterpret_cast<float4*>(to), values);
    } else {
        if (count > 0) to[0] = values.x;
        if (count > 1) to[1] = values.y;
        if (count > 2) to[2] = values.z;
        if (count > 3) to[3] = values.w;
    }
}
