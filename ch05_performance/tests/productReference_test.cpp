#include "productReference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using testing::HasSubstr;

// [1 2 3; 4 5 6] * [1 0; 0 1; 1 1] = [4 5; 10 11]
const std::vector<float> kA = {1, 2, 3, 4, 5, 6}, kB = {1, 0, 0, 1, 1, 1};

TEST(ProductReference, TellsAProductFromWhatIsNone) {
    const ProductReference reference(kA, kB, 2, 2, 3, 1);
    EXPECT_EQ(reference.sampleNote(), "");
    EXPECT_EQ(reference.mismatch({4, 5, 10, 11}), "");
    EXPECT_THAT(reference.mismatch({4, 10, 5, 11}),
                HasSubstr("element 1 (row 0, column 1) is 10, expected 5"));
    EXPECT_THAT(reference.mismatch({4, 5, 10}), HasSubstr("elements, expected 4"));
}

TEST(ProductReference, SeesWhatWasNeverWritten) {
    const ProductReference reference(kA, kB, 2, 2, 3, 1);
    float poison;
    std::memset(&poison, lab::poisonByte<float>(), sizeof poison);
    EXPECT_EQ(reference.mismatch({4, 5, 10, poison}),
              "element 3 (row 1, column 1) was never written");
}

TEST(ProductReference, TakesTheToleranceThatItIsGiven) {
    const ProductReference reference(kA, kB, 2, 2, 3, 1);
    const std::vector<float> nearly = {4.01F, 5, 10, 11};
    EXPECT_NE(reference.mismatch(nearly), "");
    EXPECT_EQ(reference.mismatch(nearly, 1e-2), "");
}

// (1 + 2^-23) * (1 - 2^-23) + (-1) is -2^-46 if it is rounded once, and 0 if the product is rounded
// to a float first. The sum in double is -2^-46 in either order.
TEST(ProductReference, KnowsEveryBitOfAChainOfMultiplyAdds) {
    const float above = 1 + std::ldexp(1.0F, -23), below = 1 - std::ldexp(1.0F, -23);
    const ProductReference reference({-1, above}, {1, below}, 1, 1, 2, 1);
    const float chain = -std::ldexp(1.0F, -46);
    EXPECT_EQ(reference.exactMismatch({chain}), "");
    EXPECT_THAT(reference.exactMismatch({std::nextafter(chain, 0.0F)}),
                HasSubstr("element 0 (row 0, column 0) is "));
    EXPECT_NE(reference.exactMismatch({0}), "");
}

TEST(ProductReference, KnowsTheOrderOfAChainOfMultiplyAdds) {
    // 2^24 + 1 is a tie and rounds to 2^24, each time; in the other order it is 2^24 + 2.
    const std::vector<float> a = {std::ldexp(1.0F, 24), 1, 1}, b = {1, 1, 1};
    const ProductReference reference(a, b, 1, 1, 3, 1);
    EXPECT_EQ(reference.mismatch({a[0] + 2}), "");
    EXPECT_EQ(reference.exactMismatch({a[0]}), "");
    EXPECT_THAT(reference.exactMismatch({a[0] + 2}), HasSubstr("is 16777218, expected 16777216"));
    EXPECT_TRUE(reference.isChain({a[0]}));
    EXPECT_FALSE(reference.isChain({a[0] + 2}));
}

TEST(ProductReference, LooksAtAllElementsForTheChain) {
    const ProductReference reference(kA, kB, 2, 2, 3, 1);
    EXPECT_TRUE(reference.isChain({4, 5, 10, 11}));
    EXPECT_FALSE(reference.isChain({4, 5, 10, 12}));
}

// 2^24 and 1024 ones: a float, which has 24 digits, loses each of the ones.
TEST(ProductReference, AddsInDouble) {
    std::vector<float> a(1025, 1);
    a[0] = std::ldexp(1.0F, 24);
    const ProductReference reference(a, std::vector<float>(1025, 1), 1, 1, 1025, 1);
    EXPECT_EQ(reference.mismatch({a[0] + 1024}), "");
    EXPECT_NE(reference.mismatch({a[0]}), "");
}

// 100 products of 1 and as many of -1 leave 2^-10. The tolerance is 4 * 2^-24 * sqrt(201) of
// sqrt(200), or 5e-5.
TEST(ProductReference, ProductsThatCancelLeaveTheirErrors) {
    std::vector<float> a(201, 1);
    std::fill(a.begin() + 100, a.begin() + 200, -1.0F);
    a[200] = std::ldexp(1.0F, -10);
    const ProductReference reference(a, std::vector<float>(201, 1), 1, 1, 201, 1);
    EXPECT_EQ(reference.mismatch({a[200]}), "");
    EXPECT_EQ(reference.mismatch({a[200] + 1e-5F}), "");
    EXPECT_NE(reference.mismatch({a[200] + 1e-3F}), "");
    EXPECT_NE(reference.mismatch({a[200] - 1}), "");
}

TEST(ProductReference, AChainOfMultiplyAddsMustBeTheProductAsWell) {
    const ProductReference reference(kA, kB, 2, 2, 3, 1);
    EXPECT_EQ(reference.exactMismatch({4, 5, 10, 11}), "");
    EXPECT_THAT(reference.exactMismatch({4, 5, 10}), HasSubstr("elements, expected 4"));
    EXPECT_THAT(reference.exactMismatch({4, 10, 5, 11}), HasSubstr("expected 5"));
}

TEST(ProductReference, SaysOfALargeProductHowManyEntriesItLooksAt) {
    constexpr std::size_t kRows = 800, kCols = 400,
                          kInner = 1000;  // entriesToCheck() takes a sample
    const std::vector<float> a(kRows * kInner, 1), b(kInner * kCols, 1);
    const ProductReference reference(a, b, kRows, kCols, kInner, 1);
    EXPECT_EQ(reference.sampleNote(),
              "checked against a sample of 4096 of the 320,000 entries of C");
    std::vector<float> c(kRows * kCols, kInner);
    EXPECT_EQ(reference.mismatch(c), "");
    c.back() = 999;
    EXPECT_THAT(reference.mismatch(c),
                HasSubstr("element 319999 (row 799, column 399) is 999, expected 1000"));
}

// Four times 2^-24 times the root of k: 2^-17 for k = 1024.
TEST(ProductTolerance, GrowsLikeTheRootOfTheLength) {
    EXPECT_DOUBLE_EQ(productTolerance(1), std::ldexp(1.0, -22));
    EXPECT_DOUBLE_EQ(productTolerance(1024), std::ldexp(1.0, -17));
}

}  // namespace
