#include "streamRules.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace {

using Kind = StreamKind;

// For each stream in turn, the letters of those that wait for work that it was given before.
std::vector<std::string> waiting(const std::vector<NamedStream>& streams) {
    std::vector<std::string> rows;
    for (const NamedStream& first : streams) {
        std::string letters;
        for (const NamedStream& second : streams)
            letters += waitsByItself(first, second) ? second.letter : '-';
        rows.push_back(letters);
    }
    return rows;
}

std::vector<NamedStream> streamsWithZero(Kind zero) {
    return {{'0', zero},
            {'L', Kind::kLegacy},
            {'T', Kind::kPerThread},
            {'B', Kind::kBlocking},
            {'b', Kind::kBlocking},
            {'N', Kind::kNonBlocking},
            {'n', Kind::kNonBlocking}};
}

TEST(StreamRules, WithTheLegacyDefaultStream) {
    EXPECT_THAT(waiting(streamsWithZero(Kind::kLegacy)),
                testing::ElementsAre("0LTBb--", "0LTBb--", "0LT----", "0L-B---", "0L--b--",
                                     "-----N-", "------n"));
}

TEST(StreamRules, WithTheDefaultStreamOfTheThread) {
    EXPECT_THAT(waiting(streamsWithZero(Kind::kPerThread)),
                testing::ElementsAre("0LT----", "0LTBb--", "0LT----", "-L-B---", "-L--b--",
                                     "-----N-", "------n"));
}

TEST(StreamRules, ThisIsCompiledForTheLegacyStream) {
    EXPECT_EQ(kStreamZero, Kind::kLegacy);
}

}  // namespace
