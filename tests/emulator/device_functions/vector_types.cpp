// The built-in vector types: layout, construction, dim3's defaults and conversions.
#include "emu/vector_types.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "vector_layout.h"

namespace {

TEST(VectorTypes, MakeFunctionsKeepTheOrderOfComponents) {
    const float4 f = make_float4(1, 2, 3, 4);
    EXPECT_EQ(f.x, 1.0f);
    EXPECT_EQ(f.y, 2.0f);
    EXPECT_EQ(f.z, 3.0f);
    EXPECT_EQ(f.w, 4.0f);
    const uchar3 u = make_uchar3(253, 254, 255);
    EXPECT_EQ(u.x, 253);
    EXPECT_EQ(u.y, 254);
    EXPECT_EQ(u.z, 255);
    const double4_32a d = make_double4_32a(1, 2, 3, 4);
    EXPECT_EQ(d.w, 4.0);
    EXPECT_EQ(make_int1(7).x, 7);
    EXPECT_EQ(make_longlong2(1, -2).y, -2);
}

TEST(VectorTypes, CharVectorsAreSignedOnEveryHost) {
    EXPECT_TRUE((std::is_same<decltype(char4::x), signed char>::value));
    EXPECT_LT(make_char2(-1, 0).x, 0);
}

TEST(Dim3, ConvertsFromAnIntegerAndFromAndToUint3) {
    const auto volume = [](dim3 d) { return d.x * d.y * d.z; };
    EXPECT_EQ(volume(7), 7u);
    EXPECT_EQ(volume(make_uint3(2, 3, 4)), 24u);
    EXPECT_EQ(volume({2, 3}), 6u);
    const uint3 back = dim3(2, 3, 4);
    EXPECT_EQ(back.z, 4u);
}

constexpr dim3 kBlock(16, 16);
static_assert(kBlock.x * kBlock.y * kBlock.z == 256, "dim3 serves in constant expressions");

}  // namespace
