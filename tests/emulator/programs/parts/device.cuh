#pragma once

extern __constant__ float factor;
extern __device__ int calls;
__device__ float scaled(float x);
template <typename T>
__global__ void fill(T* data, T value);
