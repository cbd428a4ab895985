// Sizes and alignments of the built-in vector types, checked when this file is compiled. It
// includes nothing, so that nvcc can check the same table against its own headers.
#pragma once

#define EXPECT_LAYOUT(TYPE, SIZE, ALIGNMENT)                 \
    static_assert(sizeof(TYPE) == (SIZE), "size of " #TYPE); \
    static_assert(alignof(TYPE) == (ALIGNMENT), "alignment of " #TYPE)

EXPECT_LAYOUT(char1, 1, 1);
EXPECT_LAYOUT(char2, 2, 2);
EXPECT_LAYOUT(char3, 3, 1);
EXPECT_LAYOUT(char4, 4, 4);
EXPECT_LAYOUT(uchar1, 1, 1);
EXPECT_LAYOUT(uchar2, 2, 2);
EXPECT_LAYOUT(uchar3, 3, 1);
EXPECT_LAYOUT(uchar4, 4, 4);

EXPECT_LAYOUT(short1, 2, 2);
EXPECT_LAYOUT(short2, 4, 4);
EXPECT_LAYOUT(short3, 6, 2);
EXPECT_LAYOUT(short4, 8, 8);
EXPECT_LAYOUT(ushort1, 2, 2);
EXPECT_LAYOUT(ushort2, 4, 4);
EXPECT_LAYOUT(ushort3, 6, 2);
EXPECT_LAYOUT(ushort4, 8, 8);

EXPECT_LAYOUT(int1, 4, 4);
EXPECT_LAYOUT(int2, 8, 8);
EXPECT_LAYOUT(int3, 12, 4);
EXPECT_LAYOUT(int4, 16, 16);
EXPECT_LAYOUT(uint1, 4, 4);
EXPECT_LAYOUT(uint2, 8, 8);
EXPECT_LAYOUT(uint3, 12, 4);
EXPECT_LAYOUT(uint4, 16, 16);

EXPECT_LAYOUT(long1, 8, 8);
EXPECT_LAYOUT(long2, 16, 16);
EXPECT_LAYOUT(long3, 24, 8);
EXPECT_LAYOUT(ulong1, 8, 8);
EXPECT_LAYOUT(ulong2, 16, 16);
EXPECT_LAYOUT(ulong3, 24, 8);

EXPECT_LAYOUT(longlong1, 8, 8);
EXPECT_LAYOUT(longlong2, 16, 16);
EXPECT_LAYOUT(longlong3, 24, 8);
EXPECT_LAYOUT(ulonglong1, 8, 8);
EXPECT_LAYOUT(ulonglong2, 16, 16);
EXPECT_LAYOUT(ulonglong3, 24, 8);

EXPECT_LAYOUT(float1, 4, 4);
EXPECT_LAYOUT(float2, 8, 8);
EXPECT_LAYOUT(float3, 12, 4);
EXPECT_LAYOUT(float4, 16, 16);
EXPECT_LAYOUT(double1, 8, 8);
EXPECT_LAYOUT(double2, 16, 16);
EXPECT_LAYOUT(double3, 24, 8);

// CUDA 13 warns about the plain names and offers the ones that state their alignment.
EXPECT_LAYOUT(long4, 32, 16);
EXPECT_LAYOUT(ulong4, 32, 16);
EXPECT_LAYOUT(longlong4, 32, 16);
EXPECT_LAYOUT(ulonglong4, 32, 16);
EXPECT_LAYOUT(double4, 32, 16);
EXPECT_LAYOUT(long4_16a, 32, 16);
EXPECT_LAYOUT(ulong4_16a, 32, 16);
EXPECT_LAYOUT(longlong4_16a, 32, 16);
EXPECT_LAYOUT(ulonglong4_16a, 32, 16);
EXPECT_LAYOUT(double4_16a, 32, 16);
EXPECT_LAYOUT(long4_32a, 32, 32);
EXPECT_LAYOUT(ulong4_32a, 32, 32);
EXPECT_LAYOUT(longlong4_32a, 32, 32);
EXPECT_LAYOUT(ulonglong4_32a, 32, 32);
EXPECT_LAYOUT(double4_32a, 32, 32);

EXPECT_LAYOUT(dim3, 12, 4);

#undef EXPECT_LAYOUT
