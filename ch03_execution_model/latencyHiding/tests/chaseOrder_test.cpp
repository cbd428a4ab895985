#include "chaseOrder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace {

TEST(Cycle, GoesThroughAllElements) {
    for (const std::size_t n : {1, 2, 3, 4, 7, 64, 100, 1009, 4096}) {
        const ChaseCycle next(n);
        ASSERT_EQ(next.size(), n);
        std::vector<bool> seen(n);
        unsigned i = 0;
        for (std::size_t step = 0; step < n; ++step) {
            ASSERT_LT(i, n);
            EXPECT_FALSE(seen[i]) << i << " of " << n << " comes twice";
            seen[i] = true;
            i = next[i];
        }
        EXPECT_EQ(i, 0u) << n;
    }
}

TEST(Cycle, NextInTimeIsFarInMemory) {
    const ChaseCycle next(4096);
    for (unsigned i = 0; i < 4096; ++i) {
        unsigned j = i;
        for (int step = 1; step <= 8; ++step) {
            j = next[j];
            EXPECT_GE(std::abs(static_cast<int>(j) - static_cast<int>(i)), 32) << step;
        }
    }
}

}  // namespace
