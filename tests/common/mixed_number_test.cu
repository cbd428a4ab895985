#include "mixed_number.cuh"

#include <gtest/gtest.h>

#include <set>

namespace {

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
