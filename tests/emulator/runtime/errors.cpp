#include <string>
#include <thread>

#include "fixture.h"

namespace {

using ErrorTest = RuntimeTest;

__global__ void trapKernel() {
    emu::trap();
}
__global__ void emptyKernel() {}

cudaError_t launch(void (*kernel)()) {
    return cudaLaunchKernel(kernel, dim3(1), dim3(1), nullptr);
}

TEST_F(ErrorTest, NamesAndTextsAreCudas) {
    EXPECT_STREQ("cudaSuccess", cudaGetErrorName(cudaSuccess));
    EXPECT_STREQ("no error", cudaGetErrorString(cudaSuccess));
    EXPECT_STREQ("cudaErrorIllegalAddress", cudaGetErrorName(cudaErrorIllegalAddress));
    EXPECT_STREQ("an illegal memory access was encountered",
                 cudaGetErrorString(cudaErrorIllegalAddress));
    EXPECT_STREQ("unrecognized error code", cudaGetErrorName(static_cast<cudaError_t>(11)));
    EXPECT_STREQ("unrecognized error code", cudaGetErrorString(static_cast<cudaError_t>(123456)));
    EXPECT_STREQ("unrecognized error code", cudaGetErrorString(static_cast<cudaError_t>(-1)));
}

TEST_F(ErrorTest, LastErrorStaysUntilItIsRead) {
    EXPECT_EQ(cudaErrorInvalidDevice, cudaSetDevice(99));
    EXPECT_OK(cudaSetDevice(0));  // success does not clear it
    EXPECT_EQ(cudaErrorInvalidDevice, cudaPeekAtLastError());
    EXPECT_EQ(cudaErrorInvalidDevice, cudaGetLastError());
    EXPECT_EQ(cudaSuccess, cudaPeekAtLastError());
}

TEST_F(ErrorTest, EveryThreadHasItsOwnLastError) {
    cudaSetDevice(99);
    std::thread([] { EXPECT_EQ(cudaSuccess, cudaGetLastError()); }).join();
    EXPECT_EQ(cudaErrorInvalidDevice, cudaGetLastError());
}

TEST_F(ErrorTest, FailedKernelSpoilsTheDeviceUntilReset) {
    int host = 0;
    int* device = deviceArray<int>(1);
    cudaEvent_t event;
    const cudaStream_t stream = newStream();
    launch(&trapKernel);
    EXPECT_EQ(cudaErrorLaunchFailure, cudaDeviceSynchronize());
    cudaGetLastError();

    EXPECT_FAILS(cudaErrorLaunchFailure, cudaMalloc(&device, 4));
    EXPECT_FAILS(cudaErrorLaunchFailure, cudaMemcpy(&host, device, 4, cudaMemcpyDeviceToHost));
    EXPECT_FAILS(cudaErrorLaunchFailure, cudaFree(device));
    EXPECT_FAILS(cudaErrorLaunchFailure, cudaStreamSynchronize(stream));
    EXPECT_FAILS(cudaErrorLaunchFailure, cudaEventCreate(&event));
    EXPECT_FAILS(cudaErrorLaunchFailure, launch(&emptyKernel));
    std::thread([] { EXPECT_EQ(cudaErrorLaunchFailure, cudaDeviceSynchronize()); }).join();

    // Questions about the device are still answered.
    int count = 0;
    cudaDeviceProp prop;
    EXPECT_OK(cudaGetDeviceCount(&count));
    EXPECT_OK(cudaGetDeviceProperties(&prop, 0));
    EXPECT_OK(cudaSetDevice(0));
    EXPECT_STREQ("unspecified launch failure", cudaGetErrorString(cudaErrorLaunchFailure));

    EXPECT_OK(cudaDeviceReset());
    EXPECT_OK(cudaGetLastError());
    EXPECT_OK(launch(&emptyKernel));
    EXPECT_OK(cudaMalloc(&device, 4));
}

void tryApi(void* result) {
    int* pointer = nullptr;
    auto* errors = static_cast<cudaError_t*>(result);
    errors[0] = cudaMalloc(&pointer, 4);
    errors[1] = cudaStreamSynchronize(nullptr);
    errors[2] = launch(&emptyKernel);
    errors[3] = cudaDeviceReset();
    errors[4] = cudaSetDevice(0);
    errors[5] = cudaGetLastError();
    EXPECT_OK(cudaGetLastError());
    cudaSetDevice(0);
}

// CUDA forbids its API to host functions in streams. Here, where the stream is locked meanwhile, a
// call that went through would never return.
TEST_F(ErrorTest, HostFunctionsMayNotCallTheApi) {
    cudaError_t errors[6] = {};
    EXPECT_OK(cudaLaunchHostFunc(nullptr, &tryApi, errors));
    for (const cudaError_t error : errors) EXPECT_EQ(cudaErrorNotPermitted, error);
    // Their thread is another one: its last error is none of the caller's, and stays with it.
    EXPECT_OK(cudaGetLastError());
    cudaError_t last = cudaSuccess;
    EXPECT_OK(cudaLaunchHostFunc(
        nullptr, [](void* e) { *static_cast<cudaError_t*>(e) = cudaGetLastError(); }, &last));
    EXPECT_EQ(cudaErrorNotPermitted, last);
    EXPECT_OK(launch(&emptyKernel));  // and only to them
}

}  // namespace
