// Stream capture. What is refused, and what that does to the capture, was read from a GPU.
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"

namespace {

__global__ void addKernel(int* out, int value) {
    *out += value;
}

void countCall(void* counter) {
    ++*static_cast<int*>(counter);
}

class CaptureTest : public RuntimeTest {
  protected:
    void SetUp() override {
        RuntimeTest::SetUp();
        ASSERT_OK(cudaStreamCreate(&stream_));
        ASSERT_OK(cudaStreamCreate(&other_));
        ASSERT_OK(cudaEventCreate(&event_));
        ASSERT_OK(cudaEventCreate(&back_));
        device_ = deviceArray<int>(10);
        ASSERT_OK(cudaMemset(device_, 0, 40));
    }

    void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
        ASSERT_OK(cudaStreamBeginCapture(stream_, mode));
    }

    cudaError_t launchAdd(int value, cudaStream_t stream) {
        void* arguments[] = {&device_, &value};
        return cudaLaunchKernel(&addKernel, dim3(1), dim3(1), arguments, 0, stream);
    }

    int result() {
        int value = -1;
        EXPECT_OK(cudaMemcpy(&value, device_, 4, cudaMemcpyDeviceToHost));
        return value;
    }

    cudaStreamCaptureStatus status(cudaStream_t stream) {
        auto value = static_cast<cudaStreamCaptureStatus>(9);
        EXPECT_OK(cudaStreamIsCapturing(stream, &value));
        return value;
    }

    // Ends the capture and returns its number of nodes.
    size_t endWithNodes() {
        size_t count = 99;
        EXPECT_OK(cudaStreamEndCapture(stream_, &graph_));
        EXPECT_OK(cudaGraphGetNodes(graph_, nullptr, &count));
        return count;
    }

    void endsWith(cudaError_t error) {
        graph_ = reinterpret_cast<cudaGraph_t>(1);
        EXPECT_FAILS(error, cudaStreamEndCapture(stream_, &graph_));
        EXPECT_EQ(nullptr, graph_);
        EXPECT_EQ(cudaStreamCaptureStatusNone, status(stream_));
        EXPECT_EQ(cudaStreamCaptureStatusNone, status(other_));
    }

    // A call that a capture forbids and is spoiled by.
    void spoils(cudaStreamCaptureMode mode, cudaError_t error,
                const std::function<cudaError_t()>& call) {
        begin(mode);
        EXPECT_FAILS(error, call());
        EXPECT_EQ(cudaStreamCaptureStatusInvalidated, status(stream_));
        EXPECT_FAILS(cudaErrorStreamCaptureInvalidated, launchAdd(1, stream_));
        endsWith(cudaErrorStreamCaptureInvalidated);
        EXPECT_EQ(0, result()) << "ran";
    }

    void leavesAlone(cudaStreamCaptureMode mode, const std::function<cudaError_t()>& call) {
        begin(mode);
        EXPECT_OK(call());
        EXPECT_EQ(0u, endWithNodes());
    }

    cudaStream_t stream_ = nullptr, other_ = nullptr;
    cudaEvent_t event_ = nullptr, back_ = nullptr;
    cudaGraph_t graph_ = nullptr;
    int* device_ = nullptr;
    int host_[10] = {};
};

constexpr cudaStreamCaptureMode kModes[] = {
    cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed};

