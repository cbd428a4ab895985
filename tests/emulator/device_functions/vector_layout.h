// Sizes and alignments of the built-in vector types, checked when this file is compiled. It
// includes nothing, so that nvcc can check the same table against its own headers.
#pragma once

#define EXPECT_LAYOUT(TYPE, SIZE, ALIGNMENT)                 \
    static_assert(sizeof(TYPE) == (SIZE), "size of " #TYPE); \
    static_assert(alignof(TYPE) == (ALIGNMENT), "alignment of " #TYPE)

// Vectors of one to three elements of `size` bytes; those of four with their own size as alignment.
#define EXPECT_UP_TO_3(TYPE, SIZE)                  \
    EXPECT_LAYOUT(TYPE##1, SIZE, SIZE);             \
    EXPECT_LAYOUT(TYPE##2, 2 * (SIZE), 2 * (SIZE)); \
    EXPECT_LAYOUT(TYPE##3, 3 * (SIZE), SIZE)
#define EXPECT_UP_TO_4(TYPE, SIZE) \
    EXPECT_UP_TO_3(TYPE, SIZE);    \
    EXPECT_LAYOUT(TYPE##4, 4 * (SIZE), 4 * (SIZE))

EXPECT_UP_TO_4(char, 1);
EXPECT_UP_TO_4(uchar, 1);
EXPECT_UP_TO_4(short, 2);
EXPECT_UP_TO_4(ushort, 2);
EXPECT_UP_TO_4(int, 4);
EXPECT_UP_TO_4(uint, 4);
EXPECT_UP_TO_4(float, 4);
EXPECT_UP_TO_3(long, 8);
EXPECT_UP_TO_3(ulong, 8);
EXPECT_UP_TO_3(longlong, 8);
EXPECT_UP_TO_3(ulonglong, 8);
EXPECT_UP_TO_3(double, 8);

// CUDA 13 warns about the plain names and offers the ones that state their alignment.
#define EXPECT_OF_4(TYPE)              \
    EXPECT_LAYOUT(TYPE, 32, 16);       \
    EXPECT_LAYOUT(TYPE##_16a, 32, 16); \
    EXPECT_LAYOUT(TYPE##_32a, 32, 32)

EXPECT_OF_4(long4);
EXPECT_OF_4(ulong4);
EXPECT_OF_4(longlong4);
EXPECT_OF_4(ulonglong4);
EXPECT_OF_4(double4);

EXPECT_LAYOUT(dim3, 12, 4);

#undef EXPECT_LAYOUT
#undef EXPECT_UP_TO_3
#undef EXPECT_UP_TO_4
#undef EXPECT_OF_4
