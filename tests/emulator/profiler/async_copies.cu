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
// The words of shared memory in an order without conflicts that is not the lanes'.
__global__ void copyScattered(float* out, const float* in) {
    __shared__ float s[Threads];
    const int t = threadIdx.x, place = t / 32 * 32 + 5 * t % 32;
    __pipeline_memcpy_async(&s[place], &in[t], 4);
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
// The same, and the rows become columns.
template <int Lanes, int From, int To>
__global__ void copyColumns(float* out, const float* in) {
    __shared__ float s[Lanes * To];
    const int x = threadIdx.x % Lanes, y = threadIdx.x / Lanes;
    __pipeline_memcpy_async(&s[x * To + y], &in[y * From + x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = s[x * To + y];
}
// A tile is transposed on its way: in shared memory, rows are `Row` words long.
template <int Row>
__global__ void copyTransposed(float* out, const float* in) {
    __shared__ float s[32 * Row];
    const int x = threadIdx.x % 32, y = threadIdx.x / 32;
    __pipeline_memcpy_async(&s[x * Row + y], &in[y * 32 + x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = s[x * Row + y];
}
// Nobody reads what is copied.
template <typename T>
__global__ void onlyCopy(const T* in) {
    __shared__ T s[Threads];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], sizeof(T));
    __pipeline_commit();
    __pipeline_wait_prior(0);
}
__global__ void copyOddLanes(float* out, const float* in) {
    __shared__ float s[Threads];
    const int t = threadIdx.x;
    s[t] = 0;
    if (t % 2) __pipeline_memcpy_async(&s[t], &in[t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = s[t];
}
// The last `Zeros` bytes are not read, but filled with zeros.
template <typename T, int Zeros>
__global__ void fillUp(T* out, const T* in) {
    __shared__ T s[Threads];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t], sizeof(T), Zeros);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = s[t];
}
// As at the border of a matrix: other lanes have nothing to read.
__global__ void fillOddLanes(float* out, const float* in) {
    __shared__ float s[Threads];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t % 2 ? 0 : t], 4, t % 2 ? 4 : 0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = s[t];
}
// Two buffers: while one is summed up, the other is filled.
__global__ void twoBuffers(float* out, const float* in, int tiles) {
    __shared__ float s[2][Threads];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&s[0][t], &in[t], 4);
    __pipeline_commit();
    float sum = 0;
    for (int tile = 0; tile < tiles; ++tile) {
        if (tile + 1 < tiles)
            __pipeline_memcpy_async(&s[(tile + 1) % 2][t], &in[(tile + 1) * Threads + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += s[tile % 2][Threads - 1 - t];
        __syncthreads();
    }
    out[t] = sum;
}
__global__ void copyAndLoad(float* out, const float* in) {
    __shared__ float s[Threads];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t], 4);
    __pipeline_commit();
    const float mine = in[Threads + t];
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = s[t] + mine;
}

template <typename T>
void copyAsIs(void* out, const void* in) {
    copyStrided<T, 1, 1><<<2, Threads>>>((T*)out, (const T*)in);
    copyStrided<T, 2, 1><<<2, Threads>>>((T*)out, (const T*)in);
    copyStrided<T, 8, 1><<<2, Threads>>>((T*)out, (const T*)in);
    copyStrided<T, 0, 1><<<2, Threads>>>((T*)out, (const T*)in);
    copyStrided<T, 1, 2><<<2, Threads>>>((T*)out, (const T*)in);
    copyStrided<T, 1, 8><<<2, Threads>>>((T*)out, (const T*)in);
    copyStrided<T, 8, 8><<<2, Threads>>>((T*)out, (const T*)in);
    copyShifted<T><<<2, Threads>>>((T*)out, (const T*)in);
    onlyCopy<T><<<2, Threads>>>((const T*)in);
}

int main() {
    void *a, *b;
    cudaMalloc(&a, 1 << 16);
    cudaMalloc(&b, 1 << 16);
    cudaMemset(a, 0, 1 << 16);
    cudaMemset(b, 0, 1 << 16);
    float *o = (float*)a, *i = (float*)b;
    copyAsIs<float>(a, b);
    copyAsIs<float2>(a, b);
    copyAsIs<float4>(a, b);
    copyStrided<float, 1, 32><<<2, Threads>>>(o, i);
    copyScattered<<<2, Threads>>>(o, i);
    copyTransposed<32><<<2, Threads>>>(o, i);
    copyTransposed<33><<<2, Threads>>>(o, i);
    copyTransposed<36><<<2, Threads>>>(o, i);
    float4 *o4 = (float4*)a, *i4 = (float4*)b;
    copyRows<float, 8, 32, 8><<<2, Threads>>>(o, i);
    copyRows<float, 8, 32, 9><<<2, Threads>>>(o, i);
    copyRows<float, 16, 64, 16><<<2, Threads>>>(o, i);
    copyRows<float2, 4, 16, 4><<<2, Threads>>>((float2*)a, (const float2*)b);
    copyRows<float2, 8, 32, 8><<<2, Threads>>>((float2*)a, (const float2*)b);
    copyRows<float4, 2, 8, 2><<<2, Threads>>>(o4, i4);
    copyRows<float4, 2, 32, 2><<<2, Threads>>>(o4, i4);
    copyRows<float4, 2, 32, 3><<<2, Threads>>>(o4, i4);
    copyRows<float4, 2, 32, 4><<<2, Threads>>>(o4, i4);
    copyRows<float4, 4, 32, 4><<<2, Threads>>>(o4, i4);
    copyRows<float4, 4, 32, 5><<<2, Threads>>>(o4, i4);
    copyRows<float4, 8, 32, 8><<<2, Threads>>>(o4, i4);
    copyRows<float4, 8, 32, 9><<<2, Threads>>>(o4, i4);
    copyRows<float4, 16, 32, 16><<<2, Threads>>>(o4, i4);
    copyRows<float4, 16, 32, 17><<<2, Threads>>>(o4, i4);
    copyColumns<8, 32, 64><<<2, Threads>>>(o, i);
    copyColumns<8, 32, 65><<<2, Threads>>>(o, i);
    copyColumns<8, 32, 68><<<2, Threads>>>(o, i);
    copyColumns<16, 64, 65><<<2, Threads>>>(o, i);
    copyOddLanes<<<2, Threads>>>(o, i);
    fillUp<float, 4><<<2, Threads>>>(o, i);
    fillUp<float4, 4><<<2, Threads>>>(o4, i4);
    fillUp<float4, 8><<<2, Threads>>>(o4, i4);
    fillUp<float4, 16><<<2, Threads>>>(o4, i4);
    fillOddLanes<<<2, Threads>>>(o, i);
    twoBuffers<<<2, Threads>>>(o, i, 5);
    copyAndLoad<<<2, Threads>>>(o, i);
    const cudaError_t e = cudaDeviceSynchronize();
    if (e != cudaSuccess) std::fprintf(stderr, "%s\n", cudaGetErrorString(e));
    return e != cudaSuccess;
}
