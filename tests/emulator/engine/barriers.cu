// Block barriers: what they order, who takes part, and what happens when they cannot complete.
#include <gmock/gmock.h>

#include "fixture.h"

namespace {

using ::testing::Each;
using ::testing::HasSubstr;

class Barriers : public EngineTest {};

__global__ void reverseBlock(int* data) {
    extern __shared__ int tile[];
    const unsigned n = blockDim.x * blockDim.y * blockDim.z;
    const unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int* mine = data + (size_t)n * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
    tile[t] = mine[t];
    __syncthreads();
    mine[t] = tile[n - 1 - t];
}

void checkReverse(dim3 grid, dim3 block) {
    const size_t threads = block.x * block.y * block.z, blocks = (size_t)grid.x * grid.y * grid.z;
    Managed<int> data(threads * blocks);
    for (size_t i = 0; i < data.size(); ++i) data[i] = (int)i;
    RUN(reverseBlock<<<grid, block, threads * sizeof(int)>>>(data.get()));
    for (size_t b = 0; b < blocks; ++b) {
        for (size_t t = 0; t < threads; ++t) {
            ASSERT_EQ((int)(b * threads + threads - 1 - t), data[b * threads + t])
                << "block " << b << " thread " << t;
        }
    }
}

TEST_F(Barriers, OrderSharedMemory) {
    checkReverse(1, 1);
    checkReverse(1, 31);
    checkReverse(3, 33);
    checkReverse(1000, 64);
    checkReverse(2, 1024);
    checkReverse(dim3(3, 2, 2), dim3(4, 5, 6));
    checkReverse(dim3(1, 7), dim3(1, 16, 2));
}

__global__ void lastThreadsLeaveFirst(int* out) {
    if (threadIdx.x >= 10) return;
    __syncthreads();
    out[threadIdx.x] = 1;
}

TEST_F(Barriers, NoteThreadsThatEndedOnceForEachBarrier) {
    Managed<int> out(64);
    ::testing::internal::CaptureStderr();
    lastThreadsLeaveFirst<<<1, 64>>>(out.get());
    lastThreadsLeaveFirst<<<1, 64>>>(out.get());
    const std::string text = ::testing::internal::GetCapturedStderr();
    const size_t first = text.find("54 threads ended without reaching the __syncthreads() at ");
    ASSERT_NE(std::string::npos, first) << text;
    EXPECT_EQ(std::string::npos, text.find("threads ended", first + 20)) << text;
    EXPECT_THAT(text, HasSubstr("lastThreadsLeaveFirst"));
    EXPECT_THAT(text, HasSubstr("barriers.cu:"));
}

constexpr int kLineOfTwoBarriers = __LINE__ + 1;
__global__ void twoBarriers(int* out) {
    if (threadIdx.x % 2 == 0) {
        __syncthreads();
    } else {
        __syncthreads();
        out[threadIdx.x] = 1;
    }
}

TEST_F(Barriers, InDivergentCodeAreReported) {
    Managed<int> out(64);
    const std::string text =
        failure(cudaErrorLaunchFailure, [&] { twoBarriers<<<1, 64>>>(out.get()); });
    EXPECT_THAT(text, HasSubstr("kernel twoBarriers, block (0,0,0), thread (1,0,0)"));
    EXPECT_THAT(text, HasSubstr("barrier in divergent code"));
    EXPECT_THAT(text, HasSubstr("barriers.cu:" + std::to_string(kLineOfTwoBarriers + 2)));
    EXPECT_THAT(text, HasSubstr("barriers.cu:" + std::to_string(kLineOfTwoBarriers + 4)));
}

__global__ void neverAllThere(int* out) {
    if (threadIdx.x < 40) {
        __syncthreads();
    } else {
        __syncwarp();
    }
    out[threadIdx.x] = 1;
}

TEST_F(Barriers, ThatSomeThreadsNeverReachAreReported) {
    Managed<int> out(64);
    const std::string text =
        failure(cudaErrorLaunchFailure, [&] { neverAllThere<<<3, 64>>>(out.get()); });
    EXPECT_THAT(text, HasSubstr("kernel neverAllThere, block ("));
    EXPECT_THAT(text, HasSubstr("deadlock"));
    EXPECT_THAT(text, HasSubstr("thread (0,0,0) waits at __syncthreads() at"));
    EXPECT_THAT(text, HasSubstr("thread (40,0,0) waits at __syncwarp() at"));
    EXPECT_THAT(text, HasSubstr("for the lanes 0x000000ff"));
    EXPECT_THAT(text, HasSubstr("a warp function needs all lanes that its mask names"));
    EXPECT_THAT(out.values(), Each(0));
}

TEST_F(Barriers, EngineWorksOnAfterADeadlock) {
    Managed<int> out(64);
    failure(cudaErrorLaunchFailure, [&] { neverAllThere<<<3, 64>>>(out.get()); });
    lastThreadsLeaveFirst<<<1, 64>>>(out.get());
    EXPECT_EQ(cudaErrorLaunchFailure, cudaGetLastError())
        << "the context is lost until it is reset";
    cudaDeviceReset();
    checkReverse(20, 128);
}

}  // namespace
