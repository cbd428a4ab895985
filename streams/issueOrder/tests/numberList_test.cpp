#include "numberList.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NumberList, HasNumbersWithCommasBetweenThem) {
    EXPECT_THAT(numberList("7", 0, 9, 4), ElementsAre(7));
    EXPECT_THAT(numberList("0,1,1,0", 0, 9, 4), ElementsAre(0, 1, 1, 0));
}

TEST(NumberList, RefusesWhatIsNoList) {
    for (const char* text : {"", ",", "1,", ",1", "1,,2", "1;2", "1, 2", "-1", "x", "1,x"})
        EXPECT_THAT(numberList(text, 0, 9, 4), IsEmpty()) << text;
}

TEST(NumberList, RefusesNumbersOutOfRangeAndTooManyOfThem) {
    EXPECT_THAT(numberList("1,2", 1, 2, 2), ElementsAre(1, 2));
    EXPECT_THAT(numberList("0,2", 1, 2, 2), IsEmpty());
    EXPECT_THAT(numberList("1,3", 1, 2, 2), IsEmpty());
    EXPECT_THAT(numberList("1,2,1", 1, 2, 2), IsEmpty());
}

}  // namespace
