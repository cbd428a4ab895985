// Threads of one block meet in two different barriers.
#include <cstdio>

__global__ void divergent(int* p) {
    if (threadIdx.x % 2 != 0) {
        p[threadIdx.x] = 1;
        __syncthreads();
    } else {
        __syncthreads();
    }
}

int main() {
    int* p;
    cudaMalloc(&p, 64 * sizeof(int));
    divergent<<<2, 64>>>(p);
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s\n", cudaGetErrorName(error));
    return error == cudaErrorLaunchFailure ? 0 : 1;
}
