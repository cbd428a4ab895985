// What the engine's tests share.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define SKIP_UNDER_ADDRESS_SANITIZER() \
    GTEST_SKIP() << "the sanitizers report this themselves and end the program"
#else
#define SKIP_UNDER_ADDRESS_SANITIZER() (void)0
#endif

// A launch whose kernel ends well.
#define RUN(...)                                         \
    do {                                                 \
        __VA_ARGS__;                                     \
        ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize()); \
    } while (false)

// Device memory with a host copy; zeroed.
template <class T>
class Managed {
  public:
    explicit Managed(size_t count) : size_(count) {
        EXPECT_EQ(cudaSuccess, cudaMallocManaged(&data_, count * sizeof(T)));
        EXPECT_EQ(cudaSuccess, cudaMemset(data_, 0, count * sizeof(T)));
    }
    ~Managed() { cudaFree(data_); }
    Managed(const Managed&) = delete;
    Managed& operator=(const Managed&) = delete;

    T* get() const { return data_; }
    T& operator[](size_t i) const { return data_[i]; }
    size_t size() const { return size_; }
    std::vector<T> values() const { return std::vector<T>(data_, data_ + size_); }

  private:
    T* data_ = nullptr;
    size_t size_;
};

// Kernels that are meant to fail leave a sticky error behind: cleared after each test.
class EngineTest : public ::testing::Test {
  protected:
    void TearDown() override { cudaDeviceReset(); }

    // Runs `launch`, which must fail with `expected`; returns what was printed to stderr.
    template <class F>
    std::string failure(cudaError_t expected, F launch) {
        ::testing::internal::CaptureStderr();
        launch();
        const cudaError_t error = cudaDeviceSynchronize();
        const std::string text = ::testing::internal::GetCapturedStderr();
        EXPECT_STREQ(cudaGetErrorName(expected), cudaGetErrorName(error)) << text;
        return text;
    }
};
