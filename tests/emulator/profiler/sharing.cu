// Lanes that share what they access, and kernels without an access of some kind, to compare what
// the cpu profiler counts with what ncu reads on an H200. Each count can be checked by hand.
#include <cuda_runtime.h>

#include <cstdio>

struct Triple {
    float x, y, z;
};

#define SHARED_ATOMIC(NAME, T, CALL)     \
    __global__ void NAME(T* o) {         \
        __shared__ T s[64];              \
        s[threadIdx.x] = 0;              \
        __syncthreads();                 \
        CALL;                            \
        __syncthreads();                 \
        o[threadIdx.x] = s[threadIdx.x]; \
    }
SHARED_ATOMIC(countInEight, int, atomicAdd(&s[threadIdx.x % 8], 1))
SHARED_ATOMIC(addInEight, int, atomicAdd(&s[threadIdx.x % 8], threadIdx.x))
SHARED_ATOMIC(addOwn, int, atomicAdd(&s[threadIdx.x], threadIdx.x))
SHARED_ATOMIC(addToOne, int, atomicAdd(&s[5], threadIdx.x))
SHARED_ATOMIC(addOddLanes, int, if (threadIdx.x % 2) atomicAdd(&s[threadIdx.x / 4], threadIdx.x))
SHARED_ATOMIC(maxInEight, int, atomicMax(&s[threadIdx.x % 8], threadIdx.x))
SHARED_ATOMIC(exchangeInEight, int, atomicExch(&s[threadIdx.x % 8], threadIdx.x))
SHARED_ATOMIC(swapOwn, int, atomicCAS(&s[threadIdx.x], 0, threadIdx.x))
SHARED_ATOMIC(addOwnFloat, float, atomicAdd(&s[threadIdx.x], 1.0f))
SHARED_ATOMIC(addOwnLong, unsigned long long, atomicAdd(&s[threadIdx.x], threadIdx.x))
__global__ void takeNumbers(int* o) {
    __shared__ int s[64];
    s[threadIdx.x] = 0;
    __syncthreads();
    o[64 + threadIdx.x] = atomicAdd(&s[threadIdx.x % 8], 1);
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x];
}
__global__ void addStride4(int* o) {
    __shared__ int s[256];
    s[threadIdx.x * 4] = 0;
    __syncthreads();
    atomicAdd(&s[threadIdx.x * 4], threadIdx.x);
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x * 4];
}

__global__ void nothing() {}
__global__ void onlyAtomics(int* o) {
    atomicAdd(&o[threadIdx.x % 8], threadIdx.x);
}
__global__ void takeNumbersGlobally(int* o) {
    o[64 + threadIdx.x] = atomicAdd(&o[threadIdx.x % 8], threadIdx.x);
}
__global__ void onlyLoads(int* o, const int* i) {
    if (i[threadIdx.x / 3] == -1) o[threadIdx.x] = 1;
}
__global__ void sharePlaces(int* o, const int* i) {
    o[threadIdx.x / 4] = i[0];
}
__global__ void overlap(float* o, const float* i) {
    const Triple t = *(const Triple*)(i + threadIdx.x);
    o[threadIdx.x] = t.x + t.y + t.z;
}
__global__ void shareBytes(char* o, const char* i) {
    o[threadIdx.x / 2] = i[threadIdx.x / 4];
}

int main() {
    void *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMemset(a, 0, 4096);
    cudaMemset(b, 0, 4096);
    int *o = (int*)a, *i = (int*)b;
    for (auto kernel : {countInEight, addInEight, takeNumbers, addOwn, addStride4, addToOne,
                        addOddLanes, maxInEight, exchangeInEight, swapOwn})
        (*kernel)<<<2, 64>>>(o);
    addOwnFloat<<<2, 64>>>((float*)o);
    addOwnLong<<<2, 64>>>((unsigned long long*)o);
    countInEight<<<1, 1>>>(o);
    nothing<<<2, 64>>>();
    onlyAtomics<<<2, 64>>>(o);
    takeNumbersGlobally<<<2, 64>>>(o);
    onlyLoads<<<2, 64>>>(o, i);
    sharePlaces<<<2, 64>>>(o, i);
    sharePlaces<<<1, 1>>>(o, i);
    overlap<<<2, 64>>>((float*)o, (float*)i);
    shareBytes<<<2, 64>>>((char*)o, (char*)i);
    const cudaError_t e = cudaDeviceSynchronize();
    if (e != cudaSuccess) std::fprintf(stderr, "%s\n", cudaGetErrorString(e));
    return e != cudaSuccess;
}
