// As it should be: each thread adds its elements in a register, warps add by shuffles, and a block
// does one atomic operation.
//
// expect: nothing

#include <cstdio>

constexpr unsigned kAll = 0xffffffffu;

__device__ int sumOfWarp(int value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(kAll, value, distance);
    }
    return value;
}

__global__ void sum(const int* in, int* result, int n) {
    __shared__ int ofWarps[8];
    int own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        own += in[i];
    }
    own = sumOfWarp(own);
    if (threadIdx.x % 32 == 0) ofWarps[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x < 32) {
        own = sumOfWarp(threadIdx.x < 8 ? ofWarps[threadIdx.x] : 0);
        if (threadIdx.x == 0) atomicAdd(result, own);
    }
}

int main() {
    const int n = 132 * 256 * 8;
    int *in, *result;
    cudaMallocManaged(&in, n * sizeof(int));
    cudaMallocManaged(&result, sizeof(int));
    for (int i = 0; i < n; ++i) in[i] = i % 2;
    *result = 0;
    sum<<<132, 256>>>(in, result, n);
    cudaDeviceSynchronize();
    const bool right = *result == n / 2;
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
