#pragma once
// What a thread of convRegisters and of convSliding does: it computes four columns of several rows
// of outputs, and keeps pixels and sums in registers.

#include <cuda_runtime.h>

#include "image.cuh"
#include "taps.cuh"

constexpr int kPatchRows = 4;    // rows of outputs of a thread in convRegisters
constexpr int kSlidingRows = 8;  // the same in convSliding

// A row of what four neighbouring outputs need: their own pixels, in the middle, and kRadius more
// to each side. It comes in loads of 16 bytes, and what each of them brings lies inside or outside
// of the image as a whole.
template <int kRadius>
struct Window {
    static constexpr int kFours = (kRadius + 3) / 4;  // float4 to each side
    float pixels[4 * (2 * kFours + 1)];

    // kInside: no pixel lies beyond the border. At the border, each load happens, and then a thread
    // chooses among its results. There is no branch, so no load waits for another.
    template <bool kInside>
    __device__ void load(const Image& in, int row, int col) {
        const int r = kInside ? row : in.nearRow(row);
        const int margin = in.border == Border::kZero ? 0 : in.rows + in.cols;  // beyond it lies 0
        const bool noRow = !kInside && abs(in.clamped(row, in.rows, 1) - row) > margin;
        const float* const pixelRow = in.pixels + in.placeOf(r, 0);
#pragma unroll
        for (int i = 0; i <= 2 * kFours; ++i) {
            const int c = col + 4 * (i - kFours);
            int place = c;
            if (!kInside && i != kFours) place = in.nearCol(c);
            float4 four = *reinterpret_cast<const float4*>(pixelRow + place);
            if (!kInside && i != kFours) {
                const int clamped = in.clamped(c, in.cols, 4);
                const float pixel = abs(clamped - c) > margin ? 0.0F : i < kFours ? four.x : four.w;
                if (clamped != c) four = make_float4(pixel, pixel, pixel, pixel);
            }
            if (noRow) four = make_float4(0, 0, 0, 0);
            pixels[4 * i] = four.x;
            pixels[4 * i + 1] = four.y;
            pixels[4 * i + 2] = four.z;
            pixels[4 * i + 3] = four.w;
        }
    }
    // What tap x of output j is multiplied with.
    __device__ float at(int j, int x) const { return pixels[4 * kFours + j + x - kRadius]; }
};

// The sums of a thread: four columns of kRows rows.
template <int kRows>
struct Patch {
    float sums[kRows][4] = {};

    __device__ void store(const Image& in, float* __restrict__ out, int row, int col) const {
#pragma unroll
        for (int k = 0; k < kRows; ++k) {
            const float4 four = make_float4(sums[k][0], sums[k][1], sums[k][2], sums[k][3]);
            if (row + k < in.rows)
                *reinterpret_cast<float4*>(out + in.placeOf(row + k, col)) = four;
        }
    }
};

// Do all pixels that `rows` x `cols` outputs need lie inside of the image?
template <int kRadius>
__device__ bool isInside(const Image& in, int row, int col, int rows, int cols) {
    constexpr int kSide = 4 * Window<kRadius>::kFours;
    return col >= kSide && col + cols + kSide <= in.cols && row >= kRadius &&
           row + rows + kRadius <= in.rows;
}

// Can a thread load float4? They must be aligned, and lie beyond the border by one image at most
// (see nearRow()).
template <int kRadius, int kRows>
__device__ bool byFours(const Image& in) {
    return in.cols % 4 == 0 && in.cols >= 4 * Window<kRadius>::kFours && in.rows >= kRows + kRadius;
}

// Else a thread computes its outputs one by one, as convConstant does.
template <int kRadius, int kRows>
__device__ void oneByOne(const Image& in, float* __restrict__ out, int row, int col) {
    constexpr int kSide = 2 * kRadius + 1;
    const auto sumAt = [&](int r, int c) {
        float sum = 0;
        for (int y = 0; y < kSide; ++y) {
            for (int x = 0; x < kSide; ++x)
                sum += constantTaps[y * kSide + x] * in.at(r + y - kRadius, c + x - kRadius);
        }
        return sum;
    };
    for (int r = row; r < row + kRows && r < in.rows; ++r) {
        for (int c = col; c < col + 4 && c < in.cols; ++c) out[in.placeOf(r, c)] = sumAt(r, c);
    }
}

template <int kRadius, bool kInside>
__device__ void convolvePatch(const Image& in, float* __restrict__ out, int row, int col) {
    constexpr int kSide = 2 * kRadius + 1;
    Patch<kPatchRows> patch;
#pragma unroll  // every index becomes a constant: only then do arrays live in registers
    for (int i = 0; i < kPatchRows + 2 * kRadius; ++i) {
        Window<kRadius> window;
        window.template load<kInside>(in, row + i - kRadius, col);
#pragma unroll
        for (int k = 0; k < kPatchRows; ++k) {
            const int y = i - k;  // the row of the filter that brings row i to output row k
            if (y < 0 || y >= kSide) continue;
#pragma unroll
            for (int x = 0; x < kSide; ++x) {
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    patch.sums[k][j] += constantTaps[y * kSide + x] * window.at(j, x);
            }
        }
    }
    patch.store(in, out, row, col);
}

template <int kRadius, bool kInside>
__device__ void slideDown(const Image& in, float* __restrict__ out, int row, int col) {
    Patch<kSlidingRows> patch;
#pragma unroll
    for (int i = 0; i < kSlidingRows + 2 * kRadius; ++i) {
        Window<kRadius> window;
        window.template load<kInside>(in, row + i - kRadius, col);
        float afterRow[4] = {};
#pragma unroll
        for (int x = 0; x <= 2 * kRadius; ++x) {
#pragma unroll
            for (int j = 0; j < 4; ++j) afterRow[j] += constantRow[x] * window.at(j, x);
        }
#pragma unroll
        for (int k = 0; k < kSlidingRows; ++k) {
            const int y = i - k;
            if (y < 0 || y > 2 * kRadius) continue;
#pragma unroll
            for (int j = 0; j < 4; ++j) patch.sums[k][j] += constantColumn[y] * afterRow[j];
        }
    }
    patch.store(in, out, row, col);
}
