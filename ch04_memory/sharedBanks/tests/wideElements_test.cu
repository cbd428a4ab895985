#include "wideElements.cuh"

#include <gtest/gtest.h>

#include "buffer.cuh"

namespace {

template <typename Element>
__global__ void putAndGet(int number, int* results) {
    Element element = elementWith<Element>(number);
    results[0] = numberIn(element);
    // Each of its parts counts.
    int* const parts = reinterpret_cast<int*>(&element);
    for (unsigned i = 0; i < sizeof(Element) / sizeof(int); ++i) {
        parts[i] ^= 1 << 30;
        results[i + 1] = numberIn(element);
        parts[i] ^= 1 << 30;
    }
}

template <typename Element>
class WideElements : public testing::Test {};
using Elements = testing::Types<int, int2, int4>;
TYPED_TEST_SUITE(WideElements, Elements);

TYPED_TEST(WideElements, HoldANumberInAllOfTheirBytes) {
    lab::DeviceBuffer<int> results(5);
    putAndGet<TypeParam><<<1, 1>>>(1234, results.get());
    EXPECT_EQ(results.toHost(1)[0], 1234);
    for (std::size_t i = 1; i <= sizeof(TypeParam) / sizeof(int); ++i)
        EXPECT_EQ(results.toHost(i + 1)[i], 1234 | 1 << 30) << i;
}

}  // namespace
