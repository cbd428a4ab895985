// Launches: shapes, limits, templates, argument passing and spinning across blocks.
#include <gmock/gmock.h>

#include "fixture.h"

using ::testing::Each;

class Launches : public EngineTest {};

__global__ void countThreads(unsigned long long* count) {
    atomicAdd(count, 1ull);
}

TEST_F(Launches, EveryThreadRunsOnce) {
    const std::vector<std::pair<dim3, dim3>> shapes = {{1, 1},
                                                       {1000, 1},
                                                       {1, 1024},
                                                       {100000, 3},
                                                       {dim3(3, 4, 5), dim3(7, 3, 2)},
                                                       {dim3(1, 65535), 1},
                                                       {dim3(1, 1, 65535), 1},
                                                       {2, dim3(1, 1024)},
                                                       {2, dim3(1, 16, 64)}};
    for (const auto& shape : shapes) {
        Managed<unsigned long long> count(1);
        RUN(countThreads<<<shape.first, shape.second>>>(count.get()));
        const dim3 g = shape.first, b = shape.second;
        ASSERT_EQ(1ull * g.x * g.y * g.z * b.x * b.y * b.z, count[0]);
    }
}

__global__ void coordinates(uint3* out) {
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const unsigned at = block * (blockDim.x * blockDim.y * blockDim.z) + thread;
    out[at] =
        make_uint3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                   blockIdx.z * blockDim.z + threadIdx.z);
}

TEST_F(Launches, ThreeDimensions) {
    const dim3 grid(2, 3, 4), block(5, 2, 3);
    Managed<uint3> out(24 * 30);
    RUN(coordinates<<<grid, block>>>(out.get()));
    for (unsigned i = 0; i < out.size(); ++i) {
        const unsigned b = i / 30, t = i % 30;
        ASSERT_EQ(b % 2 * 5 + t % 5, out[i].x);
        ASSERT_EQ(b / 2 % 3 * 2 + t / 5 % 2, out[i].y);
        ASSERT_EQ(b / 6 * 3 + t / 10, out[i].z);
    }
}

TEST_F(Launches, BadConfigurationsAreErrors) {
    Managed<unsigned long long> count(1);
    const auto launchError = [&](dim3 grid, dim3 block, size_t shared) {
        countThreads<<<grid, block, shared>>>(count.get());
        return cudaGetLastError();
    };
    EXPECT_EQ(cudaErrorInvalidConfiguration, launchError(1, 1025, 0));
    EXPECT_EQ(cudaErrorInvalidConfiguration, launchError(1, dim3(33, 32), 0));
    EXPECT_EQ(cudaErrorInvalidConfiguration, launchError(1, dim3(1, 1, 65), 0));
    EXPECT_EQ(cudaErrorInvalidConfiguration, launchError(1, 0, 0));
    EXPECT_EQ(cudaErrorInvalidConfiguration, launchError(0, 1, 0));
    EXPECT_EQ(cudaErrorInvalidConfiguration, launchError(2147483648u, 1, 0));
    EXPECT_EQ(cudaErrorInvalidConfiguration, launchError(dim3(1, 65536), 1, 0));
    EXPECT_EQ(cudaErrorInvalidConfiguration, launchError(dim3(1, 1, 65536), 1, 0));
    EXPECT_EQ(cudaErrorInvalidValue, launchError(1, 1, 48 * 1024 + 1));
    EXPECT_EQ(cudaSuccess, launchError(1, 1, 48 * 1024)) << "a bad configuration is not sticky";
    EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(1u, count[0]);
}

__global__ void fillShared(int* out, int n) {
    extern __shared__ int big[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) big[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) out[0] = big[n - 1] + big[n / 2];
}

TEST_F(Launches, LargeSharedMemoryNeedsOptingIn) {
    Managed<int> out(1);
    const int n = 200 * 1024 / 4;
    fillShared<<<1, 128, n * 4>>>(out.get(), n);
    EXPECT_EQ(cudaErrorInvalidValue, cudaGetLastError());
    ASSERT_EQ(cudaSuccess,
              cudaFuncSetAttribute(fillShared, cudaFuncAttributeMaxDynamicSharedMemorySize, n * 4));
    fillShared<<<1, 128, n * 4>>>(out.get(), n);
    ASSERT_EQ(cudaSuccess, cudaGetLastError());
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(n - 1 + n / 2, out[0]);
    EXPECT_EQ(
        cudaErrorInvalidValue,
        cudaFuncSetAttribute(fillShared, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 * 1024));
    cudaGetLastError();
}

struct Big {
    int values[100];
};

__global__ void byValue(Big big, int* out) {
    big.values[threadIdx.x] += 1;  // changes this thread's copy alone
    __syncthreads();
    out[threadIdx.x] = big.values[threadIdx.x] + big.values[(threadIdx.x + 1) % 100];
}

TEST_F(Launches, ArgumentsAreCopiedPerThread) {
    Big big{};
    Managed<int> out(100);
    RUN(byValue<<<1, 100>>>(big, out.get()));
    ASSERT_THAT(out.values(), Each(1));
}

// Each block waits for the block before it, as in a single-pass scan.
__global__ void chain(int* done) {
    if (threadIdx.x == 0) {
        if (blockIdx.x > 0) {
            while (atomicAdd(&done[blockIdx.x - 1], 0) == 0) {
            }
        }
        atomicExch(&done[blockIdx.x], 1);
    }
}

TEST_F(Launches, BlocksMayWaitForEarlierBlocks) {
    Managed<int> done(3000);
    RUN(chain<<<3000, 32>>>(done.get()));
    EXPECT_THAT(done.values(), Each(1));
}

__shared__ int fileScope[64];
extern __shared__ float dynamicFileScope[];

__global__ void fileScopeShared(float* out) {
    fileScope[threadIdx.x] = threadIdx.x;
    dynamicFileScope[threadIdx.x] = 0.5f;
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] =
        fileScope[63 - threadIdx.x] + dynamicFileScope[(threadIdx.x + 1) % 64];
}

TEST_F(Launches, SharedMemoryAtFileScope) {
    Managed<float> out(50 * 64);
    RUN(fileScopeShared<<<50, 64, 64 * sizeof(float)>>>(out.get()));
    for (int i = 0; i < 50 * 64; ++i) ASSERT_EQ(63 - i % 64 + 0.5f, out[i]);
}
