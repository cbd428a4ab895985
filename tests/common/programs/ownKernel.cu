#include <cstddef>

#include "buffer.cuh"
#include "check.cuh"
#include "timer.cuh"

__global__ void doubleEach(int* numbers, std::size_t size) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < size) numbers[i] *= 2;
}

void doubleAll(lab::DeviceBuffer<int>& numbers) {
    doubleEach<<<1, 32>>>(numbers.get(), numbers.size());
    CUDA_CHECK_LAUNCH();
}
