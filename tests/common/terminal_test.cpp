#include "table.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>

namespace {

// A terminal of our own, so that the answer does not depend on where the test runs.
class Terminal : public testing::Test {
  protected:
    void SetUp() override {
        unsetenv("NO_COLOR");
        setenv("TERM", "xterm", 1);
        const int controller = posix_openpt(O_RDWR | O_NOCTTY);
        if (controller < 0 || grantpt(controller) != 0 || unlockpt(controller) != 0)
            GTEST_SKIP() << "no pseudo-terminal to be had";
        terminal_ = std::fopen(ptsname(controller), "w");
        ASSERT_NE(terminal_, nullptr);
    }
    void TearDown() override {
        if (terminal_ != nullptr) std::fclose(terminal_);
    }
    std::FILE* terminal_ = nullptr;
};

TEST_F(Terminal, HasColours) {
    EXPECT_TRUE(lab::inColour(terminal_));
}

TEST_F(Terminal, HasNoneWhereTheyAreRefused) {
    setenv("NO_COLOR", "1", 1);
    EXPECT_FALSE(lab::inColour(terminal_));
    setenv("NO_COLOR", "", 1);  // empty: as if it were not there
    EXPECT_TRUE(lab::inColour(terminal_));
    setenv("TERM", "dumb", 1);
    EXPECT_FALSE(lab::inColour(terminal_));
    unsetenv("TERM");
    EXPECT_FALSE(lab::inColour(terminal_));
}

TEST_F(Terminal, APipeIsNone) {
    std::FILE* const pipe = popen("cat > /dev/null", "w");
    ASSERT_NE(pipe, nullptr);
    EXPECT_FALSE(lab::inColour(pipe));
    pclose(pipe);
}

TEST(Styled, AddsCodesOnlyWithColour) {
    EXPECT_EQ(lab::styled("ok", lab::Style::kGood, true), "\033[32mok\033[0m");
    EXPECT_EQ(lab::styled("WRONG", lab::Style::kBad, true), "\033[1;31mWRONG\033[0m");
    EXPECT_EQ(lab::styled("ok", lab::Style::kGood, false), "ok");
    EXPECT_EQ(lab::styled("text", lab::Style::kPlain, true), "text");
}

}  // namespace
