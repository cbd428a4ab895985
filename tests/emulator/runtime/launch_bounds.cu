// __launch_bounds__: launches of larger blocks are refused as on a GPU (an H200 with CUDA 13.0:
// cudaErrorInvalidValue), and what asks for the kernel's limit learns of it.
#include <cuda_runtime.h>

#include "fixture.h"

// Of the whole program.
__global__ void __launch_bounds__(64) boundedForAll(int* out) {
    *out = 1;
}
template <typename T>
__global__ void __launch_bounds__(64) boundedTemplate(T* out) {
    *out = 1;
}

namespace {

#define BLOCK 96
constexpr int kHalf = BLOCK / 2;

__global__ void __launch_bounds__(BLOCK) plain(int* out) {
    *out = 1;
}
__launch_bounds__(kHalf + kHalf, 2) __global__ void before(int* out) {
    *out = 1;
}
__global__ __launch_bounds__(/* threads */ BLOCK) void between(int* out) {
    *out = 1;
}
__global__ void unbounded(int* out) {
    *out = 1;
}

// Only the declaration has them.
__global__ void __launch_bounds__(BLOCK) declaredFirst(int* out);
template <int Threads>
__global__ void __launch_bounds__(Threads) declaredTemplate(int* out);

template <typename T>
__global__ void __launch_bounds__(BLOCK) ofType(T* out) {
    *out = 1;
}
template <typename T>
__global__ void __launch_bounds__(BLOCK) deduced(T* out) {
    *out = 1;
}
template <int Threads>
__global__ void __launch_bounds__(2 * Threads) ofArguments(int* out) {
    *out = 1;
}

// Which of them a launch means is not known where the arguments tell.
__global__ void __launch_bounds__(BLOCK) overloaded(int* out) {
    *out = 1;
}
__global__ void overloaded(float* out) {
    *out = 1;
}
template <typename T>
__global__ void __launch_bounds__(16 * sizeof(T)) several(T* out) {
    *out = 1;
}

namespace inner {
template <typename T>
__global__ void __launch_bounds__(64) deduced(T* out) {
    *out = 1;
}
}  // namespace inner

class LaunchBoundsTest : public RuntimeTest {
  protected:
    int* out_ = nullptr;
    void SetUp() override {
        RuntimeTest::SetUp();
        out_ = deviceArray<int>(1);
    }

    // The largest block that `launch` can have.
    template <typename Launch>
    int largest(Launch launch) {
        int most = 0;
        for (const int threads : {32, 64, 65, 96, 97, 128, 1024}) {
            EXPECT_OK(cudaMemset(out_, 0, sizeof(int)));
            launch(threads);
            const cudaError_t error = cudaGetLastError();
            int ran = -1;
            EXPECT_OK(cudaMemcpy(&ran, out_, sizeof(int), cudaMemcpyDeviceToHost));
            EXPECT_EQ(error == cudaSuccess, ran != 0);
            if (error == cudaSuccess) {
                most = threads;
            } else {
                EXPECT_EQ(cudaErrorInvalidValue, error);
            }
        }
        return most;
    }
};

TEST_F(LaunchBoundsTest, LargerBlocksAreRefused) {
    EXPECT_EQ(96, largest([&](int n) { plain<<<1, n>>>(out_); }));
    EXPECT_EQ(96, largest([&](int n) { before<<<1, n>>>(out_); }));
    EXPECT_EQ(96, largest([&](int n) { between<<<1, n>>>(out_); }));
    EXPECT_EQ(64, largest([&](int n) { boundedForAll<<<1, n>>>(out_); }));
    EXPECT_EQ(1024, largest([&](int n) { unbounded<<<1, n>>>(out_); }));
    EXPECT_EQ(96, largest([&](int n) {
                  void* arguments[] = {&out_};
                  cudaLaunchKernel(plain, dim3(1), dim3(1, n, 1), arguments);
              }));
}

TEST_F(LaunchBoundsTest, DeclarationsCount) {
    EXPECT_EQ(96, largest([&](int n) { declaredFirst<<<1, n>>>(out_); }));
    EXPECT_EQ(64, largest([&](int n) { declaredTemplate<64><<<1, n>>>(out_); }));
}

TEST_F(LaunchBoundsTest, Templates) {
    EXPECT_EQ(96, largest([&](int n) { ofType<<<1, n>>>(out_); }));
    EXPECT_EQ(96, largest([&](int n) { deduced<int><<<1, n>>>(out_); }));
    EXPECT_EQ(64, largest([&](int n) { boundedTemplate<<<1, n>>>(out_); }));
    EXPECT_EQ(64, largest([&](int n) { boundedTemplate<int><<<1, n>>>(out_); }));
    EXPECT_EQ(64, largest([&](int n) { inner::deduced<<<1, n>>>(out_); }));
    EXPECT_EQ(64, largest([&](int n) { ofArguments<32><<<1, n>>>(out_); }));
    EXPECT_EQ(128, largest([&](int n) { ofArguments<64><<<1, n>>>(out_); }));
}

TEST_F(LaunchBoundsTest, WhereTheyAreNotKnownNothingIsRefused) {
    float* const floats = reinterpret_cast<float*>(out_);
    char* const bytes = reinterpret_cast<char*>(out_);
    EXPECT_EQ(1024, largest([&](int n) { deduced<<<1, n>>>(out_); }));
    EXPECT_EQ(1024, largest([&](int n) { overloaded<<<1, n>>>(floats); }));
    EXPECT_EQ(1024, largest([&](int n) { overloaded<<<1, n>>>(out_); }));
    EXPECT_EQ(1024, largest([&](int n) { several<<<1, n>>>(floats); }));
    EXPECT_EQ(1024, largest([&](int n) { several<<<1, n>>>(bytes); }));
    EXPECT_EQ(64, largest([&](int n) { several<float><<<1, n>>>(floats); }));
}

TEST_F(LaunchBoundsTest, AttributesTellThem) {
    cudaFuncAttributes attributes = {};
    EXPECT_OK(cudaFuncGetAttributes(&attributes, plain));
    EXPECT_EQ(96, attributes.maxThreadsPerBlock);
    EXPECT_OK(cudaFuncGetAttributes(&attributes, ofArguments<256>));
    EXPECT_EQ(512, attributes.maxThreadsPerBlock);
    EXPECT_OK(cudaFuncGetAttributes(&attributes, unbounded));
    EXPECT_EQ(1024, attributes.maxThreadsPerBlock);
}

TEST_F(LaunchBoundsTest, OccupancyRegardsThem) {
    int grid = 0, block = 0;
    EXPECT_OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, ofArguments<64>));
    EXPECT_EQ(128, block);
    EXPECT_OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, unbounded));
    EXPECT_EQ(1024, block);
    // As an H200 answers, though such a block cannot be launched.
    int blocks = 0;
    EXPECT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, ofArguments<64>, 256, 0));
    EXPECT_EQ(8, blocks);
}

__global__ void declaredFirst(int* out) {
    *out = 1;
}
template <int Threads>
__global__ void declaredTemplate(int* out) {
    *out = 1;
}

}  // namespace
