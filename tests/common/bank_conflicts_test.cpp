#include "bank_conflicts.h"

#include <gtest/gtest.h>

#include <numeric>

namespace {

using banks::Access;

// The wavefronts of a whole warp: lane i accesses element elementOf(i).
template <typename ElementOf>
unsigned load(std::size_t bytes, ElementOf elementOf) {
    return banks::wavefrontsOfBlock(32, bytes, Access::kLoad, elementOf);
}
template <typename ElementOf>
unsigned store(std::size_t bytes, ElementOf elementOf) {
    return banks::wavefrontsOfBlock(32, bytes, Access::kStore, elementOf);
}

// With a stride of s words, gcd(s, 32) lanes hit the same bank. The hardware serves wider elements
// by halves of 16 lanes, or by quarters of 8.
TEST(BankConflicts, OfAllStrides) {
    for (unsigned stride = 1; stride <= 100; ++stride) {
        const auto strided = [&](unsigned lane) { return lane * stride; };
        for (const std::size_t bytes : {4, 8, 16}) {
            const auto words = static_cast<unsigned>(bytes / 4);
            EXPECT_EQ(load(bytes, strided), words * std::gcd(stride, 32 / words)) << stride;
            EXPECT_EQ(store(bytes, strided), words * std::gcd(stride, 32 / words)) << stride;
        }
    }
}

// What ncu counts on an H200.
TEST(BankConflicts, PartsOfALoadShareAWavefrontAndPartsOfAStoreDoNot) {
    const auto same = [](unsigned) { return 5; };
    const auto pairs = [](unsigned lane) { return lane / 2; };
    EXPECT_EQ(load(4, same), 1u);
    EXPECT_EQ(load(8, same), 1u);
    EXPECT_EQ(load(16, same), 2u);
    EXPECT_EQ(load(8, pairs), 1u);
    EXPECT_EQ(load(16, pairs), 2u);
    EXPECT_EQ(load(16, [](unsigned lane) { return lane % 2; }), 2u);  // lane and lane ^ 2
    EXPECT_EQ(load(16, [](unsigned lane) { return lane % 4; }), 4u);  // no such pairs
    EXPECT_EQ(load(8, [](unsigned lane) { return lane % 16; }), 2u);
    EXPECT_EQ(store(4, same), 1u);
    EXPECT_EQ(store(8, same), 2u);
    EXPECT_EQ(store(16, same), 4u);
}

TEST(BankConflicts, OneWordServesAllLanesThatWantIt) {
    EXPECT_EQ(load(4, [](unsigned lane) { return lane < 16 ? 0 : 1; }), 1u);
    EXPECT_EQ(load(4, [](unsigned lane) { return lane % 2 * 32; }), 2u);
    EXPECT_EQ(load(1, [](unsigned lane) { return lane; }), 1u);
    EXPECT_EQ(load(2, [](unsigned lane) { return 2 * lane; }), 1u);
    EXPECT_EQ(load(2, [](unsigned lane) { return 4 * lane; }), 2u);
}

TEST(BankConflicts, LanesThatAreNotThereWantNothing) {
    EXPECT_EQ(banks::wavefrontsOfBlock(2, 4, Access::kLoad, [](unsigned t) { return 32 * t; }), 2u);
    EXPECT_EQ(banks::wavefrontsOfBlock(16, 8, Access::kStore, [](unsigned t) { return t; }), 1u);
    EXPECT_EQ(banks::wavefrontsOfBlock(8, 16, Access::kLoad, [](unsigned t) { return t; }), 1u);
    EXPECT_EQ(banks::wavefrontsOfBlock(0, 4, Access::kLoad, [](unsigned t) { return t; }), 0u);
    EXPECT_EQ(banks::wavefronts({}, 16, Access::kStore), 0u);
}

TEST(BankConflicts, WavefrontsOfABlockAreThoseOfItsWarps) {
    const auto column = [](unsigned t) { return t % 32 * 32 + t / 32; };
    EXPECT_EQ(banks::wavefrontsOfBlock(1024, 4, Access::kLoad, column), 1024u);
    EXPECT_EQ(banks::wavefrontsOfBlock(33, 4, Access::kLoad, column), 33u);
}

}  // namespace
