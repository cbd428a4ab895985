// Copies from one element behind the beginning: each warp's load begins in the middle of a sector.
//
// expect: misaligned, line 11

#include <cstdio>

__global__ void shift(const float* __restrict__ from, float* __restrict__ to, int n) {
    int begin = blockIdx.x * blockDim.x;
    int t = threadIdx.x;
    if (begin + t < n) {
        float value = from[begin + t + 1];
        to[begin + t] = value;
    }
}

int main() {
    const int n = 132 * 512;
    float *from, *to;
    cudaMallocManaged(&from, (n + 1) * sizeof(float));
    cudaMallocManaged(&to, n * sizeof(float));
    for (int i = 0; i <= n; ++i) from[i] = i;
    shift<<<132, 512>>>(from, to, n);
    cudaDeviceSynchronize();
    bool right = true;
    for (int i = 0; i < n; ++i) right = right && to[i] == i + 1;
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
