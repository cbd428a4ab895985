// cudaLaunchKernelEx(): launches with attributes.
#include <cooperative_groups.h>

#include "fixture.h"

namespace {

using LaunchTest = RuntimeTest;

__global__ void add(int* out, long value, bool wholeGrid) {
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
    if (cooperative_groups::this_grid().is_valid() == wholeGrid && threadIdx.x == 0) {
        *out += static_cast<int>(value);
    }
}

cudaLaunchAttribute attribute(cudaLaunchAttributeID id, int value) {
    cudaLaunchAttribute result = {};
    result.id = id;
    result.val.cooperative = value;
    return result;
}

TEST_F(LaunchTest, AttributesOfALaunch) {
    int* const out = deviceArray<int>(1);
    ASSERT_OK(cudaMemset(out, 0, 4));
    cudaLaunchConfig_t config = {};
    config.gridDim = 1;
    config.blockDim = 32;
    EXPECT_OK(cudaLaunchKernelEx(&config, add, out, 1, false));  // 1 becomes a long

    // In the order of the stream, whatever may begin early
    cudaLaunchAttribute attributes[] = {
        attribute(cudaLaunchAttributeProgrammaticStreamSerialization, 1),
        attribute(cudaLaunchAttributePriority, -5), attribute(cudaLaunchAttributeIgnore, 0)};
    config.attrs = attributes;
    config.numAttrs = 3;
    EXPECT_OK(cudaLaunchKernelEx(&config, add, out, 10, false));

    attributes[0] = attribute(cudaLaunchAttributeCooperative, 1);
    EXPECT_OK(cudaLaunchKernelEx(&config, add, out, 100, true));
    attributes[0].val.cooperative = 0;
    EXPECT_OK(cudaLaunchKernelEx(&config, add, out, 1000, false));
    int sum = 0;
    EXPECT_OK(cudaMemcpy(&sum, out, 4, cudaMemcpyDeviceToHost));
    EXPECT_EQ(1111, sum);
}

TEST_F(LaunchTest, WhatIsRefused) {
    int* const out = deviceArray<int>(1);
    cudaLaunchAttribute cluster = attribute(static_cast<cudaLaunchAttributeID>(4), 2);
    cudaLaunchConfig_t config = {};
    config.attrs = &cluster;
    config.numAttrs = 1;
    EXPECT_FAILS(cudaErrorNotSupported, cudaLaunchKernelEx(&config, add, out, 1, false));
    config.attrs = nullptr;
    EXPECT_INVALID(cudaLaunchKernelEx(&config, add, out, 1, false));
    config.numAttrs = 0;
    config.blockDim = 1025;
    EXPECT_FAILS(cudaErrorInvalidConfiguration, cudaLaunchKernelEx(&config, add, out, 1, false));
    EXPECT_INVALID(
        cudaLaunchKernelEx(static_cast<cudaLaunchConfig_t*>(nullptr), add, out, 1, false));
}

}  // namespace