TEST_F(CaptureTest, WorkIsRecordedAndRunsAtTheLaunch) {
    int calls = 0;
    begin();
    EXPECT_EQ(cudaStreamCaptureStatusActive, status(stream_));
    EXPECT_OK(cudaMemsetAsync(device_, 0, 40, stream_));
    EXPECT_OK(launchAdd(5, stream_));
    EXPECT_OK(cudaLaunchHostFunc(stream_, countCall, &calls));
    EXPECT_OK(cudaMemcpyAsync(host_, device_, 40, cudaMemcpyDeviceToHost, stream_));
    EXPECT_EQ(4u, endWithNodes());
    EXPECT_EQ(cudaStreamCaptureStatusNone, status(stream_));
    EXPECT_EQ(0, host_[0]);
    EXPECT_EQ(0, calls);

    cudaGraphNode_t nodes[4];
    size_t count = 4;
    cudaGraphNodeType type;
    const cudaGraphNodeType expected[] = {cudaGraphNodeTypeMemset, cudaGraphNodeTypeKernel,
                                          cudaGraphNodeTypeHost, cudaGraphNodeTypeMemcpy};
    ASSERT_OK(cudaGraphGetNodes(graph_, nodes, &count));
    for (int i = 0; i < 4; ++i) {
        EXPECT_OK(cudaGraphNodeGetType(nodes[i], &type));
        EXPECT_EQ(expected[i], type);
    }

    cudaGraphExec_t exec;
    ASSERT_OK(cudaGraphInstantiate(&exec, graph_, 0));
    for (int launch = 1; launch <= 3; ++launch) {
        host_[0] = -1;
        EXPECT_OK(cudaGraphLaunch(exec, other_));
        EXPECT_OK(cudaStreamSynchronize(other_));
        EXPECT_EQ(5, host_[0]);
        EXPECT_EQ(launch, calls);
    }
}

TEST_F(CaptureTest, ForkAndJoinThroughEvents) {
    begin();
    EXPECT_OK(launchAdd(1, stream_));
    EXPECT_OK(cudaEventRecord(event_, stream_));
    EXPECT_OK(cudaStreamWaitEvent(other_, event_));
    EXPECT_EQ(cudaStreamCaptureStatusActive, status(other_));
    EXPECT_OK(launchAdd(10, other_));
    EXPECT_OK(launchAdd(100, stream_));
    EXPECT_OK(cudaEventRecord(back_, other_));
    EXPECT_OK(cudaStreamWaitEvent(stream_, back_));
    EXPECT_EQ(3u, endWithNodes());
    EXPECT_EQ(cudaStreamCaptureStatusNone, status(other_));
    EXPECT_EQ(0, result());
    cudaGraphExec_t exec;
    ASSERT_OK(cudaGraphInstantiate(&exec, graph_, 0));
    EXPECT_OK(cudaGraphLaunch(exec, stream_));
    EXPECT_EQ(111, result());
}

TEST_F(CaptureTest, ForkedWorkMustBeJoined) {
    begin();
    EXPECT_OK(cudaEventRecord(event_, stream_));
    EXPECT_OK(cudaStreamWaitEvent(other_, event_));
    EXPECT_OK(launchAdd(1, other_));
    endsWith(cudaErrorStreamCaptureUnjoined);

    begin();  // a fork without work needs no join
    EXPECT_OK(cudaEventRecord(event_, stream_));
    EXPECT_OK(cudaStreamWaitEvent(other_, event_));
    EXPECT_EQ(0u, endWithNodes());
    EXPECT_OK(launchAdd(1, other_));
    EXPECT_EQ(1, result());
}

