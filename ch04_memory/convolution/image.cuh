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

    // The row that stands in for `row`, and the columns that stand in for `col` ... `col` + 3, as
    // mapped() says, or the nearest ones where the border is zero. They may lie beyond the border
    // by one image at most. There is no branch: all threads compute all of it.
    __device__ int nearRow(int row) const { return wrapped(clamped(row, rows, 1), rows); }
    __device__ int nearCol(int col) const { return wrapped(clamped(col, cols, 4), cols); }

    // i itself where the border wraps, else the nearest of 0 ... n - step.
    __device__ int clamped(int i, int n, int step) const {
        const int reach = border == Border::kWrap ? n : 0;
        return min(max(i, -reach), n + reach - step);
    }
    // What lies beyond one side comes in on the other.
    __device__ static int wrapped(int i, int n) {
        i += i < 0 ? n : 0;
        return i - (i >= n ? n : 0);
    }
};
