// What the tests of the runtime API share.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

// The call succeeds.
#define EXPECT_OK(call) EXPECT_EQ(cudaSuccess, call)
#define ASSERT_OK(call) ASSERT_EQ(cudaSuccess, call)

// The call returns `error` and leaves it for cudaGetLastError(), which this clears.
#define EXPECT_FAILS(error, call)                                    \
    do {                                                             \
        EXPECT_EQ(error, call);                                      \
        EXPECT_EQ(error, cudaGetLastError()) << "as last error";     \
        EXPECT_EQ(cudaSuccess, cudaGetLastError()) << "not cleared"; \
    } while (false)

#define EXPECT_INVALID(call) EXPECT_FAILS(cudaErrorInvalidValue, call)
#define EXPECT_NO_HANDLE(call) EXPECT_FAILS(cudaErrorInvalidResourceHandle, call)

inline std::ostream& operator<<(std::ostream& out, cudaError_t error) {
    return out << cudaGetErrorName(error);
}

// Each test begins with a device that holds nothing.
class RuntimeTest : public testing::Test {
  protected:
    void SetUp() override { ASSERT_OK(cudaDeviceReset()); }
    void TearDown() override { ASSERT_OK(cudaDeviceReset()); }
};

template <typename T>
T* deviceArray(size_t count) {
    T* pointer = nullptr;
    EXPECT_OK(cudaMalloc(&pointer, count * sizeof(T)));
    return pointer;
}

inline cudaStream_t newStream() {
    cudaStream_t stream = nullptr;
    EXPECT_OK(cudaStreamCreate(&stream));
    return stream;
}

inline cudaEvent_t newEvent() {
    cudaEvent_t event = nullptr;
    EXPECT_OK(cudaEventCreate(&event));
    return event;
}
