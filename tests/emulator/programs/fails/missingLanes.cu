// Half of a warp waits for the other half, which waits for the whole block.
#include <cstdio>

__global__ void halfWarp(int* p) {
    int value = threadIdx.x;
    if (threadIdx.x < 16) {
        value += __shfl_down_sync(0xffffffff, value, 1);
    } else {
        __syncthreads();
    }
    p[threadIdx.x] = value;
}

int main() {
    int* p;
    cudaMalloc(&p, 32 * sizeof(int));
    halfWarp<<<1, 32>>>(p);
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s\n", cudaGetErrorName(error));
    return error == cudaErrorLaunchFailure ? 0 : 1;
}
