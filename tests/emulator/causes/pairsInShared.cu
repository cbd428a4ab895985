// A sum in shared memory that adds neighbours at distances of 1, 2, 4 ... with whole warps. The
// strides are twice these, and more and more lanes meet in a bank.
//
// expect: bank conflicts, line 14

#include <cstdio>

__global__ void sumBlocks(const int* in, int* out) {
    __shared__ int s[512];
    s[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (int distance = 1; distance < blockDim.x; distance *= 2) {
        int i = 2 * distance * threadIdx.x;
        if (i < blockDim.x) s[i] += s[i + distance];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

int main() {
    const int blocks = 132, n = blocks * 512;
    int *in, *out;
    cudaMallocManaged(&in, n * sizeof(int));
    cudaMallocManaged(&out, blocks * sizeof(int));
    for (int i = 0; i < n; ++i) in[i] = i % 5;
    sumBlocks<<<blocks, 512>>>(in, out);
    cudaDeviceSynchronize();
    bool right = true;
    for (int b = 0; b < blocks; ++b) {
        int sum = 0;
        for (int i = 0; i < 512; ++i) sum += (b * 512 + i) % 5;
        right = right && out[b] == sum;
    }
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
