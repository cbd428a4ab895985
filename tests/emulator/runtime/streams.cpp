#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "fixture.h"

namespace {

using StreamTest = RuntimeTest;

void append(void* text) {
    static_cast<std::string*>(text)->push_back('h');
}

TEST_F(StreamTest, Properties) {
    cudaStream_t stream, urgent, idle;
    int priority = 99, least = 99, greatest = 99, device = 99;
    unsigned flags = 99;
    ASSERT_OK(cudaStreamCreate(&stream));
    EXPECT_OK(cudaStreamGetFlags(stream, &flags));
    EXPECT_EQ(unsigned{cudaStreamDefault}, flags);
    EXPECT_OK(cudaStreamGetPriority(stream, &priority));
    EXPECT_EQ(0, priority);
    EXPECT_OK(cudaStreamGetDevice(stream, &device));
    EXPECT_EQ(0, device);

    EXPECT_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT_LT(greatest, least);
    EXPECT_OK(cudaDeviceGetStreamPriorityRange(nullptr, nullptr));
    ASSERT_OK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest - 100));
    EXPECT_OK(cudaStreamGetPriority(urgent, &priority));
    EXPECT_EQ(greatest, priority);
    EXPECT_OK(cudaStreamGetFlags(urgent, &flags));
    EXPECT_EQ(unsigned{cudaStreamNonBlocking}, flags);
    ASSERT_OK(cudaStreamCreateWithPriority(&idle, cudaStreamDefault, least + 100));
    EXPECT_OK(cudaStreamGetPriority(idle, &priority));
    EXPECT_EQ(least, priority);
}

TEST_F(StreamTest, BadArguments) {
    cudaStream_t stream;
    EXPECT_INVALID(cudaStreamCreate(nullptr));
    EXPECT_INVALID(cudaStreamCreateWithFlags(&stream, 9));
    EXPECT_INVALID(cudaStreamGetPriority(nullptr, nullptr));
    EXPECT_INVALID(cudaStreamGetFlags(nullptr, nullptr));
    EXPECT_INVALID(cudaLaunchHostFunc(nullptr, nullptr, nullptr));
    EXPECT_INVALID(cudaStreamAddCallback(nullptr, nullptr, nullptr, 0));
    EXPECT_INVALID(
        cudaStreamAddCallback(nullptr, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 1));
}

TEST_F(StreamTest, StreamsWithFixedHandles) {
    for (cudaStream_t stream : {cudaStream_t{}, cudaStreamLegacy, cudaStreamPerThread}) {
        EXPECT_OK(cudaStreamSynchronize(stream));
        EXPECT_OK(cudaStreamQuery(stream));
        EXPECT_NO_HANDLE(cudaStreamDestroy(stream));
    }
    // These mean something in kernels only.
    EXPECT_NO_HANDLE(cudaStreamSynchronize(cudaStreamTailLaunch));
    EXPECT_NO_HANDLE(cudaStreamSynchronize(cudaStreamFireAndForget));
}

TEST_F(StreamTest, HandlesThatStandForNoStream) {
    cudaStream_t destroyed, younger;
    int priority = 0;
    unsigned flags = 0;
    const cudaEvent_t event = newEvent();
    ASSERT_OK(cudaStreamCreate(&destroyed));
    ASSERT_OK(cudaStreamDestroy(destroyed));
    ASSERT_OK(cudaStreamCreate(&younger));  // must not take over the handle
    for (cudaStream_t stream : {destroyed, reinterpret_cast<cudaStream_t>(0x1234567)}) {
        EXPECT_NO_HANDLE(cudaStreamDestroy(stream));
        EXPECT_NO_HANDLE(cudaStreamSynchronize(stream));
        EXPECT_NO_HANDLE(cudaStreamQuery(stream));
        EXPECT_NO_HANDLE(cudaStreamGetPriority(stream, &priority));
        EXPECT_NO_HANDLE(cudaStreamGetFlags(stream, &flags));
        EXPECT_NO_HANDLE(cudaStreamWaitEvent(stream, event));
        EXPECT_NO_HANDLE(cudaEventRecord(event, stream));
        EXPECT_NO_HANDLE(cudaLaunchHostFunc(stream, append, nullptr));
    }
}

TEST_F(StreamTest, WaitForEvent) {
    const cudaStream_t stream = newStream();
    const cudaEvent_t event = newEvent();
    EXPECT_OK(cudaStreamWaitEvent(stream, event));  // never recorded: nothing to wait for
    EXPECT_OK(cudaEventRecord(event));
    EXPECT_OK(cudaStreamWaitEvent(stream, event, cudaEventWaitDefault));
    EXPECT_INVALID(cudaStreamWaitEvent(stream, event, 9));
    EXPECT_NO_HANDLE(cudaStreamWaitEvent(stream, nullptr));
}

struct CallbackRecord {
    cudaStream_t stream = nullptr;
    cudaError_t status = cudaErrorUnknown;
};

void CUDART_CB note(cudaStream_t stream, cudaError_t status, void* record) {
    *static_cast<CallbackRecord*>(record) = {stream, status};
}

TEST_F(StreamTest, CallbacksLearnStreamAndStatus) {
    CallbackRecord record;
    const cudaStream_t stream = newStream();
    EXPECT_OK(cudaStreamAddCallback(stream, note, &record, 0));
    EXPECT_OK(cudaStreamSynchronize(stream));
    EXPECT_EQ(stream, record.stream);
    EXPECT_EQ(cudaSuccess, record.status);
}

// Counts how many host functions run at the same time.
struct Overlap {
    std::atomic<int> running{0};
    std::atomic<int> most{0};
};

void linger(void* data) {
    auto& overlap = *static_cast<Overlap*>(data);
    const int now = ++overlap.running;
    int most = overlap.most;
    while (now > most && !overlap.most.compare_exchange_weak(most, now)) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));  // others could come
    --overlap.running;
}

int mostAtTheSameTime(const std::vector<cudaStream_t>& streams) {
    Overlap overlap;
    std::vector<std::thread> threads;
    for (cudaStream_t stream : streams) {
        threads.emplace_back([&overlap, stream] {
            for (int i = 0; i < 50; ++i) EXPECT_OK(cudaLaunchHostFunc(stream, linger, &overlap));
        });
    }
    for (std::thread& thread : threads) thread.join();
    return overlap.most;
}

TEST_F(StreamTest, HostThreadsTakeTurnsInAStream) {
    cudaStream_t stream;
    ASSERT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    EXPECT_EQ(1, mostAtTheSameTime({stream, stream, stream}));
}

TEST_F(StreamTest, LegacyStreamAndBlockingStreamsTakeTurns) {
    const cudaStream_t stream = newStream();
    EXPECT_EQ(1, mostAtTheSameTime({stream, nullptr}));
    EXPECT_EQ(1, mostAtTheSameTime({nullptr, cudaStreamLegacy}));
}

}  // namespace
