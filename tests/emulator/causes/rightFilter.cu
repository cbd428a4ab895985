// As it should be: a block loads its samples and those beside them once, and all lanes of a warp
// read the same coefficient at a time.
//
// expect: nothing

#include <cstdio>

constexpr int kTaps = 15, kThreads = 256;

__constant__ float taps[kTaps];

__global__ void filter(const float* in, float* out) {
    __shared__ float samples[kThreads + kTaps - 1];
    const int begin = blockIdx.x * kThreads;
    for (int i = threadIdx.x; i < kThreads + kTaps - 1; i += kThreads) samples[i] = in[begin + i];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < kTaps; ++k) sum += taps[k] * samples[threadIdx.x + k];
    out[begin + threadIdx.x] = sum * (1.0f / kTaps);
}

int main() {
    const int n = 132 * kThreads;
    float ones[kTaps], *in, *out;
    for (float& tap : ones) tap = 1.0f;
    cudaMemcpyToSymbol(taps, ones, sizeof ones);
    cudaMallocManaged(&in, (n + kTaps - 1) * sizeof(float));
    cudaMallocManaged(&out, n * sizeof(float));
    for (int i = 0; i < n + kTaps - 1; ++i) in[i] = 3.0f;
    filter<<<132, kThreads>>>(in, out);
    cudaDeviceSynchronize();
    bool right = true;
    for (int i = 0; i < n; ++i) right = right && out[i] > 2.99f && out[i] < 3.01f;
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
