#include "scattered.cuh"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace {

TEST(Scattered, NoTwoNumbersHaveOnePlace) {
    for (std::size_t most = 1; most <= 5000; most += most < 70 ? 1 : 617) {
        const Scattered placeOf(most);
        ASSERT_LE(placeOf.count(), most);
        ASSERT_GT(2 * placeOf.count(), most);
        std::vector<bool> taken(placeOf.count());
        for (unsigned number = 0; number < placeOf.count(); ++number) {
            const unsigned place = placeOf(number);
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
    for (unsigned number = 0; number + 2 < placeOf.count(); ++number) {
        const unsigned a = placeOf(number), b = placeOf(number + 1), c = placeOf(number + 2);
        near += (a < b ? b - a : a - b) < 1000;
        evenly += b - a == c - b;
    }
    EXPECT_LT(near, placeOf.count() / 100);
    EXPECT_LT(evenly, placeOf.count() / 100);
}

TEST(Scattered, HasAsManyPlacesAsANumberCan) {
    EXPECT_EQ(Scattered(std::size_t{1} << 32).count(), std::size_t{1} << 32);
    EXPECT_EQ(Scattered(std::size_t{1} << 40).count(), std::size_t{1} << 32);
    EXPECT_EQ(Scattered((std::size_t{1} << 32) - 1).count(), std::size_t{1} << 31);
}

TEST(MixedNumber, DiffersFromPlaceToPlaceAndFromSeedToSeed) {
    std::set<unsigned> numbers;
    for (std::size_t place = 0; place < 1000; ++place) {
        for (unsigned seed = 0; seed < 10; ++seed) numbers.insert(lab::mixedNumber(place, seed));
    }
    EXPECT_EQ(numbers.size(), 10000u);
}

TEST(MixedNumber, DiffersBeyond32BitsToo) {
    EXPECT_NE(lab::mixedNumber(1, 7), lab::mixedNumber(1 + (std::size_t{1} << 32), 7));
}

}  // namespace
