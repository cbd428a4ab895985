#include "treePasses.h"

#include <gtest/gtest.h>

namespace {

using tree::Cost;
using tree::costOfStep;
using tree::costOfTree;
using tree::Shape;

TEST(TreePasses, StepsAreTheLogarithm) {
    EXPECT_EQ(tree::steps(1), 0u);
    EXPECT_EQ(tree::steps(32), 5u);
    EXPECT_EQ(tree::steps(1024), 10u);
}

TEST(TreePasses, StridesGrowOrShrink) {
    for (const Shape shape : {Shape::kNeighbored, Shape::kConsecutive}) {
        EXPECT_EQ(tree::strideOf(shape, 64, 1), 1u);
        EXPECT_EQ(tree::strideOf(shape, 64, 6), 32u);
    }
    EXPECT_EQ(tree::strideOf(Shape::kSequential, 64, 1), 32u);
    EXPECT_EQ(tree::strideOf(Shape::kSequential, 64, 6), 1u);
}

// In a block of 8, in the second step: 0 < 2 and 4 < 6, or 0 < 2 and 1 < 3.
TEST(TreePasses, WordsOfTheThreads) {
    const auto words = [](Shape shape) {
        std::vector<int> words;  // -1: the thread does not add
        for (unsigned t = 0; t < 8; ++t) {
            const std::optional<unsigned> word = tree::wordOf(shape, 8, 2, t);
            words.push_back(word ? static_cast<int>(*word) : -1);
        }
        return words;
    };
    using Words = std::vector<int>;
    EXPECT_EQ(words(Shape::kNeighbored), (Words{0, -1, -1, -1, 4, -1, -1, -1}));
    EXPECT_EQ(words(Shape::kConsecutive), (Words{0, 4, -1, -1, -1, -1, -1, -1}));
    EXPECT_EQ(words(Shape::kSequential), (Words{0, 1, -1, -1, -1, -1, -1, -1}));
}

struct Case {
    Shape shape;
    unsigned block, step;
    Cost cost;
};

TEST(TreePasses, CostOfAStep) {
    const Case cases[] = {
        {Shape::kNeighbored, 64, 1, {2, 2, 4, 4, 2}},
        {Shape::kNeighbored, 64, 6, {1, 1, 3, 2, 1}},
        {Shape::kNeighbored, 1024, 7, {8, 8, 40, 16, 8}},
        {Shape::kConsecutive, 64, 1, {1, 0, 2, 4, 2}},       // 32 lanes, two words apart
        {Shape::kConsecutive, 64, 2, {1, 1, 3, 4, 2}},       // 16 lanes, four words apart
        {Shape::kConsecutive, 64, 6, {1, 1, 3, 2, 1}},       // one lane
        {Shape::kConsecutive, 1024, 5, {1, 0, 32, 64, 32}},  // all lanes in one bank
        {Shape::kSequential, 64, 1, {1, 0, 2, 2, 1}},
        {Shape::kSequential, 64, 2, {1, 1, 3, 2, 1}},
        {Shape::kSequential, 1024, 1, {16, 0, 32, 32, 16}},
    };
    for (const Case& each : cases) {
        SCOPED_TRACE(testing::Message() << static_cast<int>(each.shape) << ", block " << each.block
                                        << ", step " << each.step);
        const Cost cost = costOfStep(each.shape, each.block, each.step);
        EXPECT_EQ(cost.warps, each.cost.warps);
        EXPECT_EQ(cost.split, each.cost.split);
        EXPECT_EQ(cost.passes, each.cost.passes);
        EXPECT_EQ(cost.loads, each.cost.loads);
        EXPECT_EQ(cost.stores, each.cost.stores);
    }
}

// The closed forms of the page.
TEST(TreePasses, CostOfATree) {
    for (unsigned block = 32; block <= 1024; block *= 2) {
        SCOPED_TRACE(block);
        const unsigned warps = block / 32, steps = tree::steps(block);
        const Cost neighbored = costOfTree(Shape::kNeighbored, block, steps);
        const Cost consecutive = costOfTree(Shape::kConsecutive, block, steps);
        const Cost sequential = costOfTree(Shape::kSequential, block, steps);
        EXPECT_EQ(neighbored.warps, 6 * warps - 1);
        EXPECT_EQ(neighbored.split, neighbored.warps);
        EXPECT_EQ(consecutive.warps, warps + 4);
        EXPECT_EQ(sequential.warps, warps + 4);
        EXPECT_EQ(consecutive.split, 5u);
        EXPECT_EQ(sequential.split, 5u);
        for (const Cost& cost : {neighbored, consecutive, sequential})
            EXPECT_EQ(cost.passes, steps * warps + cost.split);
        EXPECT_EQ(neighbored.wavefronts(), 3 * neighbored.warps);
        EXPECT_EQ(consecutive.wavefronts(), neighbored.wavefronts());
        EXPECT_EQ(sequential.wavefronts(), 3 * sequential.warps);
    }
}

TEST(TreePasses, CostOfNoStepIsNothing) {
    EXPECT_EQ(costOfTree(Shape::kSequential, 64, 0).wavefronts(), 0u);
    EXPECT_EQ(costOfTree(Shape::kSequential, 64, 1).passes, 2u);
}

}  // namespace
