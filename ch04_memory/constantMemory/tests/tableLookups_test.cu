#include "tableLookups.cuh"

#include <gtest/gtest.h>

namespace {

using Places = std::vector<unsigned>;

TEST(TableLookups, EachWordSaysWhereTheNextIs) {
    const std::vector<unsigned> table = tableOf(kSmallTable);
    ASSERT_EQ(table.size(), 256u);
    EXPECT_EQ(table[0], 32u);
    EXPECT_EQ(table[31], 63u);
    EXPECT_EQ(table[224], 0u);  // round it goes
    EXPECT_EQ(table[255], 31u);
}

TEST(TableLookups, ThreadsBeginAtAsManyWordsAsAsked) {
    const std::vector<unsigned> table = tableOf(kSmallTable);
    EXPECT_EQ(placesAfter(table, 2, 0, 5), (Places{0, 1, 0, 1, 0}));
    EXPECT_EQ(placesAfter(table, 2, 1, 5), (Places{32, 33, 32, 33, 32}));
    EXPECT_EQ(placesAfter(table, 3, 8, 5), (Places{0, 1, 2, 0, 1}));
    EXPECT_EQ(placesAfter(table, 32, 1, 34)[33], 33u);  // as lane 1 of the warp before
}

// The first round leads back: so many lookups are where so many steps lead.
TEST(TableLookups, OfEveryKernel) {
    const std::vector<unsigned> next = tableOf(kSmallTable), large = tableOf(kLargestTable);
    const lab::DeviceBuffer<unsigned> table(next);
    lab::DeviceBuffer<unsigned> ends(64);
    lab::DeviceBuffer<long long> cycles(1);
    const Places expected = placesAfter(next, 16, 5, 64);

    lookupShared<<<1, 64>>>(table.get(), 16, 5, ends.get(), cycles.get());
    EXPECT_EQ(ends.toHost(), expected);
    ends.fillBytes(0);
    lookupReadOnly<<<1, 64>>>(table.get(), 16, 5, ends.get(), cycles.get());
    EXPECT_EQ(ends.toHost(), expected);

    CUDA_CHECK(cudaMemcpyToSymbol(constantTable, large.data(), kLargestTable));
    lookupConstant<<<1, 64>>>(16, kLargestTable / 4, 300, ends.get(), cycles.get());
    EXPECT_EQ(ends.toHost(), placesAfter(large, 16, 300, 64));
}

}  // namespace
