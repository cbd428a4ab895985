#include "staleElements.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

const std::vector<int> kWritten = {1, 2, 3};

TEST(StaleElements, AllAreNew) {
    EXPECT_EQ(whatWasRead(kWritten, kWritten, true).stale, 0u);
    EXPECT_EQ(whatWasRead(kWritten, kWritten, true).wrong, "");
    EXPECT_EQ(whatWasRead(kWritten, kWritten, false).wrong, "");
}

TEST(StaleElements, OldOnesAreCountedAndWrongBehindAWait) {
    const std::vector<int> read = {1, 0, 0};
    EXPECT_EQ(whatWasRead(read, kWritten, false).stale, 2u);
    EXPECT_EQ(whatWasRead(read, kWritten, false).wrong, "");
    EXPECT_EQ(whatWasRead(read, kWritten, true).stale, 2u);
    EXPECT_EQ(whatWasRead(read, kWritten, true).wrong, lab::describeMismatch(1, 0, 2));
    EXPECT_EQ(whatWasRead({0, 0, 0}, kWritten, false).stale, 3u);
}

TEST(StaleElements, WhatIsNeitherOldNorNewIsWrong) {
    const std::vector<int> read = {0, 2, 4};
    EXPECT_EQ(whatWasRead(read, kWritten, false).stale, 1u);
    EXPECT_EQ(whatWasRead(read, kWritten, false).wrong, lab::describeMismatch(2, 4, 3));
}

}  // namespace
