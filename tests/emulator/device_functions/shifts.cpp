// Shifts of device code, as PTX's shl and shr do them.
#include "emu/shifts.h"

#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <type_traits>

namespace {

using emu::shift;

TEST(Shifts, InRangeAsInCpp) {
    for (int n = 0; n < 32; ++n) {
        SCOPED_TRACE(n);
        EXPECT_EQ(0x80000001u << shift << n, 0x80000001u << n);
        EXPECT_EQ(0x80000001u >> shift >> n, 0x80000001u >> n);
        EXPECT_EQ(-7 >> shift >> n, -7 >> n);
        EXPECT_EQ(5ull << shift << (n + 32), 5ull << (n + 32));
        EXPECT_EQ(LLONG_MIN >> shift >> (n + 32), LLONG_MIN >> (n + 32));
    }
}

TEST(Shifts, AmountsAreClamped) {
    for (const int n : {32, 33, 64, 255, INT_MAX, -1, INT_MIN}) {
        SCOPED_TRACE(n);
        EXPECT_EQ(1 << shift << n, 0);
        EXPECT_EQ(~0u >> shift >> n, 0u);
        EXPECT_EQ(-1 >> shift >> n, -1);
        EXPECT_EQ(INT_MAX >> shift >> n, 0);
    }
    for (const int n : {64, 65, 1000, -1}) {
        SCOPED_TRACE(n);
        EXPECT_EQ(1ll << shift << n, 0);
        EXPECT_EQ(~0ull >> shift >> n, 0u);
        EXPECT_EQ(LLONG_MIN >> shift >> n, -1);
    }
    EXPECT_EQ(1ull << shift << 32, 1ull << 32);
}

// A GPU's instruction takes 32 bits of it.
TEST(Shifts, AmountsHave32Bits) {
    EXPECT_EQ(1 << shift << ((1ll << 32) + 3), 8);
    EXPECT_EQ(1 << shift << (1ll << 31), 0);
}

TEST(Shifts, TypesAreThePromotedOnesOfTheLeft) {
    enum Small { kOne = 1 };
    const unsigned char byte = 255;
    static_assert(std::is_same<decltype(byte << shift << 1ull), int>::value, "");
    static_assert(std::is_same<decltype(1u >> shift >> 1ll), unsigned>::value, "");
    static_assert(std::is_same<decltype(1l << shift << 1), long>::value, "");
    EXPECT_EQ(byte << shift << 24, static_cast<int>(0xff000000u));
    EXPECT_EQ(kOne << shift << 40, 0);
    EXPECT_EQ(true << shift << 3, 8);
}

TEST(Shifts, ChainsAndConstants) {
    EXPECT_EQ(1 << shift << 4 >> shift >> 2, 4);
    EXPECT_EQ(1 | 1 << shift << 2, 5);  // the precedence of <<
    static_assert((1 << shift << 5) == 32 && (1 << shift << 32) == 0, "");
    int array[1 << shift << 2];
    EXPECT_EQ(sizeof(array), 4 * sizeof(int));
}

TEST(Shifts, Assignments) {
    int x = 3;
    (x <<= shift = 2) += 1;
    EXPECT_EQ(x, 13);
    x <<= shift = x = 32;
    EXPECT_EQ(x, 0);
    signed char narrow = -128;
    narrow >>= shift = 100;
    EXPECT_EQ(narrow, -1);
    volatile unsigned seen = 1;
    seen <<= shift = 31;
    EXPECT_EQ(seen, 1u << 31);
}

struct Own {
    int value;
    Own operator<<(int n) const { return {value * 100 + n}; }
    Own& operator<<=(int n) {
        value += n;
        return *this;
    }
};
int operator>>(const Own& own, int n) {
    return own.value - n;
}
struct AsInteger {
    operator short() const { return 1; }  // NOLINT: implicit
};

TEST(Shifts, Objects) {
    Own own{7};
    EXPECT_EQ((own << shift << 40).value, 740);
    EXPECT_EQ(own >> shift >> 3, 4);
    own <<= shift = 33;
    EXPECT_EQ(own.value, 40);
    EXPECT_EQ(AsInteger() << shift << 3, 8);
    EXPECT_EQ(AsInteger() << shift << 32, 0);
}

}  // namespace
