// An assertion that does not hold ends the kernel; the program sees the error until it resets the
// device.
#undef NDEBUG
#include <cassert>
#include <cstdio>

__global__ void check(int* p) {
    const int x = threadIdx.x;
    assert(x < 3);
    p[x] = 1;
}

int main() {
    int* p;
    cudaMalloc(&p, 32 * sizeof(int));
    check<<<1, 32>>>(p);
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s\n", cudaGetErrorName(error));
    const bool sticky = cudaMalloc(&p, 4) == cudaErrorAssert;
    const bool afresh = cudaDeviceReset() == cudaSuccess && cudaMalloc(&p, 4) == cudaSuccess;
    return error == cudaErrorAssert && sticky && afresh ? 0 : 1;
}
