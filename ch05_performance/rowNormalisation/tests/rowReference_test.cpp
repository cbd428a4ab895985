#include "rowReference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using testing::HasSubstr;

// Mean 2, variance 1; mean 10, variance 9.
const std::vector<float> kIn = {1, 3, 1, 3, 7, 13, 7, 13};

TEST(RowReference, SubtractsTheMeanOfTheRowAndDividesByItsDeviation) {
    const RowReference reference(kIn, 4, 0, 1);
    for (const std::size_t i : {0u, 2u, 4u, 6u}) {
        EXPECT_DOUBLE_EQ(reference.expected(i), -1);
        EXPECT_DOUBLE_EQ(reference.expected(i + 1), 1);
    }
    EXPECT_EQ(reference.compare({-1, 1, -1, 1, -1, 1, -1, 1}).wrong, "");
}

TEST(RowReference, AddsEpsilonToTheVariance) {
    EXPECT_DOUBLE_EQ(RowReference(kIn, 4, 3, 1).expected(0), -1 / std::sqrt(4.0));
    const std::vector<float> equal = {5, 5};
    EXPECT_DOUBLE_EQ(RowReference(equal, 2, 1e-5, 1).expected(1), 0);
    EXPECT_DOUBLE_EQ(RowReference(equal, 1, 1e-5, 1).expected(1), 0);
}

// (4 + 6) 2^-24 (1 + 3 / 1) (1 + 1), and (1 + 13 / 3) in the second row.
TEST(RowReference, AllowsMoreWhereTheMeanIsLarge) {
    const RowReference reference(kIn, 4, 0, 4);
    EXPECT_DOUBLE_EQ(reference.tolerance(0), 80 * 0x1p-24);
    EXPECT_DOUBLE_EQ(reference.tolerance(7), 20 * (1 + 13.0 / 3) * 0x1p-24);
    EXPECT_EQ(reference.compare({-1, 1, -1, 1 + 79 * 0x1p-24F, -1, 1, -1, 1}).wrong, "");
    EXPECT_THAT(reference.compare({-1, 1, -1, 1 + 82 * 0x1p-24F, -1, 1, -1, 1}).wrong,
                HasSubstr("element 3 is 1.0000048"));
}

TEST(RowReference, NamesTheFirstElementThatIsWrongAndTheLargestError) {
    const RowReference reference(kIn, 4, 0, 1);
    const RowReference::Comparison found = reference.compare({-1, 1, -1, 1.5, -1, -1, -1, 1});
    EXPECT_THAT(found.wrong, HasSubstr("element 3 is 1.5, expected 1 (off by at most "));
    EXPECT_DOUBLE_EQ(found.error, 2);
    EXPECT_DOUBLE_EQ(reference.compare({-1, 1, -1, 1.5, -1, 1, -1, 1}).error, 0.5);  // not the last
    EXPECT_EQ(reference.compare({-1, 1, -1, INFINITY, -1, 1, -1, 1}).error, INFINITY);
    EXPECT_EQ(reference.compare({-1, 1, -1}).wrong, "3 elements, expected 8");
}

TEST(RowReference, SeesWhatWasNeverWritten) {
    float poison;
    std::memset(&poison, lab::poisonByte<float>(), sizeof poison);
    const RowReference reference(kIn, 4, 0, 1);
    EXPECT_THAT(reference.compare({-1, 1, -1, 1, -1, 1, -1, poison}).wrong,
                HasSubstr("was never written, expected 1"));
}

}  // namespace
