#include "parseBlock.h"

#include <gtest/gtest.h>

#include "ladder.cuh"

namespace {

TEST(ParseBlock, IsTheInverseOfShape) {
    for (const char* text : {"1", "32x8", "1024", "5x5x5", "1x1x64"}) {
        const auto block = parseBlock(text, 3);
        ASSERT_TRUE(block) << text;
        EXPECT_EQ(lab::shape(*block), text);
    }
}

TEST(ParseBlock, TakesNothingThatNoGpuCanLaunch) {
    for (const char* text : {"", "x", "8x", "x8", "8x8x", "0x8", "8xb", "33x32", "1025", "1x1x65",
                             "1x1x1x1", "-1", " 8"})
        EXPECT_FALSE(parseBlock(text, 3)) << text;
    EXPECT_FALSE(parseBlock("8x8x1", 2));
    EXPECT_FALSE(parseBlock("8x8", 1));
}

}  // namespace
