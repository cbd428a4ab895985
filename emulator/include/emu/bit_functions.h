// CUDA's integer intrinsics: counting and moving bits, wide products, averages.
#pragma once

#include <cstdint>

#include "emu/vector_types.h"

// Number of ones.
inline int __popc(unsigned x) {
    return __builtin_popcount(x);
}
inline int __popcll(unsigned long long x) {
    return __builtin_popcountll(x);
}

// Number of zeros above the highest one; all bits of 0 count.
inline int __clz(int x) {
    return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}
inline int __clzll(long long x) {
    return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}

// Position of the lowest one, counted from 1; 0 if there is none.
inline int __ffs(int x) {
    return __builtin_ffs(x);
}
inline int __ffsll(long long x) {
    return __builtin_ffsll(x);
}

// Bits in reverse order: neighbours change places first, then pairs, nibbles and bytes.
inline unsigned __brev(unsigned x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
    return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
           __brev(static_cast<unsigned>(x >> 32));
}

// Four bytes chosen from the eight of y:x (x the lower four): the lower three bits of nibble i of
// `selector` are the index of result byte i.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(y) << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned index = selector >> (4 * i) & 7u;
        result |= static_cast<unsigned>(bytes >> (8 * index) & 0xffu) << (8 * i);
    }
    return result;
}

// Shifts the 64 bits of high:low and returns the upper (_l) or lower (_r) half. The shift wraps at
// 32, or is clamped to 32 (_lc, _rc).
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
    return static_cast<unsigned>(both >> (32 - (shift < 32 ? shift : 32)));
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
    return static_cast<unsigned>(both >> (shift < 32 ? shift : 32));
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return __funnelshift_lc(low, high, shift & 31);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return __funnelshift_rc(low, high, shift & 31);
}

// Upper half of the full product.
inline int __mulhi(int x, int y) {
    return static_cast<int>(static_cast<std::int64_t>(x) * y >> 32);
}
inline unsigned __umulhi(unsigned x, unsigned y) {
    return static_cast<unsigned>(static_cast<std::uint64_t>(x) * y >> 32);
}
inline long long __mul64hi(long long x, long long y) {
    __extension__ using Int128 = __int128;
    return static_cast<long long>(static_cast<Int128>(x) * y >> 64);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    __extension__ using UInt128 = unsigned __int128;
    return static_cast<unsigned long long>(static_cast<UInt128>(x) * y >> 64);
}

// Lower 32 bits of the product of the lower 24 bits of both.
inline unsigned __umul24(unsigned x, unsigned y) {
    return (x & 0xffffffu) * (y & 0xffffffu);
}
inline int __mul24(int x, int y) {
    const auto signed24 = [](int value) {
        return static_cast<int>(static_cast<unsigned>(value) << 8) >> 8;
    };
    return static_cast<int>(static_cast<std::int64_t>(signed24(x)) * signed24(y));
}

// |x - y| + z
inline unsigned __usad(unsigned x, unsigned y, unsigned z) {
    return (x > y ? x - y : y - x) + z;
}
inline unsigned __sad(int x, int y, unsigned z) {
    const unsigned ux = static_cast<unsigned>(x), uy = static_cast<unsigned>(y);
    return (x > y ? ux - uy : uy - ux) + z;
}

// Averages without overflow, rounded down (hadd) or up (rhadd) where they fall between two
// integers.
inline int __hadd(int x, int y) {
    return static_cast<int>((std::int64_t{x} + y) >> 1);
}
inline int __rhadd(int x, int y) {
    return static_cast<int>((std::int64_t{x} + y + 1) >> 1);
}
inline unsigned __uhadd(unsigned x, unsigned y) {
    return static_cast<unsigned>((std::uint64_t{x} + y) >> 1);
}
inline unsigned __urhadd(unsigned x, unsigned y) {
    return static_cast<unsigned>((std::uint64_t{x} + y + 1) >> 1);
}

// Dot product of four bytes by four bytes, plus c.
inline int __dp4a(char4 a, char4 b, int c) {
    const int dot = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    return static_cast<int>(static_cast<unsigned>(c) + static_cast<unsigned>(dot));
}
inline unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
    return c + static_cast<unsigned>(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
}
inline int __dp4a(int a, int b, int c) {
    const auto byte = [](int word, int i) {
        return static_cast<signed char>(word >> (8 * i) & 0xff);
    };
    return __dp4a(char4{byte(a, 0), byte(a, 1), byte(a, 2), byte(a, 3)},
                  char4{byte(b, 0), byte(b, 1), byte(b, 2), byte(b, 3)}, c);
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    const auto byte = [](unsigned word, int i) {
        return static_cast<unsigned char>(word >> (8 * i));
    };
    return __dp4a(uchar4{byte(a, 0), byte(a, 1), byte(a, 2), byte(a, 3)},
                  uchar4{byte(b, 0), byte(b, 1), byte(b, 2), byte(b, 3)}, c);
}
