#include "sumOfWarp.h"

#include <gtest/gtest.h>

#include <numeric>

namespace {

// 1, 2, 3 ... 40: a warp and 8 lanes of the next.
std::vector<int> fortyNumbers() {
    std::vector<int> numbers(40);
    std::iota(numbers.begin(), numbers.end(), 1);
    return numbers;
}

TEST(SumOfWarp, HasAllOfItsElementsAndThoseThatLaneZeroAdds) {
    const SumOfWarp first = sumOfWarp(fortyNumbers(), 0);
    EXPECT_EQ(first.all, 32 * 33 / 2);
    EXPECT_EQ(first.least, 1 + 2 + 3 + 5 + 9 + 17);
}

TEST(SumOfWarp, EndsWithTheArray) {
    const SumOfWarp second = sumOfWarp(fortyNumbers(), 1);
    EXPECT_EQ(second.all, 33 + 34 + 35 + 36 + 37 + 38 + 39 + 40);
    EXPECT_EQ(second.least, 33 + 34 + 35 + 37);
}

TEST(SumOfWarp, ARaceLeavesAPart) {
    const SumOfWarp sum = {100, 30};
    EXPECT_FALSE(isPart(29, sum));
    EXPECT_TRUE(isPart(30, sum));
    EXPECT_TRUE(isPart(99, sum));
    EXPECT_FALSE(isPart(100, sum));
}

}  // namespace
