#include "issueTime.cuh"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace {

TEST(IssueTime, IsTheMedianOfItsCallsInMilliseconds) {
    int calls = 0;
    const double median = issueTime([&] {
        // Two of the five take much longer.
        std::this_thread::sleep_for(std::chrono::milliseconds(++calls % 2 == 0 ? 400 : 20));
    });
    EXPECT_EQ(calls, 5);
    EXPECT_GE(median, 20);
    EXPECT_LT(median, 400);
}

}  // namespace
