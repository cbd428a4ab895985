#include "dramPlaces.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace {

// A kernel reads one in 64 sectors of an array, none of them twice, and none beyond the end.
template <typename PlaceOf>
void expectAllDifferent(std::size_t sectors, const PlaceOf& placeOf) {
    std::vector<bool> seen(sectors);
    for (unsigned access = 0; access < sectors / 64; ++access) {
        const std::size_t place = placeOf(access);
        ASSERT_LT(place, sectors);
        ASSERT_FALSE(seen[place]) << "sector " << place << " comes twice";
        seen[place] = true;
    }
}

TEST(DramPlaces, NoSectorIsReadTwice) {
    for (const unsigned bits : {10u, 16u, 17u, 20u}) {
        const std::size_t sectors = std::size_t{1} << bits;
        for (std::size_t power = 64; power <= sectors; power *= 2) {
            expectAllDifferent(sectors, PowerOfTwoStride{power, bits});
            expectAllDifferent(sectors, OddStride{power + 1, bits});
        }
        expectAllDifferent(sectors, RandomPieces<1>(sectors));
        expectAllDifferent(sectors, RandomPieces<2>(sectors));
        expectAllDifferent(sectors, RandomPieces<4>(sectors));
        expectAllDifferent(sectors, RandomPieces<8>(sectors));
    }
}

TEST(DramPlaces, StridesAreStrides) {
    const PowerOfTwoStride even{128, 10};
    const OddStride odd{65, 10};
    EXPECT_EQ(even(1), 128u);
    EXPECT_EQ(even(7), 7 * 128u);
    EXPECT_EQ(even(8), 64u);  // the next lap
    EXPECT_EQ(even(9), 128u + 64u);
    EXPECT_EQ(odd(15), 15 * 65u);
    EXPECT_EQ(odd(16), 16 * 65u - 1024u);
}

// 2^34 sectors are 512 GiB. Neither bytes nor sectors can be counted with 32 bits.
TEST(DramPlaces, FarAway) {
    const PowerOfTwoStride even{1 << 14, 34};
    EXPECT_EQ(even(1 << 19), std::size_t{1} << 33);
    EXPECT_EQ(even((1 << 20) + 1), (std::size_t{1} << 14) + 64);
    std::size_t farthest = 0;
    for (unsigned access = 0; access < 1000; ++access)
        farthest = std::max(farthest, RandomPieces<8>(std::size_t{1} << 34)(access));
    EXPECT_GT(farthest, std::size_t{1} << 33);
}

TEST(DramPlaces, StrideThatIsLongerThanTheArrayStaysWithin) {
    for (unsigned access = 0; access < 1000; ++access) {
        EXPECT_LT((PowerOfTwoStride{1 << 14, 7}(access)), 128u);
        EXPECT_LT((OddStride{(1 << 14) + 1, 7}(access)), 128u);
    }
}

// A piece begins at a multiple of its length, and its sectors are in order.
TEST(DramPlaces, PiecesAreWhole) {
    const RandomPieces<4> placeOf(1 << 16);
    for (unsigned piece = 0; piece < 100; ++piece) {
        EXPECT_EQ(placeOf(4 * piece) % 4, 0u);
        for (unsigned i = 1; i < 4; ++i) EXPECT_EQ(placeOf(4 * piece + i), placeOf(4 * piece) + i);
    }
}

TEST(DramPlaces, ARoundHasItsPages) {
    const std::size_t sectors = 1 << 20;
    for (const unsigned pageSectors : {32u, 1024u}) {
        for (const unsigned pages : {1u, 3u, 8u, 32u}) {
            const InPages placeOf(pages, pageSectors, sectors);
            std::set<std::size_t> pagesBefore;
            for (unsigned round = 0; round < sectors / pageSectors / pages && round < 100;
                 ++round) {
                std::set<std::size_t> places, pagesNow;
                for (unsigned lane = 0; lane < 32; ++lane) {
                    places.insert(placeOf(round, lane));
                    pagesNow.insert(placeOf(round, lane) / pageSectors);
                }
                EXPECT_EQ(places.size(), 32u);
                EXPECT_LT(*places.rbegin(), sectors);
                EXPECT_EQ(pagesNow.size(), pages);
                for (const std::size_t page : pagesNow)
                    EXPECT_TRUE(pagesBefore.insert(page).second) << "page " << page << " again";
            }
        }
    }
}

// There are 32 pages, so four rounds of 8 pages use all of them.
TEST(DramPlaces, PagesThatComeAgainHaveOtherSectors) {
    const InPages placeOf(8, 1024, 32 * 1024);
    std::set<std::size_t> places;
    for (unsigned round = 0; round < 32; ++round) {
        for (unsigned lane = 0; lane < 32; ++lane)
            EXPECT_TRUE(places.insert(placeOf(round, lane)).second) << round << ", " << lane;
    }
}

}  // namespace
