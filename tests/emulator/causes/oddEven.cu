// Even threads integrate one function, odd ones another: a warp does both, one after the other.
//
// expect: thread parity, line 12

#include <cmath>
#include <cstdio>

__global__ void integrate(float* result, int n, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f, h = 1.0f / steps;
    if (i >= n) return;
    if ((i & 1) == 0) {
        for (int k = 0; k < steps; ++k) {
            float x = (k + 0.5f) * h;
            sum += x * x;
        }
    } else {
        for (int k = 0; k < steps; ++k) {
            float x = (k + 0.5f) * h;
            sum += 1.0f - x;
        }
    }
    result[i] = sum * h;
}

int main() {
    const int n = 132 * 128;
    float* result;
    cudaMallocManaged(&result, n * sizeof(float));
    integrate<<<132, 128>>>(result, n, 32);
    cudaDeviceSynchronize();
    bool right = true;
    for (int i = 0; i < n; ++i) {
        right = right && std::fabs(result[i] - (i % 2 ? 0.5f : 1.0f / 3)) < 1e-3f;
    }
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
