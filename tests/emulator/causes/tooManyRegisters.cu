// Each thread keeps 48 sums, and is allowed 32 registers: most of the sums go to local memory and
// back.
//
// expect: spills

#include <cstdio>

constexpr int kSums = 48;

__global__ void __launch_bounds__(1024, 2) polynomial(const float* x, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sums[kSums];
    for (int k = 0; k < kSums; ++k) sums[k] = x[k * n + i];
    for (int step = 0; step < 2; ++step) {
        for (int k = 0; k < kSums; ++k) sums[k] += 0.25f * sums[(k + 7) % kSums];
    }
    for (int k = 0; k < kSums; ++k) out[k * n + i] = sums[k];
}

int main() {
    const int n = 132 * 128;
    float *x, *out;
    cudaMallocManaged(&x, kSums * n * sizeof(float));
    cudaMallocManaged(&out, kSums * n * sizeof(float));
    for (int i = 0; i < kSums * n; ++i) x[i] = 0.0f;
    polynomial<<<132, 128>>>(x, out, n);
    cudaDeviceSynchronize();
    bool right = true;
    for (int i = 0; i < kSums * n; ++i) right = right && out[i] == 0;
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
