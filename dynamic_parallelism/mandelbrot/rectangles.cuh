#pragma once
// Rectangles of pixels: their borders, what lies inside, and the parts into which that is divided.

#include <cstddef>

struct Rectangle {
    unsigned x, y, width, height;
};
struct Pixel {
    unsigned x, y;
};

// A rectangle whose border is not of one colour is divided into kParts * kParts smaller ones.
inline constexpr unsigned kParts = 4;

// One of those who stay is filled if so many borders, one within the other, are of one colour.
inline constexpr unsigned kBorders = 3;

__host__ __device__ inline bool isEmpty(const Rectangle& of) {
    return of.width == 0 || of.height == 0;
}

// `of` without its border.
__host__ __device__ inline Rectangle inside(const Rectangle& of) {
    if (of.width <= 2 || of.height <= 2) return {of.x, of.y, 0, 0};
    return {of.x + 1, of.y + 1, of.width - 2, of.height - 2};
}

// Is it worth while to divide an inside like this one? `least` is kParts or more, so that no part
// is empty.
__host__ __device__ inline bool isDivided(const Rectangle& inside, unsigned least) {
    return inside.width > least && inside.height > least;
}

// Number (i, j) of columns * rows parts, as equal as whole pixels allow.
__host__ __device__ inline Rectangle part(const Rectangle& of, unsigned columns, unsigned rows,
                                          unsigned i, unsigned j) {
    const unsigned left = of.width * i / columns, right = of.width * (i + 1) / columns;
    const unsigned top = of.height * j / rows, bottom = of.height * (j + 1) / rows;
    return {of.x + left, of.y + top, right - left, bottom - top};
}

__host__ __device__ inline unsigned borderPixels(const Rectangle& of) {
    if (of.width == 1 || of.height == 1) return of.width * of.height;
    return 2 * (of.width + of.height) - 4;
}

// Number i of them: first the topmost row, then the lowest, then the sides.
__host__ __device__ inline Pixel borderPixel(const Rectangle& of, unsigned i) {
    if (of.width == 1) return {of.x, of.y + i};
    if (i < of.width) return {of.x + i, of.y};
    if (i < 2 * of.width) return {of.x + i - of.width, of.y + of.height - 1};
    const unsigned ofSides = i - 2 * of.width;
    return {of.x + ofSides % 2 * (of.width - 1), of.y + 1 + ofSides / 2};
}

// The rectangles with which all begins: columns * rows parts of the image.
struct Tiles {
    unsigned columns, rows;
    __host__ __device__ unsigned count() const { return columns * rows; }
};

// A rectangle in one word, which is written and read as a whole. 0 is none.
__host__ __device__ inline unsigned long long packed(const Rectangle& of) {
    const auto half = [](unsigned a, unsigned b) { return a << 16 | b; };
    return 1ull * half(of.x, of.y) << 32 | half(of.width, of.height);
}
__host__ __device__ inline Rectangle unpacked(unsigned long long word) {
    const auto value = [=](unsigned bit) { return static_cast<unsigned>(word >> bit & 0xFFFF); };
    return {value(48), value(32), value(16), value(0)};
}

// How many rectangles can come of a square one, itself included?
inline std::size_t mostRectangles(unsigned side, unsigned least) {
    const Rectangle rest = inside({0, 0, side, side});
    if (!isDivided(rest, least)) return 1;
    const unsigned ofParts = (rest.width + kParts - 1) / kParts;  // the largest
    return 1 + kParts * kParts * mostRectangles(ofParts, least);
}
