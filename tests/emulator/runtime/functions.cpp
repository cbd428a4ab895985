// Attributes of kernels and occupancy. The expected numbers are those of the hardware that the
// device emulates: compute capability 9.0.
#include <vector>

#include "fixture.h"

namespace {

using FunctionTest = RuntimeTest;

__global__ void plain(int* out) {
    *out = 1;
}

// Attributes last as long as the program, so tests that set them have kernels of their own.
__global__ void optingIn(int* out) {
    *out = 2;
}

__global__ void withShared(float* out) {
    __shared__ float tile[1000];
    tile[threadIdx.x] = *out;
    __syncthreads();  // or the compiler would do without the array
    *out = tile[999 - threadIdx.x];
}

template <typename T, int N>
__global__ void sharedTemplate(T* out) {
    __shared__ T first[N];
    __shared__ T second;
    first[threadIdx.x] = second = *out;
    __syncthreads();
    *out = first[N - 1] + second;
}

// Its name begins like that of withShared.
__global__ void withSharedToo(float* out) {
    __shared__ float tile[10];
    tile[threadIdx.x] = *out;
    __syncthreads();
    *out = tile[9 - threadIdx.x];
}

constexpr int kOptin = 227 * 1024;

cudaFuncAttributes attributesOf(const void* kernel) {
    cudaFuncAttributes attributes = {};
    EXPECT_OK(cudaFuncGetAttributes(&attributes, kernel));
    return attributes;
}

template <typename Kernel>
int blocksPerSm(Kernel kernel, int blockSize, size_t dynamicShared) {
    int blocks = -1;
    EXPECT_OK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, blockSize, dynamicShared));
    return blocks;
}

cudaError_t launchWithShared(void (*kernel)(int*), size_t bytes) {
    int* out = nullptr;
    EXPECT_OK(cudaMalloc(&out, 4));
    void* arguments[] = {&out};
    return cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments, bytes);
}

TEST_F(FunctionTest, StaticSharedMemoryIsKnown) {
    cudaFuncAttributes attributes = {};
    EXPECT_OK(cudaFuncGetAttributes(&attributes, withShared));
    EXPECT_EQ(4000u, attributes.sharedSizeBytes);
    EXPECT_EQ(1024, attributes.maxThreadsPerBlock);
    EXPECT_EQ(90, attributes.binaryVersion);
    EXPECT_EQ(-1, attributes.preferredShmemCarveout);
    EXPECT_EQ(0, attributes.numRegs);
    EXPECT_OK(cudaFuncGetAttributes(&attributes, plain));
    EXPECT_EQ(0u, attributes.sharedSizeBytes);
    EXPECT_OK((cudaFuncGetAttributes(&attributes, sharedTemplate<double, 16>)));
    EXPECT_EQ(17 * sizeof(double), attributes.sharedSizeBytes);
    EXPECT_OK((cudaFuncGetAttributes(&attributes, sharedTemplate<int, 5>)));
    EXPECT_EQ(6 * sizeof(int), attributes.sharedSizeBytes);
    attributes = attributesOf(reinterpret_cast<const void*>(&withSharedToo));
    EXPECT_EQ(40u, attributes.sharedSizeBytes);
    EXPECT_EQ(48 * 1024 - 40, attributes.maxDynamicSharedSizeBytes);
}

TEST_F(FunctionTest, WhatIsNoKernel) {
    static int variable;
    cudaFuncAttributes attributes;
    int blocks = 0;
    EXPECT_FAILS(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&attributes, nullptr));
    EXPECT_FAILS(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&attributes, &variable));
    EXPECT_INVALID(cudaFuncGetAttributes(nullptr, plain));
    EXPECT_FAILS(cudaErrorInvalidDeviceFunction,
                 cudaFuncSetAttribute(&variable, cudaFuncAttributeMaxDynamicSharedMemorySize, 9));
    EXPECT_FAILS(cudaErrorInvalidDeviceFunction,
                 cudaFuncSetCacheConfig(nullptr, cudaFuncCachePreferL1));
    EXPECT_FAILS(cudaErrorInvalidDeviceFunction,
                 cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &variable, 64, 0));
}

