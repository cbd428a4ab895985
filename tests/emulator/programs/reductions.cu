// Reductions as textbooks write them: the end of each is where they differ.
#include <vector>

#include "expect.cuh"

constexpr int kBlock = 128;

__device__ int loadPair(const int* in, unsigned n) {
    const unsigned i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    return (i < n ? in[i] : 0) + (i + blockDim.x < n ? in[i + blockDim.x] : 0);
}
__device__ void reduceTo(int* s, unsigned end) {
    __syncthreads();
    for (unsigned k = blockDim.x / 2; k > end; k >>= 1) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
}

__global__ void barriers(const int* in, int* out, unsigned n) {
    __shared__ int s[kBlock];
    s[threadIdx.x] = loadPair(in, n);
    reduceTo(s, 0);
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

// No lane is left out, so what one reads is what another writes: right only since lanes go
// together.
__global__ void syncwarp(const int* in, int* out, unsigned n) {
    __shared__ int s[kBlock];
    const unsigned t = threadIdx.x;
    s[t] = loadPair(in, n);
    reduceTo(s, 32);
    if (t < 32) {
        s[t] += s[t + 32];
        __syncwarp();
        for (int k = 16; k > 0; k >>= 1) {
            s[t] += s[t + k];
            __syncwarp();
        }
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// Before Volta.
__global__ void lockstep(const int* in, int* out, unsigned n) {
    extern __shared__ int s[];
    const unsigned t = threadIdx.x;
    s[t] = loadPair(in, n);
    reduceTo(s, 32);
    if (t < 32) {
        volatile int* v = s;
        v[t] += v[t + 32];
        v[t] += v[t + 16];
        v[t] += v[t + 8];
        v[t] += v[t + 4];
        v[t] += v[t + 2];
        v[t] += v[t + 1];
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
template <unsigned Block>
__device__ void lastWarp(volatile int* s, unsigned t) {
    if (Block >= 64) s[t] += s[t + 32];
    if (Block >= 32) s[t] += s[t + 16];
    if (Block >= 16) s[t] += s[t + 8];
    if (Block >= 8) s[t] += s[t + 4];
    if (Block >= 4) s[t] = s[t] + s[t + 2];
    if (Block >= 2) s[t] = s[t] + s[t + 1];
}
template <unsigned Block>
__global__ void lockstepFunction(const int* in, int* out, unsigned n) {
    __shared__ int s[Block];
    const unsigned t = threadIdx.x;
    s[t] = loadPair(in, n);
    __syncthreads();
    if (Block >= 128) {
        if (t < 64) s[t] += s[t + 64];
        __syncthreads();
    }
    if (t < 32) lastWarp<Block>(s, t);
    if (t == 0) out[blockIdx.x] = s[0];
}

__inline__ __device__ int warpSum(int value) {
#pragma unroll
    for (int k = warpSize / 2; k > 0; k /= 2) value += __shfl_xor_sync(0xffffffff, value, k);
    return value;
}
__global__ void shuffles(const int* in, int* out, unsigned n) {
    __shared__ int s[32];
    const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    int sum = warpSum(loadPair(in, n));
    if (lane == 0) s[warp] = sum;
    __syncthreads();
    sum = threadIdx.x < blockDim.x / warpSize ? s[lane] : 0;
    if (warp == 0) sum = warpSum(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// The last block to finish adds up what all have left.
__device__ unsigned blocksDone = 0;
__shared__ bool isLast;
__global__ void lastBlock(const int* in, volatile int* out, unsigned n) {
    const int sum = warpSum(loadPair(in, n));
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    if (threadIdx.x % warpSize == 0) atomicAdd(&total, sum);
    __syncthreads();
    if (threadIdx.x == 0) {
        out[blockIdx.x] = total;
        __threadfence();
        isLast = atomicInc(&blocksDone, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (isLast && threadIdx.x == 0) {
        int all = 0;
        for (unsigned b = 0; b < gridDim.x; ++b) {
            all += out[b];
            out[b] = 0;
        }
        out[0] = all;
        blocksDone = 0;
    }
}

int main() {
    const unsigned n = 50001, blocks = (n + 2 * kBlock - 1) / (2 * kBlock);
    std::vector<int> host(n), partial(blocks);
    int expected = 0;
    for (unsigned i = 0; i < n; ++i) expected += host[i] = static_cast<int>(i % 17) - 5;
    int *in, *out;
    CHECK(cudaMalloc(&in, n * sizeof(int)));
    CHECK(cudaMalloc(&out, blocks * sizeof(int)));
    CHECK(cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));

    const auto sum = [&] {
        CHECK(cudaMemcpy(partial.data(), out, blocks * sizeof(int), cudaMemcpyDeviceToHost));
        int result = 0;
        for (const int value : partial) result += value;
        return result;
    };
    barriers<<<blocks, kBlock>>>(in, out, n);
    EXPECT(sum() == expected);
    syncwarp<<<blocks, kBlock>>>(in, out, n);
    EXPECT(sum() == expected);
    lockstep<<<blocks, kBlock, kBlock * sizeof(int)>>>(in, out, n);
    EXPECT(sum() == expected);
    lockstepFunction<kBlock><<<blocks, kBlock>>>(in, out, n);
    EXPECT(sum() == expected);
    shuffles<<<blocks, kBlock>>>(in, out, n);
    EXPECT(sum() == expected);
    for (int repetition = 0; repetition < 3; ++repetition) {
        lastBlock<<<blocks, kBlock>>>(in, out, n);
        EXPECT(sum() == expected);
    }
    return 0;
}
