// The part of the API that kernels may call.
#include <string>

#include "fixture.h"

namespace {

struct Outcome {
    cudaError_t error[12];
    int number[4];
    int* pointer;
};

class DeviceSideTest : public RuntimeTest {
  protected:
    // Runs `kernel` in one CUDA thread.
    Outcome run(void (*kernel)(Outcome*, int*), int* argument = nullptr) {
        Outcome* outcome = nullptr;
        EXPECT_OK(cudaMallocManaged(&outcome, sizeof(Outcome)));
        *outcome = {};
        void* arguments[] = {&outcome, &argument};
        launched_ = cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments);
        return *outcome;
    }

    // Runs a kernel that fails; returns what was printed to stderr.
    std::string failure(void (*kernel)(Outcome*, int*), int* argument = nullptr) {
        testing::internal::CaptureStderr();
        EXPECT_EQ(0, run(kernel, argument).number[0]) << "it went on";
        EXPECT_NE(cudaSuccess, cudaDeviceSynchronize());
        return testing::internal::GetCapturedStderr();
    }

    cudaError_t launched_ = cudaSuccess;
};

__global__ void queries(Outcome* out, int*) {
    out->error[0] = cudaGetDevice(&out->number[0]);
    out->error[1] = cudaDeviceGetAttribute(&out->number[1], cudaDevAttrWarpSize, 0);
    out->error[2] = cudaGetDeviceCount(&out->number[2]);
    out->error[3] = cudaRuntimeGetVersion(&out->number[3]);
}

TEST_F(DeviceSideTest, Queries) {
    const Outcome out = run(queries);
    EXPECT_OK(launched_);
    for (const cudaError_t error : out.error) EXPECT_EQ(cudaSuccess, error);
    EXPECT_EQ(0, out.number[0]);
    EXPECT_EQ(32, out.number[1]);
    EXPECT_EQ(1, out.number[2]);
    EXPECT_EQ(CUDART_VERSION, out.number[3]);
}

__global__ void makeErrors(Outcome* out, int*) {
    out->error[0] = cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0);
    out->error[1] = cudaPeekAtLastError();
    out->error[2] = cudaGetLastError();
    out->error[3] = cudaGetLastError();
    out->number[0] = cudaGetErrorString(out->error[0])[0];
    cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0);  // nobody asks for this error
}

TEST_F(DeviceSideTest, ErrorsAreThoseOfTheCudaThread) {
    const Outcome out = run(makeErrors);
    EXPECT_OK(launched_);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(cudaErrorInvalidValue, out.error[i]) << i;
    EXPECT_EQ(cudaSuccess, out.error[3]);
    EXPECT_EQ('i', out.number[0]);
    EXPECT_OK(cudaGetLastError());  // not the host's business
}

__global__ void askLastError(Outcome* out, int*) {
    out->error[0] = cudaPeekAtLastError();
}

TEST_F(DeviceSideTest, AnErrorEndsWithItsLaunch) {
    run(makeErrors);
    EXPECT_EQ(cudaSuccess, run(askLastError).error[0]);
}

__global__ void allocate(Outcome* out, int* ofHost) {
    int* pointer = nullptr;
    out->error[0] = cudaMalloc(&pointer, 40);
    pointer[9] = 5;
    out->error[1] = cudaFree(pointer);
    out->error[2] = cudaFree(pointer);  // twice
    out->error[3] = cudaFree(ofHost);   // of the host's heap
    out->error[4] = cudaMalloc(&pointer, size_t{1} << 50);
    out->error[5] = cudaMalloc(&out->pointer, 4);
    *out->pointer = 77;
}

TEST_F(DeviceSideTest, TheHeapsOfHostAndKernelsAreApart) {
    int host = 0, *ofHost = deviceArray<int>(1);
    const Outcome out = run(allocate, ofHost);
    EXPECT_OK(launched_);
    EXPECT_EQ(cudaSuccess, out.error[0]);
    EXPECT_EQ(cudaSuccess, out.error[1]);
    EXPECT_EQ(cudaErrorInvalidValue, out.error[2]);
    EXPECT_EQ(cudaErrorInvalidValue, out.error[3]);
    EXPECT_EQ(cudaErrorMemoryAllocation, out.error[4]);
    EXPECT_EQ(cudaSuccess, out.error[5]);
    EXPECT_OK(cudaFree(ofHost));
    EXPECT_INVALID(cudaFree(out.pointer));
    EXPECT_INVALID(cudaMemcpy(&host, out.pointer, 4, cudaMemcpyDeviceToHost));
}

