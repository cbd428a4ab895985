#include "rectangles.cuh"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace {

TEST(Rectangles, InsideIsWithoutTheBorder) {
    const Rectangle rest = inside({3, 5, 4, 7});
    EXPECT_EQ(rest.x, 4u);
    EXPECT_EQ(rest.y, 6u);
    EXPECT_EQ(rest.width, 2u);
    EXPECT_EQ(rest.height, 5u);
    EXPECT_FALSE(isEmpty(rest));
    EXPECT_TRUE(isEmpty(inside({0, 0, 2, 9})));
    EXPECT_TRUE(isEmpty(inside({0, 0, 9, 1})));
}

// Every shape: each pixel of the border once, and with the inside all pixels.
TEST(Rectangles, BorderAndInsideAreAll) {
    for (unsigned width = 1; width <= 6; ++width) {
        for (unsigned height = 1; height <= 6; ++height) {
            const Rectangle rectangle = {10, 20, width, height};
            std::set<std::pair<unsigned, unsigned>> pixels;
            for (unsigned i = 0; i < borderPixels(rectangle); ++i) {
                const Pixel pixel = borderPixel(rectangle, i);
                EXPECT_TRUE(pixels.emplace(pixel.x, pixel.y).second);
            }
            const Rectangle rest = inside(rectangle);
            for (unsigned y = rest.y; y < rest.y + rest.height; ++y) {
                for (unsigned x = rest.x; x < rest.x + rest.width; ++x) {
                    EXPECT_TRUE(pixels.emplace(x, y).second);
                }
            }
            EXPECT_EQ(pixels.size(), width * height);
            EXPECT_EQ(*pixels.begin(), std::make_pair(10u, 20u));
            EXPECT_EQ(*pixels.rbegin(), std::make_pair(9 + width, 19 + height));
        }
    }
}

TEST(Rectangles, PartsCoverTheWhole) {
    for (unsigned width = 4; width < 30; ++width) {
        unsigned x = 7;
        for (unsigned i = 0; i < kParts; ++i) {
            const Rectangle of = part({7, 9, width, 40}, kParts, 2, i, 1);
            EXPECT_EQ(of.x, x);
            EXPECT_EQ(of.y, 29u);
            EXPECT_EQ(of.height, 20u);
            EXPECT_GE(of.width, width / kParts);
            EXPECT_LE(of.width, (width + kParts - 1) / kParts);
            x += of.width;
        }
        EXPECT_EQ(x, 7 + width);
    }
}

TEST(Rectangles, OnlyALargeInsideIsDivided) {
    EXPECT_TRUE(isDivided({0, 0, 9, 9}, 8));
    EXPECT_FALSE(isDivided({0, 0, 8, 9}, 8));
    EXPECT_FALSE(isDivided({0, 0, 9, 8}, 8));
}

TEST(Rectangles, AWordHasAllOfOne) {
    const Rectangle of = unpacked(packed({65534, 1, 2, 65535}));
    EXPECT_EQ(of.x, 65534u);
    EXPECT_EQ(of.y, 1u);
    EXPECT_EQ(of.width, 2u);
    EXPECT_EQ(of.height, 65535u);
    EXPECT_EQ(packed({0, 0, 1, 1}), 0x10001u);
}

TEST(Rectangles, MostOfASquare) {
    EXPECT_EQ(mostRectangles(10, 8), 1u);            // an inside of 8
    EXPECT_EQ(mostRectangles(11, 8), 1u + 16);       // of 9, divided into parts of 3 at most
    EXPECT_EQ(mostRectangles(64, 8), 1u + 16 * 17);  // 62, 16: 14, 4
    EXPECT_EQ(mostRectangles(64, 14), 1u + 16);      // 14 is not divided
    EXPECT_EQ(mostRectangles(128, 32), 1u + 16);     // 126, 32: 30
}

}  // namespace
