// Two operations in turn, each of which needs all results of the other. The host waits behind each
// launch, although a stream keeps the order anyway.
//
// expect: synchronisation, line 29

#include <cstdio>
#include <utility>

__global__ void first(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + in[i ^ 1];
}

__global__ void second(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 0.5f * in[i];
}

int main() {
    const int n = 132 * 128;
    float *a, *b;
    cudaMallocManaged(&a, n * sizeof(float));
    cudaMallocManaged(&b, n * sizeof(float));
    for (int i = 0; i < n; ++i) a[i] = i % 2;
    for (int step = 0; step < 18; ++step) {
        first<<<132, 128>>>(a, b, n);
        cudaDeviceSynchronize();
        second<<<132, 128>>>(b, a, n);
        cudaDeviceSynchronize();
    }
    bool right = true;
    for (int i = 0; i < n; ++i) right = right && a[i] == 0.5f;
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
