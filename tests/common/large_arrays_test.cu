#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "large_arrays.cuh"

namespace {

using testing::StartsWith;

// Small, one piece, and more pieces than there is pinned memory for.
template <typename T>
std::vector<std::size_t> sizes() {
    constexpr std::size_t kPiece = lab::kPieceBytes / sizeof(T);
    return {1, 1000, lab::kSmallBytes / sizeof(T) + 1, kPiece, 2 * kPiece + 5};
}

int numberAt(std::size_t i) {
    return static_cast<int>(i * 7 % 1000003);
}
float valueAt(std::size_t i) {
    return static_cast<float>(i % 1000) - 500;
}

template <typename T>
void write(lab::DeviceBuffer<T>& buffer, std::size_t place, T value) {
    CUDA_CHECK(cudaMemcpy(buffer.get() + place, &value, sizeof(T), cudaMemcpyHostToDevice));
}

TEST(LargeArrays, AreFilledWithTheElementOfEachPlace) {
    for (const std::size_t size : sizes<int>()) {
        const std::vector<int> values = lab::filled<int>(size, numberAt).toHost();
        ASSERT_EQ(values.size(), size);
        for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(values[i], numberAt(i)) << i;
    }
}

TEST(LargeArrays, TheFirstWrongElementIsNamedWhereverItIs) {
    constexpr std::size_t kPiece = lab::kPieceBytes / sizeof(int);
    for (const std::size_t size : sizes<int>()) {
        lab::DeviceBuffer<int> buffer = lab::filled<int>(size, numberAt);
        EXPECT_EQ(lab::mismatchOf(buffer, numberAt), "");
        write(buffer, size - 1, -1);
        for (const std::size_t place :
             {size - 1, kPiece, kPiece - 1, lab::kWorthAThread, std::size_t{0}}) {
            if (place >= size) continue;
            write(buffer, place, -1);
            EXPECT_EQ(lab::mismatchOf(buffer, numberAt),
                      lab::describeMismatch(place, -1, numberAt(place)));
        }
        EXPECT_EQ(lab::mismatchOf(buffer, 0, numberAt), "");
    }
}

// Whichever thread comes last: over and over, since it is not always the same one.
TEST(LargeArrays, OfSeveralWrongElementsTheFirstIsFound) {
    const std::size_t count = 8 * lab::kWorthAThread;
    for (int time = 0; time < 50; ++time) {
        EXPECT_EQ(lab::firstWrong(count, [](std::size_t i) { return i % 70007 == 70006; }), 70006u);
        EXPECT_EQ(lab::firstWrong(count, [=](std::size_t i) { return i + 1 == count; }), count - 1);
    }
    EXPECT_EQ(lab::firstWrong(count, [](std::size_t) { return false; }), count);
    EXPECT_EQ(lab::firstWrong(0, [](std::size_t) { return true; }), 0u);
}

TEST(LargeArrays, ANumberThatIsNoneIsNeverRight) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> values = {1, nan};
    EXPECT_EQ(lab::mismatchOf(values.data(), 1, [](std::size_t) { return 1.0f; }), "");
    EXPECT_THAT(lab::mismatchOf(values.data(), 2, [&](std::size_t i) { return values[i]; }),
                StartsWith("element 1 is nan"));
}

// The same as lab::mismatch() says of all in one vector, on both sides of its bounds.
TEST(LargeArrays, WithATolerance) {
    for (const std::size_t size : {std::size_t{1000}, lab::kSmallBytes / sizeof(float) + 1}) {
        lab::DeviceBuffer<float> buffer = lab::filled<float>(size, valueAt);
        const std::vector<float> expected = buffer.toHost();
        EXPECT_EQ(lab::mismatch(buffer, expected, 1e-6), "");
        EXPECT_EQ(lab::mismatch(buffer, expected, 0), "");
        const std::size_t place = size / 2;
        for (const float factor : {1 + 0x1p-23f, 1 + 0x1p-18f, 1 + 0x1p-15f, 1.01f, 3.0f}) {
            write(buffer, place, expected[place] * factor);
            EXPECT_EQ(lab::mismatch(buffer, expected, 1e-6).empty(),
                      lab::mismatch(buffer.toHost(), expected, 1e-6).empty())
                << size << " " << factor;
            EXPECT_EQ(lab::mismatch(buffer, expected, 0).empty(), expected[place] == 0);
        }
        write(buffer, place, std::numeric_limits<float>::quiet_NaN());
        EXPECT_NE(lab::mismatch(buffer, expected, 1e-6), "");
        EXPECT_NE(lab::mismatch(buffer, expected, 0), "");
    }
}

// Each element is right enough, and all of them together are not.
TEST(LargeArrays, WrongAsAWhole) {
    const std::size_t size = lab::kPieceBytes / sizeof(float) + 3;
    const auto off = [](std::size_t i) { return valueAt(i) * (1 + 0x1p-18f); };
    const lab::DeviceBuffer<float> buffer = lab::filled<float>(size, off);
    EXPECT_NE(lab::mismatchOf(buffer, valueAt, 2e-6), "");
    EXPECT_EQ(lab::mismatchOf(buffer, valueAt, 5e-6), "");
}

TEST(LargeArrays, SizesMustAgree) {
    const lab::DeviceBuffer<int> buffer = lab::filled<int>(2, numberAt);
    EXPECT_EQ(lab::mismatch(buffer, {0, 7}), "");
    EXPECT_EQ(lab::mismatch(buffer, {0, 7, 14}), "2 elements, expected 3");
}

}  // namespace
