#include "escapeTime.h"

#include <gtest/gtest.h>

#include <numeric>

namespace {

TEST(EscapeTime, TheViewHasTheSetInItsMiddle) {
    const View view = viewOf(5, 5, 10);  // pixels of 0.5, centres at -1.75 ... 0.25 and -1 ... 1
    EXPECT_FLOAT_EQ(view.step, 0.5f);
    EXPECT_FLOAT_EQ(view.left, -1.75f);
    EXPECT_FLOAT_EQ(view.top, -1.0f);
}

// Of points that one can follow by hand.
TEST(EscapeTime, StepsBeforeZLeaves) {
    const auto dwell = [](float re, float im, unsigned most) {
        return dwellOnHost({1, 1, most, re, im, 1}, 0, 0);
    };
    EXPECT_EQ(dwell(0, 0, 100), 100u);   // 0, 0, 0
    EXPECT_EQ(dwell(-1, 0, 100), 100u);  // -1, 0, -1
    EXPECT_EQ(dwell(-2, 0, 100), 100u);  // -2, 2, 2
    EXPECT_EQ(dwell(0, 1, 100), 100u);   // i, -1 + i, -i, -1 + i
    EXPECT_EQ(dwell(1, 0, 100), 2u);     // 1, 2, 5
    EXPECT_EQ(dwell(2, 0, 100), 1u);     // 2, 6
    EXPECT_EQ(dwell(4, 0, 100), 1u);     // 4, 20: what is as far as 4 has not left
    EXPECT_EQ(dwell(5, 0, 100), 0u);
    EXPECT_EQ(dwell(1, 0, 2), 2u);
    EXPECT_EQ(dwell(1, 0, 1), 1u);
}

TEST(EscapeTime, AnImageHasThePixelsInRows) {
    const View view = viewOf(7, 3, 20);
    const std::vector<unsigned> image = imageOnHost(view);
    ASSERT_EQ(image.size(), 21u);
    EXPECT_EQ(image[0], dwellOnHost(view, 0, 0));
    EXPECT_EQ(image[2 * 7 + 5], dwellOnHost(view, 5, 2));
    std::vector<unsigned> sample(21, 99);
    putSampleOfHost(view, 4, &sample);
    for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(sample[i], i % 4 == 0 ? image[i] : 99u) << i;
}

TEST(EscapeTime, TheFirstPixelThatDiffersIsNamed) {
    const View view = viewOf(3, 2, 9);
    EXPECT_EQ(wrongPixel(view, {1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}), "");
    EXPECT_EQ(wrongPixel(view, {1, 2, 3, 4, 7, 8}, {1, 2, 3, 4, 5, 6}),
              "pixel (1, 1): element 4 is 7, expected 5");
}

View square(unsigned side) {
    return viewOf(side, side, 50);
}

std::size_t computed(const Subdivision& of) {
    return std::accumulate(of.computed.begin(), of.computed.end(), std::size_t{0});
}

TEST(Subdivision, ABorderOfOneDwellIsFilled) {
    std::vector<unsigned> full(16 * 16, 7);
    full[5 * 16 + 5] = 9;  // nobody looks there
    const Subdivision of = Subdivider(full, square(16), 16, 4).result();
    EXPECT_EQ(of.image, std::vector<unsigned>(16 * 16, 7));
    EXPECT_EQ(of.divided, 0u);
    EXPECT_EQ(of.filled, 14u * 14);
    EXPECT_EQ(computed(of), 60u);
    EXPECT_EQ(of.computed[0], 1);
    EXPECT_EQ(of.computed[17], 0);
}

TEST(Subdivision, ThoseWhoStayNeedThreeBorders) {
    std::vector<unsigned> full(16 * 16, 50);
    EXPECT_EQ(Subdivider(full, square(16), 16, 4).result().filled, 10u * 10);
    for (const unsigned line : {1, 2}) {  // behind the first border, and behind the second
        full.assign(16 * 16, 50);
        full[line * 16 + 8] = 49;
        const Subdivision of = Subdivider(full, square(16), 16, 4).result();
        EXPECT_EQ(of.image, full);
        EXPECT_EQ(of.divided, 1u);
        EXPECT_EQ(computed(of), 16u * 16);  // of the parts, borders are all that there is
    }
}

TEST(Subdivision, APixelInTheBorderDivides) {
    std::vector<unsigned> full(16 * 16, 7);
    full[0] = 8;
    const Subdivision of = Subdivider(full, square(16), 16, 4).result();
    EXPECT_EQ(of.image, full);
    EXPECT_EQ(of.divided, 1u);  // 14 x 14 into parts of 3 and 4: insides of 1, 2 and 4 pixels
    EXPECT_EQ(of.filled, 4u * 1 + 8 * 2 + 4 * 4);
    EXPECT_EQ(Subdivider(full, square(16), 16, 14).result().filled, 0u);
    EXPECT_EQ(Subdivider(full, square(16), 8, 6).result().filled, 3u * 6 * 6);  // of four tiles
}

}  // namespace
