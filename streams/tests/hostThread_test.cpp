#include "hostThread.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <thread>

namespace {

TEST(StartThread, RunsTheWorkBesideTheCaller) {
    std::thread::id ran;
    lab::startThread([&] { ran = std::this_thread::get_id(); }).join();
    EXPECT_NE(ran, std::thread::id());
    EXPECT_NE(ran, std::this_thread::get_id());
}

TEST(StartThread, SaysThatThereAreNoMore) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    const auto withoutMemory = [] {
        const rlimit none = {1, 1};
        setrlimit(RLIMIT_AS, &none);
        lab::startThread([] {}).join();
    };
    EXPECT_EXIT(withoutMemory(), testing::ExitedWithCode(1),
                "^[^ ]*_tests: cannot start a thread of the host: .*; ask for fewer");
}

}  // namespace
