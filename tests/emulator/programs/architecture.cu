// Code that asks for __CUDA_ARCH__: kernels have the GPU's branches, host code the host's, and a
// function for both takes either, by who calls it.
#include "expect.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
#else  // as textbooks have it: GPUs before had no such function
__device__ double atomicAdd(double* address, double) {
    return *address = -1;
}
#endif

#ifdef __CUDA_ARCH__
#define DEFINED_FOR_GPU 1
#else
#define DEFINED_FOR_GPU 0
#endif

__host__ __device__ int compiledFor() {
#ifdef __CUDA_ARCH__
    return __CUDA_ARCH__ >= 700;
#else
    return -1;
#endif
}

__host__ __device__ int steps(int x) {
    int sum = __LINE__;
#if __CUDA_ARCH__ >= 5000
    sum += 5000;
#elif __CUDA_ARCH__ >= 700
    sum += 700 * x;
#elif defined(__CUDA_ARCH__)
    sum += 7;
#else
    sum += 1;
#endif
    return sum + 10 - __LINE__;
}

__global__ void bodyInGuard(int* out, double* sum) {
#if __CUDA_ARCH__ >= 700
    out[0] = 700;
#else
    out[0] = 1;
#endif
    out[1] = compiledFor();
    out[2] = steps(2);
    out[3] = DEFINED_FOR_GPU;
    atomicAdd(sum, 1.5);
}

int main() {
    int* out;
    double* sum;
    CHECK(cudaMalloc(&out, 4 * sizeof(int)));
    CHECK(cudaMalloc(&sum, sizeof(double)));
    CHECK(cudaMemset(sum, 0, sizeof(double)));
    EXPECT_AFTER(fetch(out) == 700, bodyInGuard<<<1, 1>>>(out, sum));
    EXPECT(fetch(out + 1) == 1);
    EXPECT(fetch(out + 2) == 1400);
    EXPECT(fetch(out + 3) == 1);
    EXPECT(fetch(sum) == 1.5);
    EXPECT(compiledFor() == -1);
    EXPECT(steps(2) == 1);
#ifdef __CUDA_ARCH__
    EXPECT(false);
#endif
}
