// Launches: shapes, limits, templates, argument passing, atomics and spinning across blocks.
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
        countThreads<<<shape.first, shape.second>>>(count.get());
        ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
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
    coordinates<<<grid, block>>>(out.get());
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
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

template <typename T, int Scale>
__global__ void scale(T* data, T by) {
    data[threadIdx.x] = by * Scale;
    by = 0;  // a thread's own copy
}

template <typename T>
__global__ void deduced(T* out, const T* in) {
    out[threadIdx.x] = in == nullptr ? T(-1) : in[threadIdx.x];
}

__global__ void overloaded(int* out) {
    out[0] = 1;
}
__global__ void overloaded(float* out) {
    out[0] = 2;
}

template <typename T>
void launchFromTemplate(T* data) {
    scale<T, 3><<<1, 8>>>(data, T(2));
}

#define CHECKED(...)                                \
    do {                                            \
        __VA_ARGS__;                                \
        ASSERT_EQ(cudaSuccess, cudaGetLastError()); \
    } while (0)

TEST_F(Launches, TemplatesOverloadsAndMacros) {
    Managed<float> f(8);
    launchFromTemplate(f.get());
    ASSERT_THAT(f.values(), Each(6.0f));
    Managed<int> i(8);
    CHECKED(scale < int, (4 > 3) ? 5 : 1 > <<<1, 8>>>(i.get(), 2));
    ASSERT_THAT(i.values(), Each(10));
    CHECKED(deduced<<<1, 8>>>(i.get(), (const int*)NULL));
    ASSERT_THAT(i.values(), Each(-1));
    overloaded<<<1, 1>>>(i.get());
    overloaded<<<1, 1>>>(f.get());
    ASSERT_EQ(1, i[0]);
    ASSERT_EQ(2.0f, f[0]);
    void (*table[])(float*, float) = {scale<float, 1>, scale<float, 7>};
    table[1]<<<1,  // a comment
               8>>>(f.get(), 1.0f);
    ASSERT_THAT(f.values(), Each(7.0f));
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
    byValue<<<1, 100>>>(big, out.get());
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    ASSERT_THAT(out.values(), Each(1));
}

__global__ void allAtomics(int* i, unsigned* u, float* f, double* d, unsigned long long* l) {
    atomicAdd(&i[0], 1);
    atomicSub(&i[1], 1);
    atomicMax(&i[2], (int)(blockIdx.x * blockDim.x + threadIdx.x));
    atomicMin(&i[3], -(int)threadIdx.x);
    atomicInc(&u[0], 6);
    atomicXor(&u[1], 1u << threadIdx.x % 32);
    atomicAdd(f, 1.0f);
    atomicAdd(d, 0.5);
    atomicAdd(l, 1ull << 33);
}

TEST_F(Launches, AtomicsUnderContentionAcrossBlocks) {
    const int blocks = 400, threads = 128, n = blocks * threads;
    Managed<int> i(4);
    Managed<unsigned> u(2);
    Managed<float> f(1);
    Managed<double> d(1);
    Managed<unsigned long long> l(1);
    allAtomics<<<blocks, threads>>>(i.get(), u.get(), f.get(), d.get(), l.get());
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(n, i[0]);
    EXPECT_EQ(-n, i[1]);
    EXPECT_EQ(n - 1, i[2]);
    EXPECT_EQ(-(threads - 1), i[3]);
    EXPECT_EQ((unsigned)(n % 7), u[0]);
    EXPECT_EQ(0u, u[1]);
    EXPECT_EQ((float)n, f[0]);
    EXPECT_EQ(0.5 * n, d[0]);
    EXPECT_EQ((unsigned long long)n << 33, l[0]);
}

__device__ int lockWord;

__global__ void locked(int* counter) {
    while (atomicCAS(&lockWord, 0, 1) != 0) {
    }
    __threadfence();
    *(volatile int*)counter = *(volatile int*)counter + 1;
    __threadfence();
    atomicExch(&lockWord, 0);
}

// (Few threads: where other processes want the cores, each waits for seconds whenever the one with
// the lock does not run.)
TEST_F(Launches, Spinlock) {
    Managed<int> counter(1);
    locked<<<6, 40>>>(counter.get());
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(240, counter[0]);
}

// Thread 0 waits for the last thread of its own block: threads make progress independently.
__global__ void handOver(int* out) {
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        while (atomicAdd(&flag, 0) == 0) {
        }
        out[blockIdx.x] = 1;
    } else if (threadIdx.x == blockDim.x - 1) {
        atomicExch(&flag, 1);
    }
}

TEST_F(Launches, PollingThreadsLetOthersRun) {
    Managed<int> out(10);
    handOver<<<10, 64>>>(out.get());
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_THAT(out.values(), Each(1));
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
    chain<<<3000, 32>>>(done.get());
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
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
    fileScopeShared<<<50, 64, 64 * sizeof(float)>>>(out.get());
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    for (int i = 0; i < 50 * 64; ++i) ASSERT_EQ(63 - i % 64 + 0.5f, out[i]);
}
