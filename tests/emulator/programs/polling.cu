// Threads that poll what is volatile without a pointer to it: members, references, elements.
#include "expect.cuh"

constexpr int kBlocks = 16, kBlock = 64, kWarps = 5;

struct Flags {
    volatile int ready;
};
#define IS_SET(x) (*(volatile int*)&(x) != 0)

__device__ volatile int turn[2];
__device__ Flags flags;
__device__ int plain;

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wfor-loop-analysis"
__device__ void waitFor(volatile int& flag) {
    for (; flag == 0;) {
    }
}
#pragma clang diagnostic pop
__global__ void waitForReference(int* out) {
    if (blockIdx.x == gridDim.x - 1) flags.ready = 1;
    waitFor(flags.ready);
    out[blockIdx.x] = flags.ready;
}

__global__ void waitThroughCasts(int* flag, int* out) {
    if (blockIdx.x == gridDim.x - 1) {
        *(volatile int*)flag = 1;
        atomicExch(&plain, 1);
    }
    while (((volatile int*)flag)[0] == 0);
    while (!IS_SET(plain));
    out[blockIdx.x] = 1;
}

// Warps one after the other, the last one first.
__global__ void takeTurns(int* out) {
    if (threadIdx.x % 32 != 0) return;
    const int warp = threadIdx.x / 32, mine = blockDim.x / 32 - 1 - warp;
    for (int tries = 0; turn[1] != mine; ++tries) {
    }
    out[warp] = mine;
    turn[1] = mine + 1;
}

__global__ void waitForShared(int* out) {
    __shared__ volatile int grid[2][2];
    if (threadIdx.x == 0) grid[1][0] = 0;
    __syncthreads();
    if (threadIdx.x % 32 != 0) return;
    if (threadIdx.x + 32 == blockDim.x) grid[1][0] = 1;
    while (grid[1][0] == 0) {
    }
    out[threadIdx.x / 32] = grid[1][0];
}

int main() {
    int *out, *flag;
    CHECK(cudaMallocManaged(&out, kBlock * sizeof(int)));
    CHECK(cudaMalloc(&flag, sizeof(int)));
    CHECK(cudaMemset(flag, 0, sizeof(int)));
    const auto expectAll = [&](int count, int value) {
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < count; ++i) EXPECT(out[i] == value);
        CHECK(cudaMemset(out, 0, kBlock * sizeof(int)));
    };
    waitForReference<<<kBlocks, 1>>>(out);
    expectAll(kBlocks, 1);
    waitThroughCasts<<<kBlocks, 1>>>(flag, out);
    expectAll(kBlocks, 1);
    waitForShared<<<1, kWarps * 32>>>(out);
    expectAll(kWarps, 1);

    takeTurns<<<1, kWarps * 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < kWarps; ++i) EXPECT(out[i] == kWarps - 1 - i);
    return 0;
}