TEST_F(CaptureTest, BeginAndEndErrors) {
    EXPECT_FAILS(cudaErrorStreamCaptureUnsupported,
                 cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
    EXPECT_FAILS(cudaErrorStreamCaptureUnsupported,
                 cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal));
    EXPECT_INVALID(cudaStreamBeginCapture(stream_, static_cast<cudaStreamCaptureMode>(7)));
    EXPECT_FAILS(cudaErrorIllegalState, cudaStreamEndCapture(stream_, &graph_));
    EXPECT_INVALID(cudaStreamIsCapturing(stream_, nullptr));
    EXPECT_EQ(cudaStreamCaptureStatusNone, status(nullptr));
    begin();
    EXPECT_FAILS(cudaErrorIllegalState,
                 cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
    EXPECT_EQ(cudaStreamCaptureStatusNone, status(nullptr));
    EXPECT_EQ(0u, endWithNodes());  // none of these spoiled it
    begin();
    EXPECT_OK(cudaStreamEndCapture(stream_, nullptr));  // drops it
    EXPECT_EQ(cudaStreamCaptureStatusNone, status(stream_));

    begin();
    EXPECT_OK(cudaEventRecord(event_, stream_));
    EXPECT_OK(cudaStreamWaitEvent(other_, event_));
    EXPECT_FAILS(cudaErrorStreamCaptureUnmatched, cudaStreamEndCapture(other_, &graph_));
    endsWith(cudaErrorStreamCaptureInvalidated);
}

TEST_F(CaptureTest, AnotherThreadEndsOnlyARelaxedCapture) {
    const auto endElsewhere = [this] {
        cudaError_t error = cudaSuccess;
        std::thread([&] { error = cudaStreamEndCapture(stream_, &graph_); }).join();
        return error;
    };
    begin(cudaStreamCaptureModeThreadLocal);
    EXPECT_EQ(cudaErrorStreamCaptureWrongThread, endElsewhere());
    EXPECT_EQ(cudaStreamCaptureStatusNone, status(stream_));
    begin(cudaStreamCaptureModeRelaxed);
    EXPECT_EQ(cudaSuccess, endElsewhere());
}

TEST_F(CaptureTest, ACapturingStreamCannotBeWaitedFor) {
    for (const cudaStreamCaptureMode mode : kModes) {
        spoils(mode, cudaErrorStreamCaptureUnsupported,
               [&] { return cudaStreamSynchronize(stream_); });
        spoils(mode, cudaErrorStreamCaptureUnsupported, [&] { return cudaStreamQuery(stream_); });
        spoils(mode, cudaErrorStreamCaptureUnsupported, [] { return cudaDeviceSynchronize(); });
        spoils(mode, cudaErrorStreamCaptureUnsupported, [&] {
            return cudaStreamAddCallback(
                stream_, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0);
        });
    }
}

TEST_F(CaptureTest, WorkInTheLegacyStreamWouldWaitForTheCapture) {
    for (const cudaStreamCaptureMode mode : kModes) {
        const cudaError_t error = cudaErrorStreamCaptureImplicit;
        spoils(mode, error, [&] { return cudaMemcpy(device_, host_, 4, cudaMemcpyHostToDevice); });
        spoils(mode, error, [&] { return cudaMemcpyAsync(device_, host_, 4, cudaMemcpyDefault); });
        spoils(mode, error, [&] { return cudaMemset(device_, 0, 4); });
        spoils(mode, error, [&] { return launchAdd(1, nullptr); });
        spoils(mode, error, [&] { return cudaEventRecord(back_); });
        spoils(mode, error, [] { return cudaStreamSynchronize(nullptr); });
        spoils(mode, error, [] { return cudaStreamQuery(nullptr); });
    }
}

TEST_F(CaptureTest, ANonBlockingStreamLeavesTheLegacyStreamAlone) {
    ASSERT_OK(cudaStreamDestroy(stream_));
    ASSERT_OK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    leavesAlone(cudaStreamCaptureModeGlobal, [&] { return launchAdd(1, nullptr); });
    EXPECT_EQ(1, result());
    // But a copy waits for the device.
    begin();
    EXPECT_FAILS(cudaErrorStreamCaptureUnsupported,
                 cudaMemcpy(host_, device_, 4, cudaMemcpyDeviceToHost));
    endsWith(cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(0, host_[0]);
}

TEST_F(CaptureTest, CallsThatMayWaitForTheDevice) {
    const auto allocateDevice = [] {
        int* pointer = nullptr;
        return cudaMalloc(&pointer, 4);
    };
    const auto allocateHost = [] {
        int* pointer = nullptr;
        return cudaMallocHost(&pointer, 4);
    };
    const auto instantiate = [] {
        cudaGraph_t graph;
        cudaGraphExec_t exec;
        EXPECT_OK(cudaGraphCreate(&graph, 0));
        return cudaGraphInstantiate(&exec, graph, 0);
    };
    const auto free = [] { return cudaFree(nullptr); };
    const auto synchronize = [&] { return cudaStreamSynchronize(other_); };
    const auto query = [&] { return cudaEventQuery(back_); };
    const std::vector<std::function<cudaError_t()>> calls = {
        allocateDevice, allocateHost, instantiate, free, synchronize, query};
    for (size_t i = 0; i < calls.size(); ++i) {
        SCOPED_TRACE(i);
        const auto elsewhere = [&] {
            cudaError_t error = cudaSuccess;
            std::thread([&] { error = calls[i](); }).join();
            return error;
        };
        spoils(cudaStreamCaptureModeGlobal, cudaErrorStreamCaptureUnsupported, calls[i]);
        spoils(cudaStreamCaptureModeThreadLocal, cudaErrorStreamCaptureUnsupported, calls[i]);
        leavesAlone(cudaStreamCaptureModeThreadLocal, elsewhere);
        leavesAlone(cudaStreamCaptureModeRelaxed, calls[i]);
        begin(cudaStreamCaptureModeGlobal);
        EXPECT_EQ(cudaErrorStreamCaptureUnsupported, elsewhere());
        endsWith(cudaErrorStreamCaptureInvalidated);
    }
}

TEST_F(CaptureTest, CallsThatWaitForNothing) {
    leavesAlone(cudaStreamCaptureModeGlobal, [&] { return cudaEventRecord(back_, other_); });
    leavesAlone(cudaStreamCaptureModeGlobal, [&] { return launchAdd(0, other_); });
    leavesAlone(cudaStreamCaptureModeGlobal, [&] { return cudaStreamCreate(&other_); });
    leavesAlone(cudaStreamCaptureModeGlobal, [&] { return cudaMemGetInfo(nullptr, nullptr); });
}

TEST_F(CaptureTest, CapturedEventsAreNoPointInTime) {
    float ms = 0;
    begin();
    EXPECT_OK(cudaEventRecord(event_, stream_));
    EXPECT_FAILS(cudaErrorCapturedEvent, cudaEventElapsedTime(&ms, event_, event_));
    EXPECT_EQ(0u, endWithNodes());
    EXPECT_INVALID(cudaEventQuery(event_));
    EXPECT_INVALID(cudaEventSynchronize(event_));
    EXPECT_INVALID(cudaEventElapsedTime(&ms, event_, event_));
    EXPECT_INVALID(cudaStreamWaitEvent(other_, event_));
    EXPECT_OK(cudaEventRecord(event_, stream_));
    EXPECT_OK(cudaEventSynchronize(event_));
    EXPECT_OK(cudaEventElapsedTime(&ms, event_, event_));

    for (const bool query : {true, false}) {
        spoils(cudaStreamCaptureModeRelaxed, cudaErrorCapturedEvent, [&] {
            EXPECT_OK(cudaEventRecord(event_, stream_));
            return query ? cudaEventQuery(event_) : cudaEventSynchronize(event_);
        });
    }
}

TEST_F(CaptureTest, DependenciesAcrossTheCapture) {
    const cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    spoils(mode, cudaErrorStreamCaptureIsolation, [&] {
        EXPECT_OK(cudaEventRecord(back_, other_));
        return cudaStreamWaitEvent(stream_, back_);
    });
    spoils(mode, cudaErrorStreamCaptureImplicit, [&] {
        EXPECT_OK(cudaEventRecord(event_, stream_));
        return cudaStreamWaitEvent(nullptr, event_);
    });
    cudaEvent_t fresh;
    ASSERT_OK(cudaEventCreate(&fresh));
    leavesAlone(mode, [&] { return cudaStreamWaitEvent(stream_, fresh); });

    begin();
    ASSERT_OK(cudaStreamBeginCapture(other_, mode));
    EXPECT_OK(cudaEventRecord(event_, stream_));
    EXPECT_FAILS(cudaErrorStreamCaptureMerge, cudaStreamWaitEvent(other_, event_));
    EXPECT_FAILS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(other_, &graph_));
    endsWith(cudaErrorStreamCaptureInvalidated);
}

TEST_F(CaptureTest, ArgumentsAreCheckedAtOnce) {
    begin();
    EXPECT_INVALID(cudaMemcpyAsync(device_, host_, 400, cudaMemcpyHostToDevice, stream_));
    EXPECT_INVALID(cudaMemcpyAsync(host_, host_, 4, cudaMemcpyHostToDevice, stream_));
    EXPECT_INVALID(cudaMemsetAsync(host_, 0, 4, stream_));
    EXPECT_EQ(0u, endWithNodes());
}

TEST_F(CaptureTest, MemoryThatIsGoneAtTheLaunch) {
    begin();
    EXPECT_OK(cudaMemsetAsync(device_, 1, 40, stream_));
    EXPECT_EQ(1u, endWithNodes());
    cudaGraphExec_t exec;
    ASSERT_OK(cudaGraphInstantiate(&exec, graph_, 0));
    ASSERT_OK(cudaFree(device_));
    EXPECT_INVALID(cudaGraphLaunch(exec, stream_));
}

TEST_F(CaptureTest, StreamOrderedAllocationIsNotSupported) {
    int* pointer = nullptr;
    begin();
    EXPECT_FAILS(cudaErrorNotSupported, cudaMallocAsync(&pointer, 4, stream_));
    EXPECT_EQ(0u, endWithNodes());
}

TEST_F(CaptureTest, DestroyingTheStreamEndsTheCapture) {
    begin();
    EXPECT_OK(launchAdd(1, stream_));
    EXPECT_OK(cudaEventRecord(event_, stream_));
    EXPECT_OK(cudaStreamWaitEvent(other_, event_));
    EXPECT_OK(cudaStreamDestroy(stream_));
    EXPECT_EQ(cudaStreamCaptureStatusNone, status(other_));
    EXPECT_EQ(0, result());  // the legacy stream is free again

    ASSERT_OK(cudaStreamCreate(&stream_));
    begin();
    EXPECT_OK(cudaEventRecord(event_, stream_));
    EXPECT_OK(cudaStreamWaitEvent(other_, event_));
    EXPECT_OK(launchAdd(1, other_));
    EXPECT_OK(cudaStreamDestroy(other_));
    ASSERT_OK(cudaStreamCreate(&other_));
    endsWith(cudaErrorStreamCaptureUnjoined);
}

TEST_F(CaptureTest, ResetEndsCaptures) {
    begin();
    ASSERT_OK(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeGlobal));
    ASSERT_OK(cudaDeviceReset());
    EXPECT_EQ(cudaStreamCaptureStatusNone, status(cudaStreamPerThread));
    EXPECT_OK(cudaDeviceSynchronize());
}

