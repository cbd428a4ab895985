#include "parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace {

// The ranges in ascending order.
std::vector<std::pair<std::size_t, std::size_t>> ranges(std::size_t count, std::size_t least) {
    std::vector<std::pair<std::size_t, std::size_t>> found;
    std::mutex mutex;
    lab::parallelFor(count, least, [&](std::size_t begin, std::size_t end) {
        const std::lock_guard<std::mutex> lock(mutex);
        found.emplace_back(begin, end);
    });
    std::sort(found.begin(), found.end());
    return found;
}

TEST(ParallelFor, CoversEveryNumberOnce) {
    for (const std::size_t count : {1, 2, 3, 7, 31, 64, 97, 1000, 1009}) {
        for (const std::size_t least : {0, 1, 5, 64, 1000, 5000}) {
            std::size_t next = 0;
            for (const auto& [begin, end] : ranges(count, least)) {
                EXPECT_EQ(begin, next) << count << " in pieces of " << least << " or more";
                EXPECT_LT(begin, end);
                next = end;
            }
            EXPECT_EQ(next, count) << "in pieces of " << least << " or more";
        }
    }
}

TEST(ParallelFor, PiecesAreNotTooSmallAndDifferByOne) {
    for (const std::size_t count : {7, 64, 97, 1009}) {
        std::size_t smallest = count, largest = 0;
        for (const auto& [begin, end] : ranges(count, 7)) {
            smallest = std::min(smallest, end - begin);
            largest = std::max(largest, end - begin);
        }
        EXPECT_GE(smallest, 7u) << count;
        EXPECT_LE(largest - smallest, 1u) << count;
    }
}

}  // namespace
