// Kernels that fail: CUDA's error from the next call, never a crash or a hang.
#include <gmock/gmock.h>

#undef NDEBUG  // assertions hold in every build
#include <cassert>
#include <cfenv>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "fixture.h"

namespace {

using ::testing::HasSubstr;

class Faults : public EngineTest {};

__global__ void writeNull(int* null) {
    if (threadIdx.x == 5) *(volatile int*)null = 1;
}

TEST_F(Faults, IllegalAddress) {
    SKIP_UNDER_ADDRESS_SANITIZER();
    const std::string text =
        failure(cudaErrorIllegalAddress, [] { writeNull<<<2, 32>>>(nullptr); });
    EXPECT_THAT(text, HasSubstr("kernel writeNull, block ("));
    EXPECT_THAT(text, HasSubstr("thread (5,0,0): illegal address (nil): a null pointer"));
    EXPECT_EQ(cudaErrorIllegalAddress, cudaGetLastError());
}

TEST_F(Faults, RoundingStaysAsItWas) {
    SKIP_UNDER_ADDRESS_SANITIZER();
    std::fesetround(FE_UPWARD);
    failure(cudaErrorIllegalAddress, [] { writeNull<<<2, 32>>>(nullptr); });
    const int after = std::fegetround();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(FE_UPWARD, after);
}

__device__ int onDevice = 1;
__global__ void byReference(int* out, const int& value) {
    *out = value;
}
template <class T>
__global__ void byDeducedReference(T& value) {
    value = 1;
}
__global__ void parentOfReference() {
    int local = 3;
    byDeducedReference<<<1, 1>>>(local);
}

// A GPU cannot reach what is the host's alone, nor a child its parent's own variables.
TEST_F(Faults, ReferenceToMemoryOfTheHost) {
    static int global = 2;
    int local = 3, *out = &local;
    const auto heap = std::make_unique<int>(4);
    void* arguments[] = {&out, &out};
    const std::function<void()> launches[] = {
        [&] { byReference<<<1, 32>>>(&local, local); },
        [&] { byReference<<<1, 32>>>(&local, 5); },
        [&] { byReference<<<1, 32>>>(&local, global); },
        [&] { byReference<<<1, 32>>>(&local, *heap); },
        [&] { byReference<<<1, 32>>>(&local, onDevice); },
        [&] { cudaLaunchKernel((void*)byReference, 1, 32, arguments); },
    };
    for (const auto& launch : launches) {
        EXPECT_THAT(failure(cudaErrorIllegalAddress, launch),
                    HasSubstr("thread (0,0,0): parameter 2 is a reference to 0x"));
        cudaDeviceReset();
    }
    EXPECT_THAT(failure(cudaErrorIllegalAddress, [&] { byDeducedReference<<<1, 1>>>(*heap); }),
                HasSubstr("kernel byDeducedReference, block (0,0,0), thread (0,0,0): parameter 1"));
    cudaDeviceReset();
    EXPECT_THAT(failure(cudaErrorIllegalAddress, [&] { parentOfReference<<<1, 1>>>(); }),
                HasSubstr("kernel byDeducedReference, block (0,0,0), thread (0,0,0): parameter 1"));
    EXPECT_EQ(3, local);
}

__global__ void atomics(int* data, int load, int store, int scope) {
    __nv_atomic_load_n(data, load, scope);
    __nv_atomic_store_n(data, 1, store);
}

TEST_F(Faults, OrdersThatNvccRefuses) {
    const auto said = [this](int load, int store, int scope = __NV_THREAD_SCOPE_SYSTEM) {
        int* data = nullptr;
        EXPECT_EQ(cudaSuccess, cudaMalloc(&data, sizeof(int)));
        const std::string text =
            failure(cudaErrorNotSupported, [&] { atomics<<<1, 1>>>(data, load, store, scope); });
        cudaDeviceReset();
        return text;
    };
    for (int order : {__NV_ATOMIC_RELEASE, __NV_ATOMIC_ACQ_REL}) {
        EXPECT_THAT(said(order, __NV_ATOMIC_RELAXED), HasSubstr("__NV_ATOMIC_RELEASE"));
    }
    for (int order : {__NV_ATOMIC_CONSUME, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_ACQ_REL}) {
        EXPECT_THAT(said(__NV_ATOMIC_RELAXED, order), HasSubstr("__NV_ATOMIC_CONSUME"));
    }
    EXPECT_THAT(said(6, 0), HasSubstr("memory order"));
    EXPECT_THAT(said(0, -1), HasSubstr("memory order"));
    EXPECT_THAT(said(0, 0, 5), HasSubstr("scope"));
}

__global__ void setAll(int* data) {
    data[threadIdx.x] = threadIdx.x;
}

TEST_F(Faults, FreedMemory) {
    SKIP_UNDER_ADDRESS_SANITIZER();
    int* data = nullptr;
    ASSERT_EQ(cudaSuccess, cudaMalloc(&data, 32 * sizeof(int)));
    setAll<<<1, 32>>>(data);
    ASSERT_EQ(cudaSuccess, cudaFree(data));
    const std::string text = failure(cudaErrorIllegalAddress, [&] { setAll<<<1, 32>>>(data); });
    EXPECT_THAT(text, HasSubstr("which belongs to no allocation"));
}

__global__ void copyVectors(const float4* in, float4* out, size_t stride) {
    out[threadIdx.x] = in[threadIdx.x * stride];
}

TEST_F(Faults, MisalignedVectors) {
    SKIP_UNDER_ADDRESS_SANITIZER();
    Managed<float> in(64), out(64);
    const auto* odd = reinterpret_cast<const float4*>(in.get() + 1);
    const std::string load = failure(cudaErrorMisalignedAddress, [&] {
        copyVectors<<<1, 8>>>(odd, reinterpret_cast<float4*>(out.get()), 1);
    });
    EXPECT_THAT(load, HasSubstr("misaligned address 0x"));
    EXPECT_THAT(load, HasSubstr("needs a multiple of 16"));
    char address[32];
    std::snprintf(address, sizeof(address), "%p", static_cast<const void*>(odd));
    EXPECT_THAT(load, HasSubstr(address));
}

#if defined(__aarch64__) && defined(__clang__)
__global__ void sumAligned(const float* in, float* out) {
    const auto* aligned = static_cast<const float*>(__builtin_assume_aligned(in, 16));
    out[threadIdx.x] = aligned[0] + aligned[1] + aligned[2] + aligned[3];
}

TEST_F(Faults, AddressThatIsSaidToBeAligned) {
    Managed<float> in(64), out(64);
    EXPECT_THAT(
        failure(cudaErrorMisalignedAddress, [&] { sumAligned<<<1, 8>>>(in.get() + 1, out.get()); }),
        HasSubstr("faults.cu:"));
}
#endif

TEST_F(Faults, AddressThatCannotBe) {
    SKIP_UNDER_ADDRESS_SANITIZER();
    Managed<float> out(64);
    const auto* poison = reinterpret_cast<const float4*>(0xFFFACADEFFFACAD0);
    EXPECT_THAT(
        failure(cudaErrorIllegalAddress,
                [&] { copyVectors<<<1, 8>>>(poison, reinterpret_cast<float4*>(out.get()), 1); }),
        HasSubstr("illegal address 0xfffacadefffacad0, which belongs to no allocation"));
}

__global__ void sharedBelow(double* out, unsigned i) {
    __shared__ double s[4];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    const double* const end = s + 4;
    *out = end[~i];
}

TEST_F(Faults, UnsignedIndexBelowZero) {
    SKIP_UNDER_ADDRESS_SANITIZER();
    Managed<double> out(1);
    const std::string text =
        failure(cudaErrorIllegalAddress, [&] { sharedBelow<<<1, 4>>>(out.get(), 1); });
    EXPECT_THAT(text, HasSubstr("2^32 elements of 8 bytes behind an address in shared memory"));
    EXPECT_THAT(text, HasSubstr("-G"));
}

__global__ void callOne(void (*const* functions)()) {
    functions[1]();
}

TEST_F(Faults, AddressThatIsNotKnownIsNotInvented) {
    SKIP_UNDER_ADDRESS_SANITIZER();
    Managed<void (*)()> functions(2);
    functions[1] = reinterpret_cast<void (*)()>(0xFFFACADEFFFACAD0);
#ifdef __x86_64__
    const char* const cause = "thread (0,0,0): illegal address, or a misaligned one\n";
#else
    const char* const cause = "illegal address 0xfffacadefffacad0, which belongs to no allocation";
#endif
    EXPECT_THAT(failure(cudaErrorIllegalAddress, [&] { callOne<<<1, 8>>>(functions.get()); }),
                HasSubstr(cause));
}

__global__ void largeFrame(int* out) {
    volatile char frame[3 << 20];
    frame[out[0]] = 1;  // clang++ keeps no more of an array than what constant indices reach
    out[0] = frame[0];
}

TEST_F(Faults, LargeFramesDoNotJumpOverTheGuardPage) {
    SKIP_UNDER_ADDRESS_SANITIZER();
    Managed<int> out(1);
    EXPECT_THAT(failure(cudaErrorIllegalAddress, [&] { largeFrame<<<1, 1>>>(out.get()); }),
                HasSubstr("stack overflow"));
}

__global__ void divide(int* out, int by) {
    out[0] = out[1] / by;
}

TEST_F(Faults, IntegerDivisionByZero) {
    SKIP_UNDER_ADDRESS_SANITIZER();
    Managed<int> out(2);
    EXPECT_THAT(failure(cudaErrorLaunchFailure, [&] { divide<<<1, 1>>>(out.get(), 0); }),
                HasSubstr("division by zero"));
}

__global__ void failAssertion(int limit) {
    __syncthreads();
    assert((int)threadIdx.x < limit);
}

TEST_F(Faults, Assertion) {
    const std::string text = failure(cudaErrorAssert, [] { failAssertion<<<1, 64>>>(63); });
    EXPECT_THAT(
        text,
        HasSubstr("block: [0,0,0], thread: [63,0,0] Assertion `(int)threadIdx.x < limit` failed."));
}

__global__ void trapAt(unsigned thread) {
    if (threadIdx.x == thread) __trap();
}

TEST_F(Faults, Trap) {
    EXPECT_THAT(failure(cudaErrorLaunchFailure, [] { trapAt<<<4, 64>>>(3); }),
                HasSubstr("kernel trapAt"));
}

__global__ void printText(const char* text) {
    printf("%s and %d more\n", text, 1);
}

TEST_F(Faults, WithinPrintfLeaveStdoutToOthers) {
    SKIP_UNDER_ADDRESS_SANITIZER();
    auto* const wild = reinterpret_cast<const char*>(64);  // aligned as strlen() reads
    EXPECT_THAT(failure(cudaErrorIllegalAddress, [&] { printText<<<1, 1>>>(wild); }),
                HasSubstr("kernel printText, block (0,0,0), thread (0,0,0): illegal address 0x40"));
    int locked = -1;
    std::thread([&] {
        locked = ftrylockfile(stdout);
        if (locked == 0) funlockfile(stdout);
    }).join();
    EXPECT_EQ(0, locked) << "a thread that is gone still prints";
}

TEST_F(Faults, PrintfOfLongTexts) {
    Managed<char> text(100'001);
    std::memset(text.get(), 'x', 100'000);
    testing::internal::CaptureStdout();
    printText<<<1, 1>>>(text.get());
    EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
    printf("host: %s\n", "printf()");
    EXPECT_EQ(std::string(100'000, 'x') + " and 1 more\nhost: printf()\n",
              testing::internal::GetCapturedStdout());
}

}  // namespace
