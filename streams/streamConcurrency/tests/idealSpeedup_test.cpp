#include "idealSpeedup.h"

#include <gtest/gtest.h>

namespace {

TEST(IdealSpeedup, IsOneWhereKernelsRunOneAfterTheOther) {
    EXPECT_EQ(idealSpeedup(1, 1), 1);
    EXPECT_EQ(idealSpeedup(8, 1), 1);
}

TEST(IdealSpeedup, IsTheNumberOfThoseThatRunTogether) {
    EXPECT_EQ(idealSpeedup(8, 2), 2);
    EXPECT_EQ(idealSpeedup(9, 3), 3);
}

TEST(IdealSpeedup, TheLastTurnNeedNotBeFull) {
    EXPECT_EQ(idealSpeedup(7, 2), 1.75);  // four turns
    EXPECT_EQ(idealSpeedup(5, 4), 2.5);   // two
}

}  // namespace
