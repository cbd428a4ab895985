// Prefix sums: within a block, within a warp in lockstep, and over all blocks in one launch, where
// each waits for the one before.
#include <vector>

#include "expect.cuh"

constexpr int kBlock = 256;

__global__ void koggeStone(const int* in, int* out, int n) {
    __shared__ int s[kBlock];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] : 0;
    for (unsigned k = 1; k < blockDim.x; k *= 2) {
        __syncthreads();
        const int before = threadIdx.x >= k ? s[threadIdx.x - k] : 0;
        __syncthreads();
        s[threadIdx.x] += before;
    }
    if (i < n) out[i] = s[threadIdx.x];
}

__global__ void brentKung(const int* in, int* out, int n) {
    __shared__ int s[kBlock];
    const int i = 2 * blockIdx.x * blockDim.x + threadIdx.x, half = blockDim.x;
    s[threadIdx.x] = i < n ? in[i] : 0;
    s[threadIdx.x + half] = i + half < n ? in[i + half] : 0;
    for (int k = 1; k <= half; k *= 2) {
        __syncthreads();
        const int at = (threadIdx.x + 1) * 2 * k - 1;
        if (at < kBlock) s[at] += s[at - k];
    }
    for (int k = kBlock / 4; k > 0; k /= 2) {
        __syncthreads();
        const int at = (threadIdx.x + 1) * 2 * k - 1;
        if (at + k < kBlock) s[at + k] += s[at];
    }
    __syncthreads();
    if (i < n) out[i] = s[threadIdx.x];
    if (i + half < n) out[i + half] = s[threadIdx.x + half];
}

__global__ void warpLockstep(const int* in, int* out) {
    __shared__ volatile int s[kBlock];
    const int t = threadIdx.x, lane = t % warpSize;
    s[t] = in[t];
    if (lane >= 1) s[t] += s[t - 1];
    if (lane >= 2) s[t] += s[t - 2];
    if (lane >= 4) s[t] += s[t - 4];
    if (lane >= 8) s[t] += s[t - 8];
    if (lane >= 16) s[t] += s[t - 16];
    out[t] = s[t];
}

__device__ unsigned nextBlock;
__device__ int ready[1024];  // by block: is sumBefore known?
__device__ volatile int sumBefore[1024];
__global__ void onePass(const int* in, int* out, int n) {
    __shared__ unsigned block;
    __shared__ int s[kBlock], before;
    if (threadIdx.x == 0) block = atomicAdd(&nextBlock, 1);
    __syncthreads();
    const int i = block * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] : 0;
    for (unsigned k = 1; k < blockDim.x; k *= 2) {
        __syncthreads();
        const int value = threadIdx.x >= k ? s[threadIdx.x - k] : 0;
        __syncthreads();
        s[threadIdx.x] += value;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        while (atomicAdd(&ready[block], 0) == 0) {
        }
        before = sumBefore[block];
        sumBefore[block + 1] = before + s[blockDim.x - 1];
        __threadfence();
        atomicAdd(&ready[block + 1], 1);
    }
    __syncthreads();
    if (i < n) out[i] = s[threadIdx.x] + before;
}

int main() {
    const int n = 50001, blocks = (n + kBlock - 1) / kBlock;
    std::vector<int> host(n), result(n);
    for (int i = 0; i < n; ++i) host[i] = i % 7 - 2;
    int *in, *out;
    CHECK(cudaMalloc(&in, n * sizeof(int)));
    CHECK(cudaMalloc(&out, n * sizeof(int)));
    CHECK(cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));

    // The sums start anew after each `section` elements.
    const auto expectScan = [&](int section, int count) {
        CHECK(cudaMemcpy(result.data(), out, count * sizeof(int), cudaMemcpyDeviceToHost));
        int sum = 0;
        for (int i = 0; i < count; ++i) {
            sum = (i % section == 0 ? 0 : sum) + host[i];
            EXPECT(result[i] == sum);
        }
        CHECK(cudaMemset(out, 0xff, n * sizeof(int)));
    };
    koggeStone<<<blocks, kBlock>>>(in, out, n);
    expectScan(kBlock, n);
    brentKung<<<blocks, kBlock / 2>>>(in, out, n);
    expectScan(kBlock, n);
    warpLockstep<<<1, kBlock>>>(in, out);
    expectScan(32, kBlock);
    const int one = 1;
    CHECK(cudaMemcpyToSymbol(ready, &one, sizeof(one)));
    onePass<<<blocks, kBlock>>>(in, out, n);
    expectScan(n, n);
    return 0;
}
