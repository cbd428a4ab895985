// The kernels whose counts on an H200 are known at 2^22 elements and blocks of 512: the classic
// reductions in global memory, and branches by thread and by warp. Here with 2^18 elements: all
// counts are proportional to the size. check_reductions.py has the numbers.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

__global__ void neighbored(int* in, int* out, unsigned n) {
    unsigned tid = threadIdx.x;
    unsigned idx = blockIdx.x * blockDim.x + threadIdx.x;
    int* data = in + blockIdx.x * blockDim.x;
    if (idx >= n) return;
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0) data[tid] += data[tid + stride];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = data[0];
}

__global__ void neighboredLess(int* in, int* out, unsigned n) {
    unsigned tid = threadIdx.x;
    unsigned idx = blockIdx.x * blockDim.x + threadIdx.x;
    int* data = in + blockIdx.x * blockDim.x;
    if (idx >= n) return;
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        int index = 2 * stride * tid;
        if (index < blockDim.x) data[index] += data[index + stride];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = data[0];
}

__global__ void interleaved(int* in, int* out, unsigned n) {
    unsigned tid = threadIdx.x;
    unsigned idx = blockIdx.x * blockDim.x + threadIdx.x;
    int* data = in + blockIdx.x * blockDim.x;
    if (idx >= n) return;
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) data[tid] += data[tid + stride];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = data[0];
}

__global__ void branchByThread(float* c) {
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    float a = 0.0f, b = 0.0f;
    if (tid % 2 == 0) {
        a = 100.0f;
    } else {
        b = 200.0f;
    }
    c[tid] = a + b;
}

__global__ void branchByWarp(float* c) {
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    float a = 0.0f, b = 0.0f;
    if ((tid / warpSize) % 2 == 0) {
        a = 100.0f;
    } else {
        b = 200.0f;
    }
    c[tid] = a + b;
}

int main() {
    constexpr unsigned n = 1 << 18, block = 512;
    int *data, *sums;
    if (cudaMalloc(&data, n * sizeof(int)) != cudaSuccess) return 1;
    if (cudaMalloc(&sums, n / block * sizeof(int)) != cudaSuccess) return 1;
    const std::vector<int> ones(n, 1);
    for (auto* kernel : {neighbored, neighboredLess, interleaved}) {
        cudaMemcpy(data, ones.data(), n * sizeof(int), cudaMemcpyHostToDevice);
        kernel<<<n / block, block>>>(data, sums, n);
        int first = 0;
        cudaMemcpy(&first, sums, sizeof(int), cudaMemcpyDeviceToHost);
        if (first != block) {
            std::fprintf(stderr, "the first sum is %d instead of %u\n", first, block);
            return 1;
        }
    }
    branchByThread<<<n / block, block>>>(reinterpret_cast<float*>(data));
    branchByWarp<<<n / block, block>>>(reinterpret_cast<float*>(data));
    return cudaDeviceSynchronize() != cudaSuccess;
}
