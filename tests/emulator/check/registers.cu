// For test_registers.py: kernels that take many registers, as the test says or nvcc does. Prints
// the error of a launch of KERNEL with THREADS.
#include <cstdio>
#include <cstdlib>
#include <string>

// The values of each thread depend on each other: they stay in registers.
template <class T>
__device__ void mix(T* data, int rounds) {
    constexpr int kValues = 90;
    T own[kValues];
#pragma unroll
    for (int i = 0; i < kValues; ++i) own[i] = data[i];
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < kValues; ++i) own[i] = own[i] * own[(i + 1) % kValues] + round;
    }
    T sum = 0;
#pragma unroll
    for (int i = 0; i < kValues; ++i) sum += own[i];
    data[threadIdx.x] = sum;
}

__global__ void many(float* data) {
    mix(data, 3);
}
static __global__ void ofThisFile(float* data) {
    mix(data, 3);
}
namespace {
__global__ void unnamed(float* data) {
    mix(data, 3);
}
}  // namespace
template <class T>
__global__ void deduced(T* data) {
    mix(data, 3);
}
__global__ void __launch_bounds__(1024) bounded(float* data) {
    mix(data, 3);
}
__global__ void few(float* data) {
    data[threadIdx.x] = 1;
}

int main(int, char** arguments) {
    const std::string kernel = arguments[1];
    const int threads = std::atoi(arguments[2]);
    float* data;
    cudaMalloc(&data, 1024 * sizeof(float));
    cudaMemset(data, 0, 1024 * sizeof(float));
    if (kernel == "many") many<<<1, threads>>>(data);
    if (kernel == "ofThisFile") ofThisFile<<<1, threads>>>(data);
    if (kernel == "unnamed") unnamed<<<1, threads>>>(data);
    if (kernel == "deduced") deduced<<<1, threads>>>(data);
    if (kernel == "bounded") bounded<<<1, threads>>>(data);
    if (kernel == "few") few<<<1, threads>>>(data);
    std::puts(cudaGetErrorName(cudaGetLastError()));
    cudaFree(data);
}
