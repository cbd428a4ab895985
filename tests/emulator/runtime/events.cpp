#include "fixture.h"

namespace {

class EventTest : public RuntimeTest {
  protected:
    void SetUp() override {
        RuntimeTest::SetUp();
        ASSERT_OK(cudaEventCreate(&start_));
        ASSERT_OK(cudaEventCreate(&end_));
    }

    cudaEvent_t start_ = nullptr, end_ = nullptr;
    float ms_ = -1;
};

TEST_F(EventTest, TheLastRecordCounts) {
    EXPECT_OK(cudaEventRecord(end_));
    EXPECT_OK(cudaEventRecord(start_));
    EXPECT_OK(cudaEventRecord(end_, cudaStreamPerThread));
    EXPECT_OK(cudaEventSynchronize(end_));
    EXPECT_OK(cudaEventElapsedTime(&ms_, start_, end_));
    EXPECT_GE(ms_, 0);
    float backwards = 0;
    EXPECT_OK(cudaEventElapsedTime(&backwards, end_, start_));
    EXPECT_EQ(-ms_, backwards);
}

TEST_F(EventTest, ElapsedTimeErrors) {
    cudaEvent_t untimed;
    ASSERT_OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    EXPECT_NO_HANDLE(cudaEventElapsedTime(&ms_, start_, end_));
    EXPECT_OK(cudaEventRecord(start_));
    EXPECT_NO_HANDLE(cudaEventElapsedTime(&ms_, start_, end_));
    EXPECT_OK(cudaEventRecord(untimed));
    EXPECT_NO_HANDLE(cudaEventElapsedTime(&ms_, start_, untimed));
    EXPECT_NO_HANDLE(cudaEventElapsedTime(&ms_, nullptr, start_));
    EXPECT_INVALID(cudaEventElapsedTime(nullptr, start_, start_));
}

TEST_F(EventTest, Flags) {
    cudaEvent_t event;
    EXPECT_OK(cudaEventCreateWithFlags(&event, cudaEventBlockingSync));
    EXPECT_OK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
    EXPECT_INVALID(cudaEventCreateWithFlags(&event, cudaEventInterprocess));
    EXPECT_INVALID(cudaEventCreateWithFlags(&event, 0x100));
    EXPECT_INVALID(cudaEventCreate(nullptr));
    EXPECT_OK(cudaEventRecordWithFlags(start_, nullptr, cudaEventRecordDefault));
    EXPECT_INVALID(cudaEventRecordWithFlags(start_, nullptr, 5));
    // Only a graph can have an external record.
    EXPECT_FAILS(cudaErrorIllegalState,
                 cudaEventRecordWithFlags(start_, nullptr, cudaEventRecordExternal));
}

TEST_F(EventTest, AnEventThatWasNotRecordedIsComplete) {
    EXPECT_OK(cudaEventQuery(start_));
    EXPECT_OK(cudaEventSynchronize(start_));
}

TEST_F(EventTest, HandlesThatStandForNoEvent) {
    cudaEvent_t younger;
    const cudaStream_t stream = newStream();
    ASSERT_OK(cudaEventDestroy(start_));
    ASSERT_OK(cudaEventCreate(&younger));
    for (cudaEvent_t event : {start_, cudaEvent_t{}, reinterpret_cast<cudaEvent_t>(0x12345)}) {
        EXPECT_NO_HANDLE(cudaEventDestroy(event));
        EXPECT_NO_HANDLE(cudaEventRecord(event));
        EXPECT_NO_HANDLE(cudaEventQuery(event));
        EXPECT_NO_HANDLE(cudaEventSynchronize(event));
        EXPECT_NO_HANDLE(cudaStreamWaitEvent(stream, event));
    }
    ASSERT_OK(cudaDeviceReset());
    EXPECT_NO_HANDLE(cudaEventRecord(younger));
    EXPECT_NO_HANDLE(cudaStreamSynchronize(stream));
}

}  // namespace
