#pragma once
// The Mandelbrot set on the host: the dwell of each pixel, and what the algorithm of Mariani and
// Silver makes of it.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "format.h"
#include "parallel.h"
#include "rectangles.cuh"
#include "verify.h"

// Of the plane: square pixels, with the whole set in an image that is at least as wide as high.
struct View {
    unsigned width, height, dwell;  // the largest dwell: who stays so long counts as staying
    float left, top, step;          // centre of pixel (0, 0), distance of two pixels
};

inline View viewOf(unsigned width, unsigned height, unsigned dwell) {
    const double step = 2.5 / height;
    return {width,
            height,
            dwell,
            static_cast<float>(-0.75 - step * (width - 1) / 2),
            static_cast<float>(-step * (height - 1) / 2),
            static_cast<float>(step)};
}

// z leaves when |z|^2 exceeds this. 4 would do for numbers without rounding errors; z that are four
// times as far away only grow, however they are rounded.
inline constexpr float kFar = 16;

// CPU reference of one pixel. Each fmaf() rounds once, on the CPU as on a GPU: all back ends have
// the same bits.
inline unsigned dwellOnHost(const View& view, unsigned x, unsigned y) {
    const float cRe = std::fmaf(static_cast<float>(x), view.step, view.left);
    const float cIm = std::fmaf(static_cast<float>(y), view.step, view.top);
    float re = 0, im = 0;
    unsigned dwell = 0;
    while (dwell < view.dwell) {
        const float next = std::fmaf(re, re, std::fmaf(-im, im, cRe));
        im = std::fmaf(2 * re, im, cIm);
        re = next;
        if (std::fmaf(im, im, re * re) > kFar) break;
        ++dwell;
    }
    return dwell;
}

// That of all pixels.
inline std::vector<unsigned> imageOnHost(const View& view) {
    std::vector<unsigned> image(std::size_t{view.width} * view.height);
    lab::parallelFor(view.height, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t y = begin; y < end; ++y) {
            for (unsigned x = 0; x < view.width; ++x) {
                image[y * view.width + x] = dwellOnHost(view, x, static_cast<unsigned>(y));
            }
        }
    });
    return image;
}

// Puts that of every `stride`-th pixel in its place.
inline void putSampleOfHost(const View& view, std::size_t stride, std::vector<unsigned>* image) {
    lab::parallelFor(image->size() / stride, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin * stride; i < end * stride; i += stride) {
            (*image)[i] = dwellOnHost(view, static_cast<unsigned>(i % view.width),
                                      static_cast<unsigned>(i / view.width));
        }
    });
}

// Bit for bit, with the pixel that differs.
inline std::string wrongPixel(const View& view, const std::vector<unsigned>& image,
                              const std::vector<unsigned>& expected) {
    const auto [found, wanted] = std::mismatch(image.begin(), image.end(), expected.begin());
    if (found == image.end()) return "";
    const auto place = static_cast<std::size_t>(found - image.begin());
    return lab::formatted("pixel (%zu, %zu): ", place % view.width, place / view.width) +
           lab::describeMismatch(place, *found, *wanted);
}

// What the algorithm makes of an image of which every pixel is known.
struct Subdivision {
    std::vector<unsigned> image;
    std::vector<unsigned char> computed;  // 0 where a pixel was filled, 1 elsewhere
    std::size_t divided = 0, filled = 0;  // rectangles; pixels
};

class Subdivider {
  public:
    // `tile` and `least` as the kernels have them.
    Subdivider(const std::vector<unsigned>& full, const View& view, unsigned tile, unsigned least)
        : full_(full), view_(view), least_(least) {
        result_.image = full;
        result_.computed.assign(full.size(), 1);
        const unsigned columns = (view.width + tile - 1) / tile;
        const unsigned rows = (view.height + tile - 1) / tile;
        lab::parallelFor(rows, 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t j = begin; j < end; ++j) {
                for (unsigned i = 0; i < columns; ++i) {
                    settle(part({0, 0, view.width, view.height}, columns, rows, i,
                                static_cast<unsigned>(j)));
                }
            }
        });
        result_.divided = divided_;
        result_.filled = filled_;
    }

    Subdivision&& result() { return std::move(result_); }

  private:
    std::size_t place(const Pixel& of) const { return std::size_t{of.y} * view_.width + of.x; }

    bool borderHas(const Rectangle& rectangle, unsigned dwell) const {
        for (unsigned i = 0; i < borderPixels(rectangle); ++i) {
            if (full_[place(borderPixel(rectangle, i))] != dwell) return false;
        }
        return true;
    }

    void settle(const Rectangle& rectangle) {
        const unsigned dwell = full_[place({rectangle.x, rectangle.y})];
        bool equal = borderHas(rectangle, dwell);
        Rectangle rest = inside(rectangle);
        for (unsigned b = 1; b < kBorders && equal && dwell == view_.dwell && !isEmpty(rest); ++b) {
            equal = borderHas(rest, dwell);
            rest = inside(rest);
        }
        if (equal) {
            fill(rest, dwell);
        } else if (isDivided(rest, least_)) {
            ++divided_;
            for (unsigned k = 0; k < kParts * kParts; ++k) {
                settle(part(rest, kParts, kParts, k % kParts, k / kParts));
            }
        }
    }

    void fill(const Rectangle& rest, unsigned dwell) {
        filled_ += std::size_t{rest.width} * rest.height;
        for (unsigned y = rest.y; y < rest.y + rest.height; ++y) {
            const std::size_t begin = place({rest.x, y});
            std::fill_n(result_.image.begin() + static_cast<std::ptrdiff_t>(begin), rest.width,
                        dwell);
            std::fill_n(result_.computed.begin() + static_cast<std::ptrdiff_t>(begin), rest.width,
                        static_cast<unsigned char>(0));
        }
    }

    const std::vector<unsigned>& full_;
    const View view_;
    const unsigned least_;
    Subdivision result_;
    std::atomic<std::size_t> divided_{0}, filled_{0};
};
