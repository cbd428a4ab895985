// Stacks of fibers: what lies between them.
#include "engine/stacks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace {

using emu::kFiberStackSize;
using emu::kStackGap;
using emu::Stack;

// Whoever overflows a stack without a guard is found at the next switch: until then it must not
// write into what another thread has on the stack below.
TEST(Stacks, KeepADistance) {
    std::vector<Stack> stacks(100);  // of several mappings
    std::generate(stacks.begin(), stacks.end(), emu::takeStack);
    std::sort(stacks.begin(), stacks.end(),
              [](const Stack& a, const Stack& b) { return a.bottom < b.bottom; });
    for (size_t i = 1; i < stacks.size(); ++i) {
        ASSERT_NE(stacks[i - 1].bottom, nullptr);
        const char* const top = stacks[i - 1].bottom + kFiberStackSize;
        EXPECT_GE(stacks[i].bottom - top, static_cast<std::ptrdiff_t>(kStackGap));
    }
    for (const Stack& stack : stacks) emu::giveBackStack(stack);
}

TEST(StacksDeathTest, TheWholeGapFaults) {
    const Stack stack = emu::takeStack();
    ASSERT_TRUE(stack.guarded);
    for (const size_t below : {size_t{1}, kStackGap / 2, kStackGap}) {
        EXPECT_DEATH(*static_cast<volatile char*>(stack.bottom - below) = 1, "");
    }
    emu::giveBackStack(stack);
}

}  // namespace
