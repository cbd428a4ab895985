#pragma once

#define BLOCK 64

__constant__ int offset = 4;
__device__ __forceinline__ int shifted(int x) {
    return x + offset;
}

template <typename T>
__global__ void scale(T* data, T factor, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= factor;
}

static __global__ void reverse(int* data) {
    extern __shared__ int buffer[];
    buffer[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}
