#include "growingValues.h"

#include <gtest/gtest.h>

namespace {

TEST(Tens, EndWithTheMost) {
    EXPECT_EQ(tens(1, 1000), (std::vector<unsigned>{1, 10, 100, 1000}));
    EXPECT_EQ(tens(10, 101), (std::vector<unsigned>{10, 100, 101}));
    EXPECT_EQ(tens(10, 7), (std::vector<unsigned>{7}));
    EXPECT_EQ(tens(1, 4000000000).back(), 4000000000);
    EXPECT_EQ(tens(1, 4000000000).size(), 11u);
}

TEST(Tens, DoublingsEndWithTheMost) {
    EXPECT_EQ(doublings(0), std::vector<unsigned>());
    EXPECT_EQ(doublings(1), std::vector<unsigned>{1});
    EXPECT_EQ(doublings(5), (std::vector<unsigned>{1, 2, 4, 5}));
}

}  // namespace
