// Casts of floating-point numbers to integers, as PTX's cvt.rzi does them.
#include "emu/casts.h"

#include <gtest/gtest.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace {

using emu::cast;

TEST(Casts, TowardsZero) {
    EXPECT_EQ(cast<int>(2.9f), 2);
    EXPECT_EQ(cast<int>(-2.9), -2);
    EXPECT_EQ(cast<unsigned>(-0.9f), 0u);
    EXPECT_EQ(cast<long long>(1e15), 1000000000000000);
    EXPECT_EQ(cast<int>(-2147483648.5), INT_MIN);
    EXPECT_EQ(cast<int>(-3e9f), INT_MIN);  // (Conversions.OutOfRangeSaturates has the others)
    static_assert(cast<int>(3.5f) == 3, "");
}

// nvcc converts to 32 bits and cuts off the upper ones.
TEST(Casts, NarrowIntegersAreCutOff) {
    EXPECT_EQ(cast<short>(70000.0f), 70000 - 65536);
    EXPECT_EQ(cast<signed char>(300.0), 44);
    EXPECT_EQ(cast<unsigned char>(300.7f), 44);
    EXPECT_EQ(cast<unsigned char>(-1.0f), 0);
    EXPECT_EQ(cast<unsigned short>(1e20), 65535);
    EXPECT_EQ(cast<short>(1e20f), -1);
}

TEST(Casts, AnythingElseIsAsInCpp) {
    int array[2] = {};
    EXPECT_EQ(cast<unsigned char>(300), 44);
    EXPECT_EQ(cast<unsigned>(-1), UINT_MAX);
    EXPECT_EQ(cast<std::uintptr_t>(array), reinterpret_cast<std::uintptr_t>(&array[0]));
    EXPECT_EQ(cast<int>(true), 1);
    static_assert(std::is_same<decltype(cast<unsigned char>(1.0f)), unsigned char>::value, "");
}

}  // namespace