__global__ void copyAndFill(Outcome* out, int* data) {
    data[0] = 3;
    out->error[0] = cudaMemcpyAsync(data + 1, data, 4, cudaMemcpyDeviceToDevice, nullptr);
    out->error[1] = cudaMemsetAsync(data + 2, 0, 4, nullptr);
    out->error[2] = cudaMemcpyAsync(data, data + 1, 400, cudaMemcpyDeviceToDevice, nullptr);
    out->error[3] = cudaMemsetAsync(data, 0, 4, reinterpret_cast<cudaStream_t>(0x12345));
    data[3] = 8;
    out->error[4] = cudaMemcpy2DAsync(data + 4, 4, data + 3, 4, 4, 1, cudaMemcpyDefault, nullptr);
}

TEST_F(DeviceSideTest, CopiesAndFills) {
    int* data = nullptr;
    ASSERT_OK(cudaMallocManaged(&data, 20));
    const Outcome out = run(copyAndFill, data);
    EXPECT_OK(launched_);
    EXPECT_EQ(cudaSuccess, out.error[0]);
    EXPECT_EQ(cudaSuccess, out.error[1]);
    EXPECT_EQ(cudaErrorInvalidValue, out.error[2]);
    EXPECT_EQ(cudaErrorInvalidResourceHandle, out.error[3]);
    EXPECT_EQ(cudaSuccess, out.error[4]);
    EXPECT_EQ(3, data[1]);
    EXPECT_EQ(0, data[2]);
    EXPECT_EQ(8, data[4]);
}

__global__ void streamsAndEvents(Outcome* out, int*) {
    cudaStream_t stream;
    cudaEvent_t event;
    out->error[0] = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    out->error[1] = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    out->error[2] = cudaEventRecord(event, stream);
    out->error[3] = cudaStreamWaitEvent(stream, event, 0);
    out->error[4] = cudaEventDestroy(event);
    out->error[5] = cudaStreamDestroy(stream);
    out->error[6] = cudaStreamDestroy(stream);
    out->error[7] = cudaEventRecord(event, nullptr);
    out->error[8] = cudaEventCreateWithFlags(&event, cudaEventDefault);  // kernels have no timing
}

TEST_F(DeviceSideTest, StreamsAndEvents) {
    const Outcome out = run(streamsAndEvents);
    EXPECT_OK(launched_);
    for (int i = 0; i < 6; ++i) EXPECT_EQ(cudaSuccess, out.error[i]) << i;
    EXPECT_EQ(cudaErrorInvalidResourceHandle, out.error[6]);
    EXPECT_EQ(cudaErrorInvalidResourceHandle, out.error[7]);
    EXPECT_EQ(cudaErrorInvalidValue, out.error[8]);
}

__global__ void eventsAmongLaunches(Outcome* out, int*) {
    cudaEvent_t event;
    out->error[0] = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    out->error[1] = cudaEventRecord(event, cudaStreamTailLaunch);
    out->error[2] = cudaStreamWaitEvent(cudaStreamTailLaunch, event, 0);
    out->error[3] = cudaEventRecord(event, cudaStreamFireAndForget);
    out->error[4] = cudaStreamWaitEvent(cudaStreamFireAndForget, event, 0);
    out->error[5] = cudaGetLastError();
    out->error[6] = cudaEventDestroy(event);
}

// As on an H200.
TEST_F(DeviceSideTest, NoEventsAmongTailLaunchesNorWhereKernelsAreForgotten) {
    const Outcome out = run(eventsAmongLaunches);
    EXPECT_OK(launched_);
    for (int i : {0, 6}) EXPECT_EQ(cudaSuccess, out.error[i]) << i;
    for (int i = 1; i < 6; ++i) EXPECT_EQ(cudaErrorInvalidValue, out.error[i]) << i;
}

