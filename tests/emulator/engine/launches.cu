// Launches: shapes, limits and arguments.
#include <gmock/gmock.h>

#include "fixture.h"

namespace {

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

}  // namespace