TEST_F(FunctionTest, DynamicSharedMemoryNeedsOptingInAbove48K) {
    const auto attribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
    EXPECT_OK(launchWithShared(optingIn, 48 * 1024));
    EXPECT_INVALID(launchWithShared(optingIn, 48 * 1024 + 1));
    EXPECT_OK(cudaFuncSetAttribute(optingIn, attribute, kOptin));
    EXPECT_EQ(kOptin,
              attributesOf(reinterpret_cast<const void*>(&optingIn)).maxDynamicSharedSizeBytes);
    EXPECT_OK(launchWithShared(optingIn, kOptin));
    EXPECT_INVALID(launchWithShared(optingIn, kOptin + 1));
    EXPECT_INVALID(cudaFuncSetAttribute(optingIn, attribute, kOptin + 1));
    EXPECT_INVALID(cudaFuncSetAttribute(optingIn, attribute, -1));
    EXPECT_OK(cudaFuncSetAttribute(optingIn, attribute, 1000));  // lowering it counts, too
    EXPECT_INVALID(launchWithShared(optingIn, 1001));
    // Static shared memory takes its part.
    EXPECT_OK(cudaFuncSetAttribute(withShared, attribute, kOptin - 4000));
    EXPECT_INVALID(cudaFuncSetAttribute(withShared, attribute, kOptin - 3999));
}

TEST_F(FunctionTest, HintsAreCheckedAndKept) {
    const auto carveout = cudaFuncAttributePreferredSharedMemoryCarveout;
    EXPECT_OK(cudaFuncSetAttribute(plain, carveout, 50));
    EXPECT_EQ(50, attributesOf(reinterpret_cast<const void*>(&plain)).preferredShmemCarveout);
    EXPECT_OK(cudaFuncSetAttribute(plain, carveout, cudaSharedmemCarveoutDefault));
    EXPECT_INVALID(cudaFuncSetAttribute(plain, carveout, 101));
    EXPECT_INVALID(cudaFuncSetAttribute(plain, carveout, -2));
    EXPECT_INVALID(cudaFuncSetAttribute(plain, static_cast<cudaFuncAttribute>(77), 1));
    EXPECT_OK(cudaFuncSetCacheConfig(plain, cudaFuncCachePreferL1));
    EXPECT_INVALID(cudaFuncSetCacheConfig(plain, static_cast<cudaFuncCache>(9)));
}

TEST_F(FunctionTest, OccupancyErrors) {
    int blocks = 0;
    EXPECT_EQ(0, blocksPerSm(plain, 1025, 0));
    EXPECT_EQ(0, blocksPerSm(plain, 64, 48 * 1024 + 1));  // not opted in
    EXPECT_EQ(8, blocksPerSm(reinterpret_cast<const void*>(&plain), 256, 0));
    EXPECT_INVALID(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 0, 0));
    EXPECT_INVALID(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, -1, 0));
    EXPECT_INVALID(cudaOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, plain, 64, 0));
    EXPECT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        &blocks, plain, 64, 0, cudaOccupancyDisableCachingOverride));
    EXPECT_INVALID(
        cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, plain, 64, 0, 2));
}

TEST_F(FunctionTest, BestBlockSize) {
    cudaDeviceProp prop;
    int grid = 0, block = 0;
    ASSERT_OK(cudaGetDeviceProperties(&prop, 0));
    EXPECT_OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain));
    EXPECT_EQ(1024, block);
    EXPECT_EQ(2 * prop.multiProcessorCount, grid);
    EXPECT_OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 100));
    EXPECT_EQ(64, block);  // 32 blocks of it; of 100 threads, 16
    EXPECT_EQ(32 * prop.multiProcessorCount, grid);
    EXPECT_OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain, 300000, 0));
    EXPECT_EQ(0, block);
    EXPECT_EQ(0, grid);
    // 64 bytes for each thread: three blocks of 640 threads beat two of 768.
    const auto sharedOf = [](int size) { return static_cast<size_t>(size) * 64; };
    EXPECT_OK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, plain, sharedOf));
    const int threads = block * grid / prop.multiProcessorCount;
    for (int size = 32; size <= 1024; size += 32) {
        EXPECT_LE(size * blocksPerSm(plain, size, sharedOf(size)), threads) << size;
    }
    EXPECT_EQ(cudaErrorInvalidValue, cudaOccupancyMaxPotentialBlockSize(nullptr, &block, plain));
}

TEST_F(FunctionTest, AvailableDynamicSharedMemoryIsEnoughForThatManyBlocks) {
    ASSERT_OK(cudaFuncSetAttribute(withShared, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   kOptin - 4000));
    size_t bytes = 0;
    for (int blocks : {1, 2, 3, 8, 16, 32}) {
        ASSERT_OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, withShared, blocks, 64));
        EXPECT_EQ(blocks, blocksPerSm(withShared, 64, bytes)) << bytes;
    }
    ASSERT_OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, withSharedToo, 1, 64));
    EXPECT_EQ(48u * 1024 - 40, bytes);  // not opted in to more
    EXPECT_INVALID(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, withShared, 0, 64));
    EXPECT_INVALID(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, withShared, 3, 1024));
    EXPECT_INVALID(cudaOccupancyAvailableDynamicSMemPerBlock(nullptr, withShared, 1, 64));
}

}  // namespace
