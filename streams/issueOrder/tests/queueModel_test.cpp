#include "queueModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using ::testing::ElementsAre;

// "0-1 0-2": from the beginning of turn 0 to that of turn 1, and so on.
std::string shown(const std::vector<Turns>& kernels) {
    std::string text;
    for (const Turns& kernel : kernels) {
        text += (text.empty() ? "" : " ") + std::to_string(kernel.begin) + "-" +
                std::to_string(kernel.end);
    }
    return text;
}

constexpr std::size_t kHalf = 66, kRoom = 132;

TEST(IssueOrders, AreDepthFirstAndBreadthFirst) {
    EXPECT_THAT(depthFirst({2, 2}), ElementsAre(0, 0, 1, 1));
    EXPECT_THAT(breadthFirst({2, 2}), ElementsAre(0, 1, 0, 1));
    EXPECT_THAT(depthFirst({3, 0, 1}), ElementsAre(0, 0, 0, 2));
    EXPECT_THAT(breadthFirst({1, 0, 3, 2}), ElementsAre(0, 2, 3, 2, 3, 2));
}

TEST(IssueOrders, HaveADepthForEachStream) {
    EXPECT_THAT(depths({0, 1, 1, 0, 1}), ElementsAre(2, 3));
    EXPECT_THAT(depths({2}), ElementsAre(0, 0, 1));
}

// Ka1, Kb1 in one stream, Ka2, Kb2 in the other, each on half of the GPU.
TEST(QueueModel, WithOneQueueTheOrderOfIssueDecides) {
    EXPECT_EQ(shown(predictedTurns({0, 0, 1, 1}, 1, kHalf, kRoom)), "0-1 1-2 1-2 2-3");
    EXPECT_EQ(shown(predictedTurns({0, 1, 0, 1}, 1, kHalf, kRoom)), "0-1 0-1 1-2 1-2");
}

TEST(QueueModel, WithAQueueForEachStreamItDoesNot) {
    EXPECT_EQ(shown(predictedTurns({0, 0, 1, 1}, 2, kHalf, kRoom)), "0-1 1-2 0-1 1-2");
    EXPECT_EQ(shown(predictedTurns({0, 1, 0, 1}, 2, kHalf, kRoom)), "0-1 0-1 1-2 1-2");
}

// Stream 1 depends on nobody, and waits for stream 0 to have passed.
TEST(QueueModel, AKernelThatWaitsHoldsUpAllBehindIt) {
    EXPECT_EQ(shown(predictedTurns({0, 0, 0, 1}, 1, 1, kRoom)), "0-1 1-2 2-3 2-3");
    EXPECT_EQ(shown(predictedTurns({1, 0, 0, 0}, 1, 1, kRoom)), "0-1 0-1 1-2 2-3");
}

// Streams 0 and 2 share a queue, 1 has its own.
TEST(QueueModel, StreamsTakeTurnsInGettingAQueue) {
    EXPECT_EQ(shown(predictedTurns(depthFirst({2, 2, 2}), 2, 1, kRoom)), "0-1 1-2 0-1 1-2 1-2 2-3");
}

TEST(QueueModel, DepthFirstInOneQueueOnlyNeighboursOverlap) {
    for (const std::size_t streams : {1, 2, 8, 32}) {
        for (const std::size_t depth : {1, 2, 4}) {
            const std::vector<std::size_t> ofStream(streams, depth);
            EXPECT_EQ(makespan(predictedTurns(depthFirst(ofStream), 1, 1, kRoom)),
                      streams * (depth - 1) + 1);
            EXPECT_EQ(makespan(predictedTurns(breadthFirst(ofStream), 1, 1, kRoom)), depth);
            EXPECT_EQ(makespan(predictedTurns(depthFirst(ofStream), 32, 1, kRoom)), depth);
        }
    }
}

TEST(QueueModel, NoMoreRunThanHaveRoom) {
    const std::vector<std::size_t> fourTimesThree(4, 3);
    for (const std::size_t queues : {1, 4}) {
        EXPECT_EQ(makespan(predictedTurns(breadthFirst(fourTimesThree), queues, kHalf, kRoom)), 6);
        EXPECT_EQ(makespan(predictedTurns(breadthFirst(fourTimesThree), queues, kRoom, kRoom)), 12);
    }
}

// Half of the second kernel finds room beside the first, its other half does not.
TEST(QueueModel, BlocksOfAKernelTakeTheRoomThatThereIs) {
    EXPECT_EQ(shown(predictedTurns({0, 1, 2}, 3, 2, 3)), "0-1 0-2 1-2");
    EXPECT_EQ(shown(predictedTurns({0}, 1, 5, 2)), "0-3");
}

TEST(QueueModel, NothingTakesNoTime) {
    EXPECT_EQ(makespan(predictedTurns({}, 1, 1, 1)), 0);
}

}  // namespace
