// A kernel runs beside the host. That it has failed, a call tells that waits for it: not the
// launch, and not cudaGetLastError() behind that. What is expected here an H200 with CUDA 13.0 has
// answered, where the kernel had not failed yet when the call came.
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"

namespace {

__global__ void trapKernel() {
    emu::trap();
}
__global__ void storeOne(int* out) {
    *out = 1;
}

class AsynchronousFailureTest : public RuntimeTest {
  protected:
    int host_ = 7;
    int *device_ = nullptr, *pinned_ = nullptr;
    cudaStream_t stream_ = nullptr;
    cudaEvent_t event_ = nullptr;

    void SetUp() override {
        RuntimeTest::SetUp();
        device_ = deviceArray<int>(1);
        ASSERT_OK(cudaMallocHost(&pinned_, sizeof(int)));
        *pinned_ = 7;
        stream_ = newStream();
        event_ = newEvent();
    }

    cudaError_t launch(void (*kernel)()) {
        return cudaLaunchKernel(kernel, dim3(1), dim3(1), nullptr, 0, stream_);
    }
    cudaError_t store(int* out) {
        void* arguments[] = {&out};
        return cudaLaunchKernel(&storeOne, dim3(1), dim3(1), arguments, 0, stream_);
    }
};

TEST_F(AsynchronousFailureTest, GetLastErrorBehindTheLaunchKnowsNothing) {
    EXPECT_OK(launch(&trapKernel));
    EXPECT_OK(cudaPeekAtLastError());
    EXPECT_OK(cudaGetLastError());
    EXPECT_EQ(cudaErrorLaunchFailure, cudaDeviceSynchronize());
    EXPECT_EQ(cudaErrorLaunchFailure, cudaGetLastError());
    EXPECT_OK(cudaGetLastError());
}

TEST_F(AsynchronousFailureTest, ALaunchThatIsRefusedIsKnownAtOnce) {
    EXPECT_FAILS(cudaErrorInvalidConfiguration,
                 cudaLaunchKernel(&trapKernel, dim3(1), dim3(2000), nullptr));
    EXPECT_OK(launch(&trapKernel));
    EXPECT_FAILS(cudaErrorInvalidConfiguration,
                 cudaLaunchKernel(&trapKernel, dim3(1), dim3(2000), nullptr));
}

TEST_F(AsynchronousFailureTest, EachCallThatWaitsTells) {
    float ms;
    const std::vector<std::pair<std::string, std::function<cudaError_t()>>> calls = {
        {"cudaDeviceSynchronize", [&] { return cudaDeviceSynchronize(); }},
        {"cudaStreamSynchronize", [&] { return cudaStreamSynchronize(stream_); }},
        {"another stream", [&] { return cudaStreamSynchronize(nullptr); }},
        {"cudaStreamQuery", [&] { return cudaStreamQuery(stream_); }},
        {"cudaEventSynchronize", [&] { return cudaEventSynchronize(event_); }},
        {"cudaEventQuery", [&] { return cudaEventQuery(event_); }},
        {"cudaEventElapsedTime", [&] { return cudaEventElapsedTime(&ms, event_, event_); }},
        {"cudaMemcpy", [&] { return cudaMemcpy(&host_, device_, 4, cudaMemcpyDeviceToHost); }},
        {"cudaMemcpyAsync to memory that is not page-locked",
         [&] { return cudaMemcpyAsync(&host_, device_, 4, cudaMemcpyDeviceToHost, stream_); }},
        {"cudaFree", [&] { return cudaFree(device_); }},
    };
    for (const auto& [name, call] : calls) {
        SetUp();
        EXPECT_OK(launch(&trapKernel));
        EXPECT_EQ(cudaErrorLaunchFailure, call()) << name;
        EXPECT_EQ(cudaErrorLaunchFailure, cudaGetLastError()) << name;
        EXPECT_EQ(7, host_) << name;
        // From now on all calls tell.
        EXPECT_FAILS(cudaErrorLaunchFailure, cudaMalloc(&device_, 4));
        EXPECT_FAILS(cudaErrorLaunchFailure, launch(&trapKernel));
        std::thread([] { EXPECT_EQ(cudaErrorLaunchFailure, cudaDeviceSynchronize()); }).join();
    }
}

TEST_F(AsynchronousFailureTest, CallsThatDoNotWaitGoOnAndNothingRuns) {
    int* more = nullptr;
    EXPECT_OK(launch(&trapKernel));
    EXPECT_OK(store(pinned_));
    EXPECT_OK(cudaMemsetAsync(pinned_, 0, 4, stream_));
    EXPECT_OK(cudaMemcpyAsync(device_, pinned_, 4, cudaMemcpyHostToDevice, stream_));
    EXPECT_OK(cudaEventRecord(event_, stream_));
    EXPECT_OK(
        cudaLaunchHostFunc(stream_, [](void* seen) { *static_cast<int*>(seen) = 9; }, pinned_));
    EXPECT_OK(cudaMallocAsync(&more, 4, stream_));
    EXPECT_NE(nullptr, more);
    EXPECT_OK(cudaMalloc(&more, 4));
    EXPECT_OK(cudaGetLastError());
    EXPECT_EQ(cudaErrorLaunchFailure, cudaStreamSynchronize(stream_));
    EXPECT_EQ(7, *pinned_);
}

TEST_F(AsynchronousFailureTest, AGraphIsNoDifferent) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    ASSERT_OK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
    ASSERT_OK(launch(&trapKernel));
    ASSERT_OK(store(pinned_));
    ASSERT_OK(cudaStreamEndCapture(stream_, &graph));
    ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
    EXPECT_OK(cudaGraphLaunch(exec, stream_));
    EXPECT_OK(cudaGetLastError());
    EXPECT_EQ(cudaErrorLaunchFailure, cudaStreamSynchronize(stream_));
    EXPECT_EQ(7, *pinned_);
}

TEST_F(AsynchronousFailureTest, ResetEndsIt) {
    EXPECT_OK(launch(&trapKernel));
    EXPECT_OK(cudaDeviceReset());
    EXPECT_OK(cudaDeviceSynchronize());
    SetUp();
    EXPECT_OK(store(device_));
    EXPECT_OK(cudaMemcpy(&host_, device_, 4, cudaMemcpyDeviceToHost));
    EXPECT_EQ(1, host_);
}

// The environment is read once.
TEST(LaunchBlockingTest, TellsAtOnce) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
            const cudaError_t error = cudaLaunchKernel(&trapKernel, dim3(1), dim3(1), nullptr);
            const bool known = error == cudaErrorLaunchFailure && cudaGetLastError() == error;
            std::exit(known ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}

}  // namespace
