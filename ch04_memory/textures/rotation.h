#pragma once
// Where the pixels of a rotated image lie in the image, and what they are: on the CPU as well.

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "parallel.h"

// Rotates about the centre. Places count pixels: pixel (3, 2) has its centre at 3 and 2.
struct Rotation {
    float cosine, sine;      // divided by the scale: places are those in the input
    float centreX, centreY;  // of the image

    Rotation(int width, int height, unsigned degrees, unsigned percent) {
        const double radians = degrees * 3.14159265358979323846 / 180;
        cosine = static_cast<float>(std::cos(radians) * 100 / percent);
        sine = static_cast<float>(std::sin(radians) * 100 / percent);
        centreX = static_cast<float>(width - 1) / 2;
        centreY = static_cast<float>(height - 1) / 2;
    }

    // The place in the input that the output shows at pixel (x, y). A fused multiply-add rounds the
    // same on the CPU, so both compute the same place.
    __host__ __device__ float2 placeOf(int x, int y) const {
        const float dx = static_cast<float>(x) - centreX, dy = static_cast<float>(y) - centreY;
        return make_float2(fmaf(cosine, dx, fmaf(-sine, dy, centreX)),
                           fmaf(sine, dx, fmaf(cosine, dy, centreY)));
    }
};

// The reference: the weights are computed in double, from the same places. Outside, the image is
// black, or it begins anew.
inline std::vector<float> rotated(const std::vector<float>& pixels, int width, int height,
                                  const Rotation& rotation, bool repeats) {
    const auto pixelAt = [&](int x, int y) -> double {
        if (repeats) {
            x = (x % width + width) % width;
            y = (y % height + height) % height;
        }
        const bool inside = x >= 0 && x < width && y >= 0 && y < height;
        return inside ? pixels[std::size_t(y) * width + x] : 0;
    };
    std::vector<float> result(pixels.size());
    lab::parallelFor(pixels.size(), 1 << 14, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const float2 place =
                rotation.placeOf(static_cast<int>(i % width), static_cast<int>(i / width));
            const double left = std::floor(place.x), top = std::floor(place.y);
            const double x = place.x - left, y = place.y - top;
            const int column = static_cast<int>(left), row = static_cast<int>(top);
            const double upper = (1 - x) * pixelAt(column, row) + x * pixelAt(column + 1, row);
            const double lower =
                (1 - x) * pixelAt(column, row + 1) + x * pixelAt(column + 1, row + 1);
            result[i] = static_cast<float>((1 - y) * upper + y * lower);
        }
    });
    return result;
}