__global__ void useHostStream(Outcome* out, int* handle) {
    out->error[0] = cudaMemsetAsync(out, 0, 0, reinterpret_cast<cudaStream_t>(handle));
    out->error[1] = cudaMemsetAsync(out->number, 0, 4, reinterpret_cast<cudaStream_t>(handle));
}

TEST_F(DeviceSideTest, StreamsOfTheHostAreUnknownToKernels) {
    const cudaStream_t stream = newStream();
    EXPECT_EQ(cudaErrorInvalidResourceHandle,
              run(useHostStream, reinterpret_cast<int*>(stream)).error[1]);
}

__global__ void noteChild(Outcome* out, int*) {
    ++out->number[1];
}

__global__ void launchIntoStreams(Outcome* out, int* ofHost) {
    const auto launchInto = [&](cudaStream_t stream) {
        void* arguments[] = {&out, &ofHost};
        const cudaError_t error =
            cudaLaunchKernel(noteChild, dim3(1), dim3(1), arguments, 0, stream);
        const cudaError_t last = cudaGetLastError();
        return error == last ? error : cudaErrorUnknown;
    };
    cudaStream_t stream;
    out->error[0] = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    out->error[1] = launchInto(stream);
    out->error[2] = cudaStreamDestroy(stream);
    out->error[3] = launchInto(stream);
    out->error[4] = launchInto(reinterpret_cast<cudaStream_t>(ofHost));
    out->error[5] = launchInto(reinterpret_cast<cudaStream_t>(0x12345));
    out->error[6] = launchInto(cudaStreamFireAndForget);
    out->error[7] = launchInto(nullptr);
}

TEST_F(DeviceSideTest, LaunchesIntoStreamsThatKernelsDoNotHave) {
    const cudaStream_t stream = newStream();
    Outcome* outcome = nullptr;
    ASSERT_OK(cudaMallocManaged(&outcome, sizeof(Outcome)));
    *outcome = {};
    int* ofHost = reinterpret_cast<int*>(stream);
    void* arguments[] = {&outcome, &ofHost};
    EXPECT_OK(cudaLaunchKernel(launchIntoStreams, dim3(1), dim3(1), arguments));
    for (int i : {0, 1, 2, 6, 7}) EXPECT_EQ(cudaSuccess, outcome->error[i]) << i;
    for (int i : {3, 4, 5}) EXPECT_EQ(cudaErrorInvalidValue, outcome->error[i]) << i;
    EXPECT_EQ(3, outcome->number[1]);
}

__global__ void synchronizeDevice(Outcome* out, int*) {
    cudaDeviceSynchronize();
    out->number[0] = 1;
}

TEST_F(DeviceSideTest, SynchronisingInAKernelEndsIt) {
    const std::string message = failure(synchronizeDevice);
    EXPECT_NE(std::string::npos, message.find("cudaStreamTailLaunch")) << message;
}

__global__ void copyOnTheHost(Outcome* out, int* data) {
    cudaMemcpy(data, data, 4, cudaMemcpyDefault);
    out->number[0] = 1;
}

__global__ void copyInSourcePerThread(Outcome*, int* data) {
    const emu::PerThreadDefaultStream scope;  // of which the call does not return
    cudaMemcpy(data, data, 4, cudaMemcpyDefault);
}

TEST_F(DeviceSideTest, AKernelsEndLeavesStreamZeroOfTheHostAsItIs) {
    failure(copyInSourcePerThread, deviceArray<int>(1));
    ASSERT_OK(cudaDeviceReset());
    EXPECT_FAILS(cudaErrorStreamCaptureUnsupported,  // as the legacy stream has it
                 cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
}

TEST_F(DeviceSideTest, FunctionsOfTheHostEndTheKernel) {
    const std::string message = failure(copyOnTheHost, deviceArray<int>(1));
    EXPECT_NE(std::string::npos, message.find("cudaMemcpy()")) << message;
}

}  // namespace
