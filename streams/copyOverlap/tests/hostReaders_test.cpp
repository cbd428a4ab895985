#include "hostReaders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

namespace {

using ::testing::ElementsAre;

TEST(HostReaders, HaveASumOfEachThreadForEachPiece) {
    const std::vector<unsigned> array = {1, 2, 3, 4, 5, 6, 7, 8};
    pipeline::HostReaders readers(2);
    std::atomic<unsigned> waits = 0;
    double now = 0;  // of the first thread alone
    readers.read(
        array.data(), array.size(), 2, [&](unsigned piece) { waits += piece + 1; },
        [&] { return ++now; });
    EXPECT_THAT(readers.sums(), ElementsAre(1 + 2, 3 + 4, 5 + 6, 7 + 8));
    EXPECT_EQ(waits, 2u * (1 + 2));
    ASSERT_EQ(readers.spans().size(), 2u);
    EXPECT_EQ(readers.spans()[0].begin, 1);
    EXPECT_EQ(readers.spans()[1].end, 4);
}

TEST(HostReaders, MayBeMoreThanElements) {
    const std::vector<unsigned> array = {7};
    pipeline::HostReaders readers(3);
    readers.read(array.data(), 1, 1, [](unsigned) {}, [] { return 0.; });
    EXPECT_EQ(std::accumulate(readers.sums().begin(), readers.sums().end(), 0u), 7u);
}

}  // namespace
