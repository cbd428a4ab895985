// What shared memory holds that no thread of a block has written: garbage, in every block anew.
#include <gmock/gmock.h>

#include "fixture.h"

namespace {

using ::testing::Each;

class SharedMemory : public EngineTest {};

constexpr int kGarbage = static_cast<int>(0xCBCBCBCB);  // emu::kUnwrittenShared in every byte

// Each thread reads what it finds, and leaves something for the next block on the same OS thread.
__device__ int found(int* element) {
    const int value = *element;
    *element = 7;
    return value;
}

__global__ void ofKernel(int* out) {
    __shared__ int tile[32], one;
    out[blockIdx.x * 32 + threadIdx.x] = found(threadIdx.x == 0 ? &one : &tile[threadIdx.x]);
}

template <class T>
__device__ T* scratch() {
    __shared__ T tile[32];
    return tile;
}

__global__ void ofFunction(int* out) {
    out[blockIdx.x * 32 + threadIdx.x] = found(&scratch<int>()[threadIdx.x]);
}

__global__ void dynamic(int* out) {
    extern __shared__ int tile[];
    out[blockIdx.x * 32 + threadIdx.x] = found(&tile[threadIdx.x]);
}

__global__ void ofVolatile(int* out) {
    __shared__ volatile int tile[32];
    out[blockIdx.x * 32 + threadIdx.x] = tile[threadIdx.x];
    tile[threadIdx.x] = 7;
}

TEST_F(SharedMemory, BeginsAsGarbageInEveryBlock) {
    const unsigned blocks = 4096;  // many for each OS thread
    Managed<int> out(blocks * 32);
    const auto expectGarbage = [&](const char* kernel) {
        ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
        EXPECT_THAT(out.values(), Each(kGarbage)) << kernel;
    };
    ofKernel<<<blocks, 32>>>(out.get());
    expectGarbage("ofKernel");
    ofFunction<<<blocks, 32>>>(out.get());
    expectGarbage("ofFunction");
    dynamic<<<blocks, 32, 32 * sizeof(int)>>>(out.get());
    expectGarbage("dynamic");
    ofVolatile<<<blocks, 32>>>(out.get());
    expectGarbage("ofVolatile");
}

__global__ void secondCall(int* out) {
    scratch<int>()[threadIdx.x] = 5;
    __syncthreads();
    out[threadIdx.x] = scratch<int>()[31 - threadIdx.x];
}

TEST_F(SharedMemory, KeepsWhatTheBlockWrote) {
    Managed<int> out(32);
    RUN(secondCall<<<1, 32>>>(out.get()));
    EXPECT_THAT(out.values(), Each(5));
}

}  // namespace
