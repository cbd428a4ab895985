// malloc(), free(), new and delete of kernels that are wrong: the kernel ends, or harms nobody.
#include <gmock/gmock.h>

#include <cstdlib>
#include <new>

#include "fixture.h"

namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class KernelHeap : public EngineTest {};

constexpr int kBlocks = 40;  // of more than one multiprocessor

__device__ int* volatile kept[kBlocks];

__global__ void allocate(size_t bytes) {
    kept[blockIdx.x] = static_cast<int*>(malloc(bytes));
}
__global__ void release(int offset) {
    free(kept[blockIdx.x] + offset);
}

// (Of several blocks any may be the first to fail.)
TEST_F(KernelHeap, FreedTwice) {
    allocate<<<kBlocks, 1>>>(64);
    RUN(release<<<kBlocks, 1>>>(0));
    EXPECT_THAT(failure(cudaErrorLaunchFailure, [] { release<<<kBlocks, 1>>>(0); }),
                ContainsRegex("kernel release, block .[0-9]+,0,0., thread .0,0,0.: "
                              "free.. or delete of 0x.*freed before"));
}

TEST_F(KernelHeap, InsideOfABlock) {
    allocate<<<kBlocks, 1>>>(64);
    EXPECT_THAT(failure(cudaErrorLaunchFailure, [] { release<<<kBlocks, 1>>>(2); }),
                HasSubstr("which lies 8 bytes behind the start of a block of 64 bytes"));
}

__global__ void runOver(int count) {
    int* const memory = static_cast<int*>(malloc(64));
    for (int i = -count; i < count; ++i) reinterpret_cast<volatile int*>(memory)[i] = -1;
    free(memory);
}
__global__ void useAfterFree() {
    int* volatile memory = static_cast<int*>(malloc(256));
    free(memory);
    for (int i = 0; i < 64; ++i) memory[i] = -1;
}

// Neither the heap nor its book-keeping is spoilt.
TEST_F(KernelHeap, OverrunsHarmNobody) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "AddressSanitizer reports this itself and ends the program";
#endif
    allocate<<<kBlocks, 1>>>(4096);
    runOver<<<kBlocks, 64>>>(32);
    useAfterFree<<<kBlocks, 64>>>();
    allocate<<<kBlocks, 1>>>(4096);
    runOver<<<kBlocks, 64>>>(32);
    release<<<kBlocks, 1>>>(0);
    EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
}

__global__ void takeAll(unsigned long long* taken, size_t bytes) {
    void* volatile block;  // clang++ would leave out what nobody uses
    while ((block = malloc(bytes)) != nullptr) atomicAdd(taken, bytes);
}

TEST_F(KernelHeap, LimitIsItsSize) {
    Managed<unsigned long long> taken(2);
    const size_t limit = size_t{3} << 20;
    ASSERT_EQ(cudaSuccess, cudaDeviceSetLimit(cudaLimitMallocHeapSize, limit));
    RUN(takeAll<<<4, 32>>>(taken.get(), 1024));
    EXPECT_EQ(limit, taken[0]);
    EXPECT_EQ(cudaErrorInvalidValue, cudaDeviceSetLimit(cudaLimitMallocHeapSize, limit));
    cudaDeviceReset();
    Managed<unsigned long long> after(1);
    RUN(takeAll<<<4, 32>>>(after.get(), 1024));
    EXPECT_EQ(size_t{8} << 20, after[0]);
}

__global__ void takeAllTwice(int* blocks) {
    for (int round = 0; round < 2; ++round) {
        void** last = nullptr;
        while (auto* const link = static_cast<void**>(malloc(65520))) {
            *link = last;
            last = link;
            ++blocks[round];
        }
        while (last != nullptr) {
            auto* const next = static_cast<void**>(*last);
            free(last);
            last = next;
        }
    }
}

TEST_F(KernelHeap, WhatIsFreedCanBeTakenAgain) {
    Managed<int> blocks(2);
    RUN(takeAllTwice<<<1, 1>>>(blocks.get()));
    EXPECT_GT(blocks[0], 100);
    EXPECT_EQ(blocks[0], blocks[1]);
}

struct Made {
    int value = 1;
};
__global__ void make(int* failed, int count) {
    Made* const made = new Made[count];
    if (made == nullptr) *failed = 1;
}

TEST_F(KernelHeap, NewGivesNullWhereNothingIsLeft) {
    ASSERT_EQ(cudaSuccess, cudaDeviceSetLimit(cudaLimitMallocHeapSize, 0));
    Managed<int> failed(1);
    RUN(make<<<1, 1>>>(failed.get(), 3));
    EXPECT_EQ(1, failed[0]);
}

TEST_F(KernelHeap, MoreThanTheHostHas) {
    EXPECT_EQ(cudaErrorMemoryAllocation,
              cudaDeviceSetLimit(cudaLimitMallocHeapSize, size_t{1} << 60));
}

TEST_F(KernelHeap, HostCannotFree) {
    const auto freeOnHost = [] {
        allocate<<<1, 1>>>(64);
        int* memory = nullptr;
        cudaMemcpyFromSymbol(&memory, kept, sizeof(memory));
        free(memory);
    };
    EXPECT_DEATH(freeOnHost(), "only a kernel can free");
}

}  // namespace
