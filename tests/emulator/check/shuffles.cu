// Shuffles that read lanes which take no part, for test_shuffles.py. The argument names a kernel.
#include <cstring>

// The sum is in lane 0, which no such lane reaches.
__global__ void halfWarp(const int* in, int* sum) {
    int value = in[threadIdx.x];
    if (threadIdx.x < 16) {
        for (int d = 8; d > 0; d /= 2) value += __shfl_down_sync(0xffff, value, d);  // not-used
    }
    if (threadIdx.x == 0) *sum = value;
}
__global__ void oneAndAHalfWarps(const int* in, int* sum) {
    int value = in[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(~0u, value, d);  // used
    if (threadIdx.x % 32 == 0) atomicAdd(sum, value);
}

int main(int, char** argv) {
    int in[48], *device, *sum, result = 0;
    for (int& x : in) x = 1;
    cudaMalloc(&device, sizeof(in));
    cudaMemcpy(device, in, sizeof(in), cudaMemcpyHostToDevice);
    const bool isManaged = std::strcmp(argv[2], "managed") == 0;
    if (isManaged) {
        cudaMallocManaged(&sum, sizeof(int));
    } else {
        cudaMalloc(&sum, sizeof(int));
    }
    cudaMemset(sum, 0, sizeof(int));
    if (std::strcmp(argv[1], "halfWarp") == 0) {
        halfWarp<<<1, 32>>>(device, sum);
    } else {
        oneAndAHalfWarps<<<1, 48>>>(device, sum);
    }
    cudaDeviceSynchronize();
    if (!isManaged) cudaMemcpy(&result, sum, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(sum);
}
