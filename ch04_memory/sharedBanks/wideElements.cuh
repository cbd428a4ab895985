#pragma once
// Elements of 4, 8 and 16 bytes that hold a number. numberIn() needs all of their bytes, so the
// compiler cannot load fewer.

#include <cuda_runtime.h>

template <typename Element>
__device__ Element elementWith(int number);

template <>
__device__ inline int elementWith<int>(int number) {
    return number;
}
template <>
__device__ inline int2 elementWith<int2>(int number) {
    return make_int2(number, 0);
}
template <>
__device__ inline int4 elementWith<int4>(int number) {
    return make_int4(number, 0, 0, 0);
}

__device__ inline int numberIn(int element) {
    return element;
}
__device__ inline int numberIn(int2 element) {
    return element.x | element.y;
}
__device__ inline int numberIn(int4 element) {
    return element.x | element.y | element.z | element.w;
}
