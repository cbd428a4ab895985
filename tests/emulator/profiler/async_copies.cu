// Asynchronous copies from global to shared memory, to compare what the cpu profiler counts with
// what ncu reads on an H200. Each count can be checked by hand.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdio>

constexpr int Threads = 64;

// Lane after lane: elements `From` apart in global memory go `To` apart in shared memory.
template <typename T, int From, int To>
__global__ void copyStrided(T* out, const T* in) {
    __shared__ T s[Threads * To];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t * To], &in[t * From], sizeof(T));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = s[t * To];
}
template <typename T>
__global__ void copyShifted(T* out, const T* in) {
    __shared__ T s[Threads];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t + 1], sizeof(T));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = s[t];
}
// Rows of a tile: `Lanes` elements each, `From` apart in global memory, `To` in shared memory.
template <typename T, int Lanes, int From, int To>
__global__ void copyRows(T* out, const T* in) {
    __shared__ T s[Threads / Lanes * To];
    const int x = threadIdx.x % Lanes, y = threadIdx.x / Lanes;
    __pipeline_memcpy_async(&s[y * To + x], &in[y * From + x], sizeof(T));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = s[y * To + x];
}

int main() {
    void *a, *b;
    cudaMalloc(&a, 1 << 16);
    cudaMalloc(&b, 1 << 16);
    cudaMemset(b, 0, 1 << 16);
    copyStrided<float, 1, 1><<<2, Threads>>>((float*)a, (const float*)b);
    copyStrided<float, 8, 8><<<2, Threads>>>((float*)a, (const float*)b);
    float4* out = (float4*)a;
    const float4* in = (const float4*)b;
    copyStrided<float4, 1, 1><<<2, Threads>>>(out, in);
    copyStrided<float4, 2, 1><<<2, Threads>>>(out, in);
    copyStrided<float4, 0, 1><<<2, Threads>>>(out, in);
    copyShifted<float4><<<2, Threads>>>(out, in);
    copyRows<float4, 4, 32, 5><<<2, Threads>>>(out, in);
    copyRows<float4, 8, 32, 9><<<2, Threads>>>(out, in);
    copyRows<float4, 16, 32, 17><<<2, Threads>>>(out, in);
    const cudaError_t e = cudaDeviceSynchronize();
    if (e != cudaSuccess) std::fprintf(stderr, "%s\n", cudaGetErrorString(e));
    return e != cudaSuccess;
}
