// Integer intrinsics: hand-computed values, edge cases, and comparison with the definition.
#include "emu/bit_functions.h"

#include <gtest/gtest.h>

#include <climits>
#include <random>

namespace {

TEST(BitFunctions, BytePermutation) {
    const unsigned x = 0x33221100u, y = 0x77665544u;
    EXPECT_EQ(__byte_perm(x, y, 0x3210), x);
    EXPECT_EQ(__byte_perm(x, y, 0x7654), y);
    EXPECT_EQ(__byte_perm(x, y, 0x0123), 0x00112233u);
    EXPECT_EQ(__byte_perm(x, y, 0x7052), 0x77005522u);
    EXPECT_EQ(__byte_perm(x, y, 0xfedc), y);       // the top bit of a nibble does not count
    EXPECT_EQ(__byte_perm(x, y, 0xabcd3210u), x);  // nor does the upper half
}

TEST(BitFunctions, FunnelShifts) {
    const unsigned low = 0x89abcdefu, high = 0x01234567u;
    EXPECT_EQ(__funnelshift_lc(low, high, 31), 0xc4d5e6f7u);
    EXPECT_EQ(__funnelshift_lc(low, high, 32), low);
    EXPECT_EQ(__funnelshift_lc(low, high, 40), low);  // is clamped
    EXPECT_EQ(__funnelshift_rc(low, high, 32), high);
    EXPECT_EQ(__funnelshift_rc(low, high, 100), high);
    EXPECT_EQ(__funnelshift_rc(low, high, 4), 0x789abcdeu);
}

TEST(BitFunctions, UpperHalvesOfProducts) {
    EXPECT_EQ(__mulhi(INT_MIN, INT_MIN), 0x40000000);
    EXPECT_EQ(__mulhi(-1, 1), -1);
    EXPECT_EQ(__mulhi(INT_MIN, 2), -1);
    EXPECT_EQ(__mulhi(0x10000, 0x10000), 1);
    EXPECT_EQ(__umulhi(0xffffffffu, 0xffffffffu), 0xfffffffeu);
    EXPECT_EQ(__mul64hi(LLONG_MIN, LLONG_MIN), 0x4000000000000000ll);
    EXPECT_EQ(__mul64hi(-1, 1), -1);
}

TEST(BitFunctions, Products24) {
    EXPECT_EQ(__mul24(3, -4), -12);
    EXPECT_EQ(__mul24(0x01000003, 5), 15);                // bits above 24 do not count
    EXPECT_EQ(__mul24(0x00800000, 1), -0x800000);         // bit 23 is the sign
    EXPECT_EQ(__mul24(0x7fffff, 0x7fffff), -0x00ffffff);  // 0x3fffff000001: the lower 32 bits
    EXPECT_EQ(__umul24(0xff000003u, 5), 15u);
    EXPECT_EQ(__umul24(0xffffffu, 0xffffffu), 0xfe000001u);
}

TEST(BitFunctions, SumOfAbsoluteDifferences) {
    EXPECT_EQ(__sad(3, -4, 10), 17u);
    EXPECT_EQ(__sad(-4, 3, 10), 17u);
    EXPECT_EQ(__sad(INT_MIN, INT_MAX, 0), UINT_MAX);
    EXPECT_EQ(__sad(0, 1, UINT_MAX), 0u);
    EXPECT_EQ(__usad(3, 4, 10), 11u);
    EXPECT_EQ(__usad(UINT_MAX, 0, 0), UINT_MAX);
}

TEST(BitFunctions, AveragesDoNotOverflow) {
    EXPECT_EQ(__hadd(INT_MAX, INT_MAX), INT_MAX);
    EXPECT_EQ(__hadd(INT_MIN, INT_MIN), INT_MIN);
    EXPECT_EQ(__hadd(1, 2), 1);
    EXPECT_EQ(__hadd(-1, -2), -2);
    EXPECT_EQ(__hadd(0, -1), -1);
    EXPECT_EQ(__rhadd(1, 2), 2);
    EXPECT_EQ(__rhadd(-1, -2), -1);
    EXPECT_EQ(__rhadd(INT_MIN, INT_MAX), 0);
    EXPECT_EQ(__rhadd(INT_MAX, INT_MAX), INT_MAX);
    EXPECT_EQ(__uhadd(UINT_MAX, UINT_MAX - 1), UINT_MAX - 1);
    EXPECT_EQ(__urhadd(UINT_MAX, UINT_MAX - 1), UINT_MAX);
}

TEST(BitFunctions, DotProductsOfBytes) {
    // (1, 2, 3, -4) . (5, 6, 7, 8) = 5 + 12 + 21 - 32
    EXPECT_EQ(__dp4a(static_cast<int>(0xfc030201u), 0x08070605, 100), 106);
    EXPECT_EQ(__dp4a(make_char4(1, 2, 3, -4), make_char4(5, 6, 7, 8), 100), 106);
    EXPECT_EQ(__dp4a(static_cast<int>(0x80808080u), static_cast<int>(0x80808080u), 0), 65536);
    EXPECT_EQ(__dp4a(0xffffffffu, 0xffffffffu, 1u), 4u * 255 * 255 + 1);
    EXPECT_EQ(__dp4a(make_uchar4(1, 0, 0, 255), make_uchar4(2, 9, 9, 2), 0u), 512u);
    EXPECT_EQ(__dp4a(1, 1, INT_MAX), INT_MIN);  // wraps around
}

TEST(BitFunctions, RandomArgumentsAgreeWithTheDefinition) {
    std::mt19937_64 random(7);
    for (int i = 0; i < 10000; ++i) {
        // Of any number of bits, none included.
        const unsigned long long x = random() >> i % 64 << i / 64 % 64, y = random();
        const unsigned a = static_cast<unsigned>(x), shift = static_cast<unsigned>(y) & 63;
        unsigned long long reversed = 0;
        int ones = 0, highest = -1, lowest = -1, onesOfHalf = 0;
        for (int bit = 0; bit < 64; ++bit) {
            if (!(x >> bit & 1)) continue;
            reversed |= 1ull << (63 - bit);
            ++ones;
            onesOfHalf += bit < 32;
            highest = bit;
            if (lowest < 0) lowest = bit;
        }
        ASSERT_EQ(__brevll(x), reversed);
        ASSERT_EQ(__brev(a), static_cast<unsigned>(reversed >> 32));
        ASSERT_EQ(__popcll(x), ones);
        ASSERT_EQ(__popc(a), onesOfHalf);
        ASSERT_EQ(__clz(static_cast<int>(x >> 32)), x >> 32 == 0 ? 32 : 63 - highest);
        ASSERT_EQ(__ffs(static_cast<int>(a)), a == 0 ? 0 : lowest + 1);
        ASSERT_EQ(__clzll(static_cast<long long>(x)), 63 - highest);
        ASSERT_EQ(__ffsll(static_cast<long long>(x)), lowest + 1);
        const unsigned high = static_cast<unsigned>(x >> 32), s = shift & 31;
        ASSERT_EQ(__funnelshift_r(a, high, shift), static_cast<unsigned>(x >> s));
        ASSERT_EQ(__funnelshift_l(a, high, shift), static_cast<unsigned>((x << s) >> 32));
        // Long multiplication with 32-bit digits.
        const unsigned long long x0 = x & 0xffffffffu, x1 = x >> 32, y0 = y & 0xffffffffu,
                                 y1 = y >> 32;
        const unsigned long long middle = x1 * y0 + (x0 * y0 >> 32);
        const unsigned long long middle2 = x0 * y1 + (middle & 0xffffffffu);
        ASSERT_EQ(__umul64hi(x, y), x1 * y1 + (middle >> 32) + (middle2 >> 32));
    }
}

}  // namespace
