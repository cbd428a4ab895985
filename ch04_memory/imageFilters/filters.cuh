#pragma once
// What a filter does with the pixels around a place, for kernels and for the host.

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

#include "memory.h"
#include "parallel.h"

// The brightness that the eye sees: green counts most. The weights are 256 together.
__host__ __device__ inline unsigned char greyOf(unsigned red, unsigned green, unsigned blue) {
    return static_cast<unsigned char>((77 * red + 150 * green + 29 * blue + 128) / 256);
}

// Byte 0, 1, 2 or 3 of a word. Byte 0 is the one with the lowest address.
__host__ __device__ inline unsigned byteOf(unsigned word, unsigned number) {
    return word >> (8 * number) & 0xFF;
}

struct GreyImage {
    const unsigned char* pixels;  // row-major
    int rows, cols;

    __host__ __device__ std::size_t placeOf(int row, int col) const {
        return std::size_t(row) * cols + col;
    }
    // Beyond the border stands the nearest pixel.
    __host__ __device__ int at(int row, int col) const {
        const int r = row < 0 ? 0 : row < rows ? row : rows - 1;
        const int c = col < 0 ? 0 : col < cols ? col : cols - 1;
        return pixels[placeOf(r, c)];
    }
};

// The sum of the pixels of a row that are at most `radius` columns away.
__host__ __device__ inline unsigned rowSum(const GreyImage& in, int row, int col, int radius) {
    unsigned sum = 0;
    for (int x = col - radius; x <= col + radius; ++x) sum += in.at(row, x);
    return sum;
}

// The mean of a square of pixels, rounded.
__host__ __device__ inline unsigned char meanOf(unsigned sum, int radius) {
    const unsigned count = (2 * radius + 1) * (2 * radius + 1);
    return static_cast<unsigned char>((sum + count / 2) / count);
}

// How much the brightness changes at a place: 0 where it does not, at most 255.
__host__ __device__ inline unsigned char sobel(const GreyImage& in, int row, int col) {
    const auto at = [&](int y, int x) { return in.at(row + y, col + x); };
    const int left = at(-1, -1) + 2 * at(0, -1) + at(1, -1);
    const int right = at(-1, 1) + 2 * at(0, 1) + at(1, 1);
    const int above = at(-1, -1) + 2 * at(-1, 0) + at(-1, 1);
    const int below = at(1, -1) + 2 * at(1, 0) + at(1, 1);
    const int x = right - left, y = below - above;
    const int change = (x < 0 ? -x : x) + (y < 0 ? -y : y);
    return static_cast<unsigned char>(change < 255 ? change : 255);
}

// ---- the same on the host ----

template <typename PixelOf>
std::vector<unsigned char> pixelsOf(std::size_t count, const PixelOf& pixelOf) {
    std::vector<unsigned char> out = lab::hostVector<unsigned char>(count);
    lab::parallelFor(count, 1 << 14, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) out[i] = pixelOf(i);
    });
    return out;
}

inline std::vector<unsigned char> greyOnHost(const std::vector<unsigned char>& rgb) {
    return pixelsOf(rgb.size() / 3, [&](std::size_t i) {
        return greyOf(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
    });
}

// Sums of columns first, then sums of these: a square of 9 x 9 costs 18 additions.
inline std::vector<unsigned char> blurOnHost(const GreyImage& in, int radius) {
    const auto cols = static_cast<std::size_t>(in.cols), count = in.rows * cols;
    std::vector<unsigned> down = lab::hostVector<unsigned>(count);
    lab::parallelFor(count, 1 << 14, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const int row = static_cast<int>(i / cols), col = static_cast<int>(i % cols);
            down[i] = 0;
            for (int y = row - radius; y <= row + radius; ++y) down[i] += in.at(y, col);
        }
    });
    return pixelsOf(count, [&](std::size_t i) {
        const std::size_t firstOfRow = i - i % cols;
        const int col = static_cast<int>(i % cols);
        unsigned sum = 0;
        for (int x = col - radius; x <= col + radius; ++x)
            sum += down[firstOfRow + (x < 0 ? 0 : x < in.cols ? x : in.cols - 1)];
        return meanOf(sum, radius);
    });
}

inline std::vector<unsigned char> edgesOnHost(const GreyImage& in) {
    const auto cols = static_cast<std::size_t>(in.cols);
    return pixelsOf(in.rows * cols, [&](std::size_t i) {
        return sobel(in, static_cast<int>(i / cols), static_cast<int>(i % cols));
    });
}