TEST_F(CaptureTest, AGraphCannotBeLaunchedIntoACapture) {
    cudaGraphExec_t exec;
    begin();
    EXPECT_OK(launchAdd(1, stream_));
    EXPECT_EQ(1u, endWithNodes());
    ASSERT_OK(cudaGraphInstantiate(&exec, graph_, 0));
    spoils(cudaStreamCaptureModeRelaxed, cudaErrorStreamCaptureUnsupported,
           [&] { return cudaGraphLaunch(exec, stream_); });
    leavesAlone(cudaStreamCaptureModeGlobal, [&] { return cudaGraphLaunch(exec, other_); });
}

TEST_F(CaptureTest, ExternalEventsAreRecordedAtTheLaunch) {
    float ms = 0;
    begin();
    EXPECT_OK(cudaEventRecordWithFlags(event_, stream_, cudaEventRecordExternal));
    EXPECT_OK(launchAdd(1, stream_));
    EXPECT_OK(cudaEventRecordWithFlags(back_, stream_, cudaEventRecordExternal));
    EXPECT_EQ(3u, endWithNodes());
    cudaGraphExec_t exec;
    ASSERT_OK(cudaGraphInstantiate(&exec, graph_, 0));
    EXPECT_NO_HANDLE(cudaEventElapsedTime(&ms, event_, back_));
    EXPECT_OK(cudaGraphLaunch(exec, stream_));
    EXPECT_OK(cudaStreamSynchronize(stream_));
    EXPECT_OK(cudaEventElapsedTime(&ms, event_, back_));
    EXPECT_GE(ms, 0);
}

}  // namespace
