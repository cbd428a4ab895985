#include "childProcess.h"

#include <gtest/gtest.h>

#include <csignal>

namespace {

ChildProcess shell(const char* script, ChildProcess::Variables variables = {}) {
    const char* const words[] = {"sh", "-c", script, nullptr};
    return {"a child", "/bin/sh", const_cast<char* const*>(words), std::move(variables)};
}

std::string received(ChildProcess& child, std::size_t bytes) {
    std::string text(bytes, ' ');
    child.receive(text.data(), bytes);
    return text;
}

TEST(ChildProcess, SendsBytesUntilItsEnd) {
    ChildProcess child = shell("printf ab >&$LAB_REPORT_TO; printf cde >&$LAB_REPORT_TO");
    EXPECT_EQ(received(child, 4), "abcd");
    EXPECT_EQ(received(child, 1), "e");
    child.finish();
}

TEST(ChildProcess, HasOurEnvironmentButForTheVariables) {
    setenv("LAB_TEST_KEPT", "kept", 1);
    setenv("LAB_TEST_CHANGED", "before", 1);
    ChildProcess child = shell("printf $LAB_TEST_KEPT$LAB_TEST_CHANGED >&$LAB_REPORT_TO",
                               {{"LAB_TEST_CHANGED", "after"}});
    EXPECT_EQ(received(child, 9), "keptafter");
    child.finish();
    EXPECT_STREQ(getenv("LAB_TEST_CHANGED"), "before");
    EXPECT_EQ(getenv(kReportTo), nullptr);
}

TEST(ChildProcess, ThatFailsEndsUsWithItsStatus) {
    const auto receiveFrom = [](const char* script) {
        ChildProcess child = shell(script);
        received(child, 1);
    };
    EXPECT_EXIT(receiveFrom("exit 77"), testing::ExitedWithCode(77),
                "^[^ ]*_tests: a child: ended with status 77\n$");
    EXPECT_EXIT(receiveFrom("kill -9 $$"), testing::ExitedWithCode(1),
                "^[^ ]*_tests: a child: ended by signal 9 .*\n$");
    EXPECT_EXIT(receiveFrom("exit 0"), testing::ExitedWithCode(1),
                "^[^ ]*_tests: a child: has not reported all\n$");
}

TEST(ChildProcess, ThatFailsBehindItsReportEndsUsToo) {
    const auto finishAfter = [](const char* script) {
        ChildProcess child = shell(script);
        received(child, 1);
        child.finish();
    };
    EXPECT_EXIT(finishAfter("printf a >&$LAB_REPORT_TO; exit 3"), testing::ExitedWithCode(3),
                "^[^ ]*_tests: a child: ended with status 3\n$");
}

// Where the signal of its end is ignored, the system forgets how it ended.
TEST(ChildProcess, WhoseEndNobodyKnowsIsAnError) {
    const auto ignoreIt = [] {
        signal(SIGCHLD, SIG_IGN);
        ChildProcess child = shell("exit 3");
        child.finish();
    };
    EXPECT_EXIT(ignoreIt(), testing::ExitedWithCode(1),
                "^[^ ]*_tests: a child: nobody knows how it ended: ");
}

TEST(ChildProcess, ThatCannotBeStartedIsAnError) {
    char* const nothing[] = {nullptr};
    EXPECT_EXIT((ChildProcess("a child", "/no/such/program", nothing)), testing::ExitedWithCode(1),
                "^[^ ]*_tests: a child: cannot be started: No such file or directory\n$");
}

// It writes without end, until nobody reads.
TEST(ChildProcess, IsNotLeftBehind) {
    ChildProcess child = shell("while printf a; do :; done >&$LAB_REPORT_TO");
    EXPECT_EQ(received(child, 2), "aa");
}

TEST(ParentProcess, IsThereOnlyForAChild) {
    EXPECT_FALSE(ParentProcess().exists());
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    setenv(kReportTo, std::to_string(ends[1]).c_str(), 1);
    const ParentProcess parent;
    EXPECT_TRUE(parent.exists());
    EXPECT_EQ(getenv(kReportTo), nullptr);
    parent.send("abc", 3);
    char got[3];
    ASSERT_EQ(read(ends[0], got, 3), 3);
    EXPECT_EQ(std::string(got, 3), "abc");
    close(ends[0]);
    close(ends[1]);
}

}  // namespace
