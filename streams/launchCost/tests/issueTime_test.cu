#include "issueTime.cuh"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace {

TEST(IssueTime, IsTheMedianOfItsCallsInMilliseconds) {
    constexpr int kSleeps[] = {20, 0, 50, 0, 20};  // their mean is 18
    int calls = 0;
    const lab::CpuTimer all;
    const double median = issueTime(
        [&] { std::this_thread::sleep_for(std::chrono::milliseconds(kSleeps[calls++ % 5])); });
    EXPECT_EQ(calls, 5);
    // However long a call really took: three of them at least 20 ms, three at least the median.
    EXPECT_GE(median, 20);
    EXPECT_LE(3 * median, all.milliseconds());
}

}  // namespace
