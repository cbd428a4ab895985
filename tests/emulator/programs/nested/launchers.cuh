#ifndef LAUNCHERS_CUH
#define LAUNCHERS_CUH

#include "detail/kernels.cuh"
#include "host.h"

template <typename T>
void launchScale(T* data, T factor, int n) {
    scale<T><<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(data, factor, n);
}
inline void launchReverse(int* data) {
    reverse<<<1, BLOCK, BLOCK * sizeof(int)>>>(data);
}

#endif
