// Each thread adds its share to the same 16 sums, one after the other, so that all lanes of a warp
// and all blocks want the same address at a time.
//
// expect: atomics, line 15

#include <cmath>
#include <cstdio>

constexpr int kTerms = 16;

__global__ void addTerms(const float* x, float* sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float power = 1.0f;
    for (int k = 0; k < kTerms; ++k, power *= x[i]) atomicAdd(&sums[k], power);
}

int main() {
    const int n = 132 * 256;
    float *x, *sums, host[kTerms];
    cudaMallocManaged(&x, n * sizeof(float));
    cudaMalloc(&sums, sizeof host);
    for (int i = 0; i < n; ++i) x[i] = i % 2 ? 1.0f : -1.0f;
    cudaMemset(sums, 0, sizeof host);
    addTerms<<<132, 256>>>(x, sums, n);
    cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost);
    bool right = true;
    for (int k = 0; k < kTerms; ++k) right = right && host[k] == (k % 2 ? 0 : n);
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
