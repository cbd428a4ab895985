#include "launchOutcome.h"

#include <gtest/gtest.h>

#include <vector>

namespace {

using Launches = std::vector<Launched>;

// A chain of which the launch number `refused` is refused, among `places`.
Launches chain(std::size_t refused, std::size_t places) {
    Launches run(places, Launched{0, cudaSuccess, 0});
    for (std::size_t i = 0; i <= refused; ++i) run[i] = {1, cudaSuccess, 1};
    run[refused] = {1, cudaErrorLaunchPendingCountExceeded, 0};
    return run;
}

// What is said of runs that come out so, one after another, and how many were made.
struct Said {
    Outcome outcome;
    std::size_t runs = 1;
};
Said said(const std::vector<Launches>& runs, const Expected& expected) {
    Said result;
    result.outcome =
        outcomeOfRuns(expected, [&] { return runs.at(result.runs - 1); }, [&] { ++result.runs; });
    return result;
}

const Expected kChain{6, 1, 1};

TEST(LaunchOutcome, ChainThatEndsWhereItMust) {
    const Said of = said({chain(5, 10)}, kChain);
    EXPECT_EQ(of.outcome.wrong, "");
    EXPECT_EQ(of.outcome.tried, 6u);
    EXPECT_EQ(of.outcome.refused, 1u);
}

TEST(LaunchOutcome, ChainThatEndsEarlyIsRunAgain) {
    const Said of = said({chain(3, 10), chain(2, 10), chain(5, 10)}, kChain);
    EXPECT_EQ(of.outcome.wrong, "");
    EXPECT_EQ(of.outcome.tried, 6u);
    EXPECT_EQ(of.runs, 3u);
}

TEST(LaunchOutcome, ChainThatAlwaysEndsEarlyIsWrong) {
    const Said of = said(std::vector<Launches>(9, chain(3, 10)), kChain);
    EXPECT_NE(of.outcome.wrong, "");
    EXPECT_EQ(of.runs, 4u);
}

// No second run makes up for these.
TEST(LaunchOutcome, WhatIsWrongOtherwiseIsNotRunAgain) {
    Launches childMissing = chain(3, 10);
    childMissing[1].children = 0;
    Launches noneRefused = chain(3, 10);
    noneRefused[3].error = cudaSuccess;
    noneRefused[3].children = 1;
    Launches otherError = chain(3, 10);
    otherError[3].error = cudaErrorInvalidValue;
    Launches twice = chain(3, 10);
    twice[2].tried = 2;
    for (const Launches& run : {childMissing, noneRefused, otherError, twice, chain(6, 10)}) {
        const Said of = said({run, chain(5, 10)}, kChain);
        EXPECT_NE(of.outcome.wrong, "");
        EXPECT_EQ(of.runs, 1u);
    }
}

TEST(LaunchOutcome, FewerOrMoreMayBeRefused) {
    Launches run(10, Launched{1, cudaSuccess, 1});
    for (std::size_t i = 7; i < 10; ++i) run[i] = {1, cudaErrorLaunchPendingCountExceeded, 0};
    EXPECT_EQ(said({run}, {10, 0, 3}).outcome.wrong, "");
    EXPECT_EQ(said({run}, {10, 3, 3}).outcome.wrong, "");
    EXPECT_NE(said({run}, {10, 4, 5}).outcome.wrong, "");
    EXPECT_NE(said({run}, {10, 0, 2}).outcome.wrong, "");
}

}  // namespace
