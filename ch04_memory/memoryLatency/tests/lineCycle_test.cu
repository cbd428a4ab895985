#include "lineCycle.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {

TEST(LineCycle, GoesThroughAllLinesAndBack) {
    for (const unsigned lines : {1, 2, 3, 4, 5, 7, 8, 9, 64, 100, 1009, 4096, 4097, 5120}) {
        for (const unsigned addend : {1u, 77u, 0xFFFFFFFFu}) {
            const LineCycle cycle(lines, addend);
            std::vector<bool> seen(lines);
            unsigned line = 0;
            for (unsigned step = 0; step < lines; ++step) {
                ASSERT_LT(line, lines);
                ASSERT_FALSE(seen[line]) << line << " of " << lines << " comes twice";
                seen[line] = true;
                line = cycle.next(line);
            }
            EXPECT_EQ(line, 0u) << lines;
        }
    }
}

// 16 GiB in lines of 128 bytes.
TEST(LineCycle, StaysWithinTheMostLines) {
    const LineCycle cycle((1u << 27) - 1, 12345);
    unsigned line = 0;
    for (int step = 0; step < 10000; ++step) {
        line = cycle.next(line);
        ASSERT_LT(line, cycle.lines);
    }
}

// No cache brings what comes next: a step to the line beside is no more frequent than by chance.
TEST(LineCycle, LeadsToNeighboursByChanceOnly) {
    const LineCycle cycle(4096, 12345);
    unsigned line = 0;
    int neighbours = 0;
    for (unsigned step = 0; step < cycle.lines; ++step) {
        const unsigned next = cycle.next(line);
        neighbours += std::max(line, next) - std::min(line, next) <= 1;
        line = next;
    }
    EXPECT_LE(neighbours, 10);
}

}  // namespace
