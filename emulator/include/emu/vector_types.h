// dim3 and CUDA's built-in vector types: char1 ... double4 and their make_* functions, with the
// sizes and alignments that they have under nvcc.
#pragma once

// One family of vector types: `NAME`1 to `NAME`3. The alignment of the two-element type is an
// argument because CUDA aligns power-of-two sizes so that one instruction loads the whole vector
// (up to 16 bytes); one- and three-element types keep the alignment of their element.
#define EMU_VECTOR_TYPES_1_TO_3(NAME, T, ALIGN2)             \
    struct NAME##1 {                                         \
        T x;                                                 \
    };                                                       \
    struct alignas(ALIGN2) NAME##2 {                         \
        T x, y;                                              \
    };                                                       \
    struct NAME##3 {                                         \
        T x, y, z;                                           \
    };                                                       \
    inline constexpr NAME##1 make_##NAME##1(T x) {           \
        return NAME##1 {x};                                  \
    }                                                        \
    inline constexpr NAME##2 make_##NAME##2(T x, T y) {      \
        return NAME##2 {x, y};                               \
    }                                                        \
    inline constexpr NAME##3 make_##NAME##3(T x, T y, T z) { \
        return NAME##3 {x, y, z};                            \
    }

#define EMU_VECTOR_TYPE_4(NAME, T, ALIGN)                   \
    struct alignas(ALIGN) NAME {                            \
        T x, y, z, w;                                       \
    };                                                      \
    inline constexpr NAME make_##NAME(T x, T y, T z, T w) { \
        return NAME{x, y, z, w};                            \
    }

EMU_VECTOR_TYPES_1_TO_3(char, signed char, 2)
EMU_VECTOR_TYPE_4(char4, signed char, 4)
EMU_VECTOR_TYPES_1_TO_3(uchar, unsigned char, 2)
EMU_VECTOR_TYPE_4(uchar4, unsigned char, 4)

EMU_VECTOR_TYPES_1_TO_3(short, short, 4)
EMU_VECTOR_TYPE_4(short4, short, 8)
EMU_VECTOR_TYPES_1_TO_3(ushort, unsigned short, 4)
EMU_VECTOR_TYPE_4(ushort4, unsigned short, 8)

EMU_VECTOR_TYPES_1_TO_3(int, int, 8)
EMU_VECTOR_TYPE_4(int4, int, 16)
EMU_VECTOR_TYPES_1_TO_3(uint, unsigned int, 8)
EMU_VECTOR_TYPE_4(uint4, unsigned int, 16)

EMU_VECTOR_TYPES_1_TO_3(long, long, 2 * sizeof(long))
EMU_VECTOR_TYPE_4(long4, long, 16)
EMU_VECTOR_TYPES_1_TO_3(ulong, unsigned long, 2 * sizeof(unsigned long))
EMU_VECTOR_TYPE_4(ulong4, unsigned long, 16)

EMU_VECTOR_TYPES_1_TO_3(longlong, long long, 16)
EMU_VECTOR_TYPE_4(longlong4, long long, 16)
EMU_VECTOR_TYPES_1_TO_3(ulonglong, unsigned long long, 16)
EMU_VECTOR_TYPE_4(ulonglong4, unsigned long long, 16)

EMU_VECTOR_TYPES_1_TO_3(float, float, 8)
EMU_VECTOR_TYPE_4(float4, float, 16)
EMU_VECTOR_TYPES_1_TO_3(double, double, 16)
EMU_VECTOR_TYPE_4(double4, double, 16)

// CUDA 13 names the alignment of the 32-byte types; the plain names above remain the 16-byte ones.
EMU_VECTOR_TYPE_4(long4_16a, long, 16)
EMU_VECTOR_TYPE_4(long4_32a, long, 32)
EMU_VECTOR_TYPE_4(ulong4_16a, unsigned long, 16)
EMU_VECTOR_TYPE_4(ulong4_32a, unsigned long, 32)
EMU_VECTOR_TYPE_4(longlong4_16a, long long, 16)
EMU_VECTOR_TYPE_4(longlong4_32a, long long, 32)
EMU_VECTOR_TYPE_4(ulonglong4_16a, unsigned long long, 16)
EMU_VECTOR_TYPE_4(ulonglong4_32a, unsigned long long, 32)
EMU_VECTOR_TYPE_4(double4_16a, double, 16)
EMU_VECTOR_TYPE_4(double4_32a, double, 32)

#undef EMU_VECTOR_TYPES_1_TO_3
#undef EMU_VECTOR_TYPE_4

// Extents of a grid or a block; dimensions that are not given are 1.
struct dim3 {
    unsigned int x, y, z;

    constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
        : x(vx), y(vy), z(vz) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return uint3{x, y, z}; }
};
