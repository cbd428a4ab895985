#include "ladder.cuh"

#include <gtest/gtest.h>

namespace {

// What Ladder::rung() takes, and what it answers with its message.
template <typename Work, typename Check, typename Launch = void (*)()>
constexpr bool kTakes = lab::kIsRung<const char*, unsigned, dim3, Work, Check, Launch>;
using Text = std::string (*)();
static_assert(kTakes<lab::Work, Text>);
static_assert(kTakes<lab::Work, lab::Finding (*)()>);
static_assert(kTakes<lab::Work, lab::Finding (*)(const lab::Statistics&)>);
static_assert(kTakes<lab::Work, lab::Check>);
static_assert(!kTakes<double, Text>);
static_assert(!kTakes<Text, lab::Work>);
static_assert(!kTakes<lab::Work, std::string>);
static_assert(!kTakes<lab::Work, bool (*)()>);
static_assert(!kTakes<lab::Work, void (*)()>);
static_assert(!kTakes<lab::Work, std::string (*)(int)>);
static_assert(!kTakes<lab::Work, Text, void (*)(int)>);
static_assert(!lab::kIsRung<const char*, unsigned, dim3, lab::Work, Text>);

TEST(Fastest, IsComparedWithTheFirstRowAndTheLibrary) {
    lab::Fastest fastest;
    fastest.add({"first", "64", 8}, false, true);
    fastest.add({"second", "64", 2}, false, true);
    fastest.add({"third", "64", 4}, false, true);
    EXPECT_EQ(fastest.text(), "fastest: second\n         4.00 times as fast as first");
    fastest.add({"wrong library", "-", 0.5}, true, false);
    fastest.add({"slower", "-", 3}, true, true);
    fastest.add({"library", "-", 1}, true, true);
    EXPECT_EQ(fastest.text(),
              "fastest: second\n"
              "         4.00 times as fast as first\n"
              "         0.50 times as fast as library");
}

TEST(Fastest, NamesBlocksWhereTheyDiffer) {
    lab::Fastest fastest;
    fastest.add({"only", "32x32", 3}, false, true);
    fastest.add({"only", "64x4", 2}, false, true);
    fastest.add({"library", "-", 4}, true, true);
    EXPECT_EQ(fastest.text(),
              "fastest: only (block 64x4)\n"
              "         1.50 times as fast as only (block 32x32)\n"
              "         2.00 times as fast as library");
}

TEST(Fastest, WhatIsWrongIsNot) {
    lab::Fastest fastest;
    fastest.add({"first", "64", 8}, false, true);
    fastest.add({"wrong", "64", 1}, false, false);
    EXPECT_EQ(fastest.text(), "");  // the first row itself
    fastest.add({"second", "64", 2}, false, true);
    EXPECT_EQ(fastest.text(), "fastest: second\n         4.00 times as fast as first");
}

TEST(Fastest, SaysNothingWhereNothingWasTimed) {
    lab::Fastest fastest;
    fastest.add({"first", "64", 0}, false, true);
    fastest.add({"second", "64", 0}, false, true);
    EXPECT_EQ(fastest.baseline(), 0);
    EXPECT_EQ(fastest.text(), "");
}

}  // namespace
