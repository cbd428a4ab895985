#pragma once
// The picture that is there without a file: an evening by the sea.

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "parallel.h"
#include "picture.cuh"

struct Colour {
    float red, green, blue;
};

inline Colour mixed(Colour a, Colour b, float share) {
    return {a.red + share * (b.red - a.red), a.green + share * (b.green - a.green),
            a.blue + share * (b.blue - a.blue)};
}

// The letters of CUDA, five units wide and seven high, with a bit for each square unit.
inline bool inText(float x, float y) {
    constexpr unsigned kLetters[4][7] = {{14, 17, 16, 16, 16, 17, 14},
                                         {17, 17, 17, 17, 17, 17, 14},
                                         {30, 17, 17, 17, 17, 17, 30},
                                         {14, 17, 17, 31, 17, 17, 17}};
    if (x < 0 || y < 0 || x >= 24 || y >= 7) return false;
    const auto column = static_cast<unsigned>(x), row = static_cast<unsigned>(y);
    return column % 6 < 5 && (kLetters[column / 6][row] >> (4 - column % 6) & 1) != 0;
}

inline bool inSails(float x, float y) {
    const bool front = x > 0.38f && y > 0.32f && y < 0.7f && x - 0.38f < 0.55f * (y - 0.32f);
    const bool back = x < 0.365f && y > 0.42f && y < 0.7f && 0.365f - x < 0.45f * (y - 0.42f);
    return front || back;
}

inline bool inHullOrMast(float x, float y) {
    const bool hull = y > 0.72f && y < 0.79f && std::fabs(x - 0.4f) < 0.93f - y;
    const bool mast = x > 0.368f && x < 0.378f && y > 0.28f && y < 0.73f;
    return hull || mast;
}

// (x, y) goes from (0, 0) in the upper left to (1.5, 1) in the lower right.
inline Colour sceneAt(float x, float y) {
    constexpr Colour kNight = {38, 42, 92}, kDusk = {247, 150, 92}, kSun = {255, 236, 160};
    constexpr Colour kSea = {24, 64, 110}, kFoam = {126, 190, 205};
    constexpr float kHorizon = 0.66f;
    if (inText((x - 0.86f) / 0.0225f, (y - 0.1f) / 0.0225f)) return {255, 255, 255};
    if (inSails(x, y)) return {245, 245, 240};
    if (inHullOrMast(x, y)) return {120, 42, 36};
    if (y < kHorizon) {
        const float fromSun = std::hypot(x - 1.02f, y - 0.58f);
        const Colour sky = mixed(kNight, kDusk, y / kHorizon);
        if (fromSun < 0.15f) return kSun;
        return fromSun < 0.5f ? mixed(sky, kSun, 0.5f - fromSun) : sky;
    }
    const float depth = (y - kHorizon) / (1 - kHorizon);  // waves are wider in front
    const float wave = std::sin(90 * std::sqrt(depth) + 5 * std::sin(9 * x));
    return mixed(kSea, kFoam, wave > 0.75f ? 0.8f : 0.25f * (1 - depth));
}

inline lab::Picture scene(unsigned width, unsigned height) {
    lab::Picture picture = {width, height, 3, {}};
    const std::size_t count = std::size_t{width} * height;
    picture.bytes.resize(3 * count);
    lab::parallelFor(count, 1 << 12, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const auto column = static_cast<float>(i % width), row = static_cast<float>(i / width);
            const Colour colour = sceneAt(1.5f * column / static_cast<float>(width),
                                          row / static_cast<float>(height));
            picture.bytes[3 * i] = static_cast<unsigned char>(colour.red);
            picture.bytes[3 * i + 1] = static_cast<unsigned char>(colour.green);
            picture.bytes[3 * i + 2] = static_cast<unsigned char>(colour.blue);
        }
    });
    return picture;
}

// A grey picture gets three equal channels.
inline void makeColour(lab::Picture* picture) {
    if (picture->channels == 3) return;
    const std::vector<unsigned char> grey = std::move(picture->bytes);
    picture->bytes.resize(3 * grey.size());
    for (std::size_t i = 0; i < picture->bytes.size(); ++i) picture->bytes[i] = grey[i / 3];
    picture->channels = 3;
}
