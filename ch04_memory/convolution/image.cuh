#pragma once
// An image in device memory, and what lies beyond its border.

#include <cuda_runtime.h>

#include <cstddef>
#include <string>

// What a filter finds outside of the image: the nearest pixel, the other side of the image, or 0.
enum class Border { kClamp, kWrap, kZero };

inline constexpr const char* kBorders = "clamp, wrap or zero";

// False if `name` is none of them.
inline bool parseBorder(const std::string& name, Border* border) {
    if (name == "clamp") *border = Border::kClamp;
    if (name == "wrap") *border = Border::kWrap;
    if (name == "zero") *border = Border::kZero;
    return name == "clamp" || name == "wrap" || name == "zero";
}

constexpr int kOutside = -1;

// The row (or column) that stands in for row i of an image with n rows; kOutside: there the image
// is 0. An image may be smaller than the filter, so i may be further away than n.
__host__ __device__ inline int mapped(int i, int n, Border border) {
    if (i >= 0 && i < n) return i;
    if (border == Border::kClamp) return i < 0 ? 0 : n - 1;
    if (border == Border::kWrap) return (i % n + n) % n;
    return kOutside;
}

struct Image {
    const float* pixels;  // row-major
    int rows, cols;
    Border border;

    __host__ __device__ std::size_t placeOf(int row, int col) const {
        return std::size_t(row) * cols + col;
    }

    __host__ __device__ float at(int row, int col) const {
        const int r = mapped(row, rows, border), c = mapped(col, cols, border);
        return r == kOutside || c == kOutside ? 0 : pixels[placeOf(r, c)];
    }

    // The pixels at col ... col + 3, where `col` and `cols` are multiples of 4: they lie inside or
    // outside together, and one load of 16 bytes brings them.
    __device__ float4 fourAt(int row, int col) const {
        const int r = mapped(row, rows, border);
        if (r == kOutside) return make_float4(0, 0, 0, 0);
        const bool outside = col < 0 || col >= cols;
        const int c = border == Border::kWrap ? mapped(col, cols, border)
                      : col < 0               ? 0
                      : outside               ? cols - 4
                                              : col;
        const float4 four = *reinterpret_cast<const float4*>(pixels + placeOf(r, c));
        if (!outside || border == Border::kWrap) return four;
        const float nearest = border == Border::kZero ? 0 : col < 0 ? four.x : four.w;
        return make_float4(nearest, nearest, nearest, nearest);
    }
};
