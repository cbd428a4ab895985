#include "scattered.cuh"

#include <gtest/gtest.h>

#include <vector>

namespace {

TEST(Scattered, NoTwoNumbersHaveOnePlace) {
    for (std::size_t most = 1; most <= 5000; most += most < 70 ? 1 : 617) {
        const Scattered placeOf(most);
        ASSERT_LE(placeOf.count(), most);
        ASSERT_GT(2 * placeOf.count(), most);
        std::vector<bool> taken(placeOf.count());
        for (std::size_t number = 0; number < placeOf.count(); ++number) {
            const std::size_t place = placeOf(number);
            ASSERT_LT(place, placeOf.count());
            EXPECT_FALSE(taken[place]) << number << " of " << placeOf.count();
            taken[place] = true;
        }
    }
}

// Eight numbers in a row, as many as a warp can have pieces of, are anywhere: not side by side, nor
// at one distance.
TEST(Scattered, NeighboursAreFarApart) {
    const Scattered placeOf(std::size_t{1} << 20);
    std::size_t near = 0, evenly = 0;
    for (std::size_t number = 0; number + 2 < placeOf.count(); ++number) {
        const std::size_t a = placeOf(number), b = placeOf(number + 1), c = placeOf(number + 2);
        near += (a < b ? b - a : a - b) < 1000;
        evenly += b - a == c - b;
    }
    EXPECT_LT(near, placeOf.count() / 100);
    EXPECT_LT(evenly, placeOf.count() / 100);
}

}  // namespace
