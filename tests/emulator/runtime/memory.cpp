// Allocation of device and host memory, and what the runtime knows of pointers.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "../../../common/host_memory.h"
#include "fixture.h"

namespace {

// Of the host, as all tests of the program have it: the runtime asks once how much there is.
constexpr host::Memory kPretended = {size_t{8} << 30, size_t{4} << 30};
host::Memory pretended = kPretended;
[[maybe_unused]] const host::Memory* const unused = host::pretended = &pretended;

class MemoryTest : public RuntimeTest {
  protected:
    ~MemoryTest() override { pretended = kPretended; }
};

constexpr size_t kTooMuch = size_t{1} << 50;
constexpr size_t kPoisoned = size_t{16} << 20;  // of an allocation: written at once

TEST_F(MemoryTest, AllocationsAreAlignedAndFreedOnce) {
    char *a = nullptr, *b = nullptr;
    ASSERT_OK(cudaMalloc(&a, 1000));
    ASSERT_OK(cudaMalloc(reinterpret_cast<void**>(&b), 1));
    EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(a) % 256);
    EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(b) % 256);
    EXPECT_OK(cudaFree(nullptr));
    EXPECT_INVALID(cudaFree(a + 4));
    EXPECT_OK(cudaFree(a));
    EXPECT_INVALID(cudaFree(a));
    EXPECT_OK(cudaFree(b));
}

TEST_F(MemoryTest, ForeignPointersAreNotFreed) {
    int local = 0;
    std::vector<int> heap(10);
    int *pinned = nullptr, *managed = nullptr, *device = deviceArray<int>(4);
    ASSERT_OK(cudaMallocHost(&pinned, 40));
    ASSERT_OK(cudaMallocManaged(&managed, 40));
    EXPECT_INVALID(cudaFree(&local));
    EXPECT_INVALID(cudaFree(heap.data()));
    EXPECT_INVALID(cudaFree(pinned));
    EXPECT_INVALID(cudaFreeHost(device));
    EXPECT_INVALID(cudaFreeHost(managed));
    EXPECT_INVALID(cudaFreeHost(heap.data()));
    EXPECT_OK(cudaFreeHost(nullptr));
    EXPECT_OK(cudaFreeHost(pinned));
    EXPECT_INVALID(cudaFreeHost(pinned));
    EXPECT_OK(cudaFree(managed));
}

TEST_F(MemoryTest, NothingIsAllocatedForSizeZero) {
    char* pointers[4];
    std::memset(pointers, 8, sizeof(pointers));
    size_t pitch = 77;
    EXPECT_OK(cudaMalloc(&pointers[0], 0));
    EXPECT_OK(cudaMallocHost(&pointers[1], 0));
    EXPECT_OK(cudaMallocManaged(&pointers[2], 0));
    EXPECT_OK(cudaMallocPitch(&pointers[3], &pitch, 0, 10));
    for (const char* pointer : pointers) EXPECT_EQ(nullptr, pointer);
    EXPECT_EQ(0u, pitch);
}

TEST_F(MemoryTest, BadArgumentsAndFlags) {
    char* pointer = nullptr;
    size_t pitch = 0;
    EXPECT_INVALID(cudaMalloc(static_cast<void**>(nullptr), 4));
    EXPECT_INVALID(cudaMallocPitch(&pointer, nullptr, 4, 4));
    EXPECT_INVALID(cudaMallocPitch(static_cast<void**>(nullptr), &pitch, 4, 4));
    EXPECT_INVALID(cudaHostAlloc(&pointer, 4, 0x100));
    EXPECT_INVALID(cudaMallocManaged(&pointer, 4, 0));
    EXPECT_INVALID(cudaMallocManaged(&pointer, 4, cudaMemAttachSingle));
    EXPECT_INVALID(cudaMallocManaged(&pointer, 4, 7));
    EXPECT_OK(cudaMallocManaged(&pointer, 4, cudaMemAttachHost));
}

TEST_F(MemoryTest, WhatDoesNotFitIsRefusedAtOnce) {
    char* pointer = nullptr;
    size_t pitch = 0;
    EXPECT_FAILS(cudaErrorMemoryAllocation, cudaMalloc(&pointer, kTooMuch));
    EXPECT_FAILS(cudaErrorMemoryAllocation, cudaMalloc(&pointer, SIZE_MAX));
    EXPECT_FAILS(cudaErrorMemoryAllocation, cudaMallocHost(&pointer, kTooMuch));
    EXPECT_FAILS(cudaErrorMemoryAllocation, cudaMallocManaged(&pointer, kTooMuch));
    EXPECT_FAILS(cudaErrorMemoryAllocation, cudaMallocPitch(&pointer, &pitch, kTooMuch, kTooMuch));
    EXPECT_FAILS(cudaErrorMemoryAllocation, cudaMallocAsync(&pointer, kTooMuch, nullptr));
}

size_t freeNow() {
    size_t free = 0;
    EXPECT_OK(cudaMemGetInfo(&free, nullptr));
    return free;
}

// The host would promise more than it has. (AddressSanitizer takes seconds to free as much.)
#ifndef __SANITIZE_ADDRESS__
TEST_F(MemoryTest, WhatDoesNotFitIsRefusedInSeveralStepsToo) {
    char *pointer = nullptr, *half = nullptr;
    const size_t free = freeNow();
    EXPECT_FAILS(cudaErrorMemoryAllocation, cudaMalloc(&pointer, free + 1));
    ASSERT_OK(cudaMalloc(&half, free / 2 + kPoisoned));
    EXPECT_FAILS(cudaErrorMemoryAllocation, cudaMalloc(&pointer, free / 2 + kPoisoned));
    EXPECT_OK(cudaFree(half));
    ASSERT_OK(cudaMalloc(&half, free / 2 + kPoisoned));
}
#endif

// Small ones are not asked for one by one.
TEST_F(MemoryTest, WhatDoesNotFitIsRefusedInSmallStepsToo) {
    pretended.available = 0;
    char* pointer = nullptr;
    int fitted = 0;
    for (; fitted < 100 && cudaMalloc(&pointer, 100000) == cudaSuccess; ++fitted) {
    }
    pretended.available = size_t{4} << 30;
    EXPECT_LT(fitted, 100);
    EXPECT_EQ(cudaErrorMemoryAllocation, cudaGetLastError());
}

// The host misses memory from the first write to it.
TEST_F(MemoryTest, WhatWaitsForItsFirstWriteIsTaken) {
    constexpr size_t kSize = size_t{64} << 20;
    size_t total = 0;
    ASSERT_OK(cudaMemGetInfo(nullptr, &total));
    EXPECT_EQ(pretended.total, total);
    const size_t before = freeNow();
    EXPECT_LT(before, pretended.available);
    EXPECT_GT(before, pretended.available / 10 * 9);
    char* pointer = deviceArray<char>(kSize);
    EXPECT_NEAR(static_cast<double>(before - (kSize - kPoisoned)), static_cast<double>(freeNow()),
                4 * 4096);
    ASSERT_OK(cudaMemset(pointer, 0, kSize));
    EXPECT_EQ(before, freeNow());
    pretended.available -= kSize;
    EXPECT_LT(freeNow(), before - kSize / 10 * 9);
    pretended.available += kSize;
    ASSERT_OK(cudaFree(pointer));
    EXPECT_EQ(before, freeNow());
}

TEST_F(MemoryTest, FreshDeviceMemoryShowsAForgottenInitialisation) {
    constexpr size_t kCount = 1027;
    auto* asInts = deviceArray<uint32_t>(kCount);
    for (size_t i = 0; i < kCount; ++i) ASSERT_EQ(0xFEFACADEu, asInts[i]);
    auto* asFloats = deviceArray<float>(3);
    auto* asDoubles = deviceArray<double>(3);
    for (int i = 0; i < 3; ++i) {
        EXPECT_FLOAT_EQ(-1.6668017e38f, asFloats[i]);
        EXPECT_DOUBLE_EQ(-4.5933371224073116e303, asDoubles[i]);
    }
    auto* odd = deviceArray<unsigned char>(7);
    EXPECT_EQ(0xFA, odd[6]);
    int* managed = nullptr;
    ASSERT_OK(cudaMallocManaged(&managed, 4));
    EXPECT_EQ(-17118498, managed[0]);
}

#ifndef __SANITIZE_ADDRESS__  // which reports these accesses themselves
TEST_F(MemoryTest, BehindTheEndIsGarbageAndStaysSo) {
    for (const size_t count : {3, 128, 1027}) {  // 128: 512 bytes, the granularity itself
        auto* array = deviceArray<uint32_t>(count);
        EXPECT_EQ(0xFEFACADEu, array[count]);
        testing::internal::CaptureStderr();
        array[count - 1] = 0;
        EXPECT_OK(cudaFree(array));
        EXPECT_EQ("", testing::internal::GetCapturedStderr());
    }
    auto* bytes = deviceArray<unsigned char>(7);
    testing::internal::CaptureStderr();
    bytes[7] = 0;
    EXPECT_OK(cudaFree(bytes));
    EXPECT_EQ(
        "emulator: something wrote beyond the end of an allocation of 7 bytes; ./lab check names "
        "the line\n",
        testing::internal::GetCapturedStderr());
}
#endif

TEST_F(MemoryTest, PitchedRowsAreAligned) {
    char* pointer = nullptr;
    size_t pitch = 0;
    ASSERT_OK(cudaMallocPitch(&pointer, &pitch, 100, 10));
    EXPECT_EQ(512u, pitch);
    ASSERT_OK(cudaMallocPitch(&pointer, &pitch, 513, 3));
    EXPECT_EQ(1024u, pitch);
    EXPECT_OK(cudaMemset(pointer, 0, 3 * 1024));
    EXPECT_INVALID(cudaMemset(pointer, 0, 3 * 1024 + 1));

    cudaPitchedPtr pitched;
    ASSERT_OK(cudaMalloc3D(&pitched, make_cudaExtent(100, 5, 4)));
    EXPECT_EQ(512u, pitched.pitch);
    EXPECT_EQ(100u, pitched.xsize);
    EXPECT_EQ(5u, pitched.ysize);
    EXPECT_OK(cudaMemset(pitched.ptr, 0, 512 * 5 * 4));
    EXPECT_INVALID(cudaMemset(pitched.ptr, 0, 512 * 5 * 4 + 1));
}

TEST_F(MemoryTest, HostMemoryIsKnownToTheDevice) {
    int* pinned = nullptr;
    int* mapped = nullptr;
    unsigned flags = 0;
    ASSERT_OK(cudaHostAlloc(&pinned, 100, cudaHostAllocMapped));
    EXPECT_OK(cudaHostGetDevicePointer(&mapped, pinned, 0));
    EXPECT_EQ(pinned, mapped);
    EXPECT_OK(cudaHostGetDevicePointer(&mapped, pinned + 3, 0));
    EXPECT_EQ(pinned + 3, mapped);
    EXPECT_OK(cudaHostGetFlags(&flags, pinned + 3));
    EXPECT_EQ(unsigned{cudaHostAllocMapped}, flags);
    EXPECT_INVALID(cudaHostGetDevicePointer(&mapped, pinned, 1));
    EXPECT_INVALID(cudaHostGetDevicePointer(static_cast<void**>(nullptr), pinned, 0));

    ASSERT_OK(cudaHostAlloc(&pinned, 100, cudaHostAllocWriteCombined | cudaHostAllocPortable));
    EXPECT_OK(cudaHostGetFlags(&flags, pinned));
    EXPECT_EQ(7u, flags);

    int* device = deviceArray<int>(1);
    EXPECT_INVALID(cudaHostGetFlags(&flags, device));
    EXPECT_INVALID(cudaHostGetDevicePointer(&mapped, device, 0));
    EXPECT_INVALID(cudaHostGetDevicePointer(&mapped, &flags, 0));
}

TEST_F(MemoryTest, HostMemoryIsRegisteredOnce) {
    std::vector<char> buffer(8192);
    char* host = buffer.data();
    char* mapped = nullptr;
    EXPECT_OK(cudaHostRegister(host, 8192, cudaHostRegisterDefault));
    EXPECT_FAILS(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(host, 8192, 0));
    EXPECT_FAILS(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(host + 4096, 10, 0));
    EXPECT_OK(cudaHostGetDevicePointer(&mapped, host + 100, 0));
    EXPECT_EQ(host + 100, mapped);
    EXPECT_INVALID(cudaFreeHost(host));
    EXPECT_INVALID(cudaFree(host));
    EXPECT_INVALID(cudaHostUnregister(host + 1));
    EXPECT_OK(cudaHostUnregister(host));
    EXPECT_FAILS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(host));
    EXPECT_INVALID(cudaHostGetDevicePointer(&mapped, host, 0));
}

TEST_F(MemoryTest, WhatCannotBeRegistered) {
    std::vector<char> buffer(100);
    char *device = deviceArray<char>(100), *pinned = nullptr;
    ASSERT_OK(cudaMallocHost(&pinned, 100));
    EXPECT_INVALID(cudaHostRegister(nullptr, 10, 0));
    EXPECT_INVALID(cudaHostRegister(buffer.data(), 0, 0));
    EXPECT_INVALID(cudaHostRegister(buffer.data(), 10, 0x100));
    EXPECT_INVALID(cudaHostRegister(buffer.data(), SIZE_MAX, 0));
    EXPECT_INVALID(cudaHostRegister(device, 100, 0));
    EXPECT_INVALID(cudaHostRegister(pinned, 100, 0));
    EXPECT_INVALID(cudaHostUnregister(pinned));
    EXPECT_INVALID(cudaHostUnregister(nullptr));
}

// (The exercise unifiedAddresses has each kind of memory.)
TEST_F(MemoryTest, PointerAttributes) {
    int* const device = deviceArray<int>(25);
    cudaPointerAttributes attributes;
    EXPECT_OK(cudaPointerGetAttributes(&attributes, device + 3));
    EXPECT_EQ(0, attributes.device);
    EXPECT_EQ(device + 3, attributes.devicePointer);
    for (const int* unknown : {device + 25, static_cast<int*>(nullptr)}) {
        EXPECT_OK(cudaPointerGetAttributes(&attributes, unknown));
        EXPECT_EQ(cudaMemoryTypeUnregistered, attributes.type);
        EXPECT_EQ(cudaInvalidDeviceId, attributes.device);
    }
    EXPECT_INVALID(cudaPointerGetAttributes(nullptr, device));
}

TEST_F(MemoryTest, StreamOrderedAllocation) {
    int* pointer = nullptr;
    const cudaStream_t stream = newStream();
    EXPECT_OK(cudaMallocAsync(&pointer, 400, stream));
    EXPECT_OK(cudaMemsetAsync(pointer, 0, 400, stream));
    EXPECT_OK(cudaFreeAsync(pointer, stream));
    EXPECT_INVALID(cudaFreeAsync(pointer, stream));
    EXPECT_OK(cudaFreeAsync(nullptr, stream));
    EXPECT_OK(cudaMallocAsync(&pointer, 400, stream));
    EXPECT_OK(cudaFree(pointer));
    EXPECT_OK(cudaStreamDestroy(stream));
    EXPECT_NO_HANDLE(cudaMallocAsync(&pointer, 400, stream));
    EXPECT_INVALID(cudaMallocAsync(static_cast<void**>(nullptr), 400, nullptr));
}

TEST_F(MemoryTest, DefaultMemoryPool) {
    cudaMemPool_t pool = nullptr;
    int* pointer = nullptr;
    uint64_t number = 1 << 20;
    int policy = 9;
    ASSERT_OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    EXPECT_FAILS(cudaErrorInvalidDevice, cudaDeviceGetDefaultMemPool(&pool, 1));
    EXPECT_OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &number));
    number = 0;
    EXPECT_OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &number));
    EXPECT_EQ(uint64_t{1} << 20, number);
    EXPECT_OK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &policy));
    EXPECT_EQ(1, policy);
    EXPECT_OK(cudaMallocFromPoolAsync(&pointer, 1000, pool, nullptr));
    EXPECT_OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &number));
    EXPECT_EQ(1000u, number);
    EXPECT_OK(cudaFreeAsync(pointer, nullptr));
    EXPECT_OK(cudaMemPoolTrimTo(pool, 0));
    EXPECT_OK(cudaDeviceSetMemPool(0, pool));

    EXPECT_INVALID(cudaMemPoolSetAttribute(pool, static_cast<cudaMemPoolAttr>(99), &number));
    EXPECT_INVALID(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &number));
    EXPECT_INVALID(cudaMemPoolSetAttribute(nullptr, cudaMemPoolAttrReleaseThreshold, &number));
    EXPECT_INVALID(cudaMallocFromPoolAsync(&pointer, 10, nullptr, nullptr));
    EXPECT_INVALID(cudaDeviceSetMemPool(0, nullptr));
}

void expectPoolBytes(cudaMemPool_t pool, uint64_t current, uint64_t reservedHigh,
                     uint64_t usedHigh) {
    const auto get = [&](cudaMemPoolAttr attribute) {
        uint64_t bytes = 0;
        EXPECT_OK(cudaMemPoolGetAttribute(pool, attribute, &bytes));
        return bytes;
    };
    EXPECT_EQ(current, get(cudaMemPoolAttrReservedMemCurrent));
    EXPECT_EQ(current, get(cudaMemPoolAttrUsedMemCurrent));
    EXPECT_EQ(reservedHigh, get(cudaMemPoolAttrReservedMemHigh));
    EXPECT_EQ(usedHigh, get(cudaMemPoolAttrUsedMemHigh));
}

// "Resetting the watermarks will make them take on the current value", says the CUDA Programming
// Guide ("Stream Ordered Memory Allocator", "Resource Usage Statistics"): each alone.
TEST_F(MemoryTest, HighMarksOfAMemoryPool) {
    cudaMemPool_t pool = nullptr;
    char *small = nullptr, *large = nullptr, *later = nullptr, *largest = nullptr;
    uint64_t none = 0, some = 1;
    ASSERT_OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    expectPoolBytes(pool, 0, 0, 0);
    ASSERT_OK(cudaMallocAsync(&small, 1000, nullptr));
    ASSERT_OK(cudaMallocAsync(&large, 2000, nullptr));
    expectPoolBytes(pool, 3000, 3000, 3000);
    ASSERT_OK(cudaFreeAsync(large, nullptr));  // shrinks
    expectPoolBytes(pool, 1000, 3000, 3000);
    ASSERT_OK(cudaMallocAsync(&later, 500, nullptr));  // grows, to less than before
    expectPoolBytes(pool, 1500, 3000, 3000);
    ASSERT_OK(cudaMalloc(&large, 8000));  // is none of the pool
    expectPoolBytes(pool, 1500, 3000, 3000);
    ASSERT_OK(cudaFree(large));
    for (const cudaMemPoolAttr mark : {cudaMemPoolAttrReservedMemHigh, cudaMemPoolAttrUsedMemHigh})
        EXPECT_INVALID(cudaMemPoolSetAttribute(pool, mark, &some));
    expectPoolBytes(pool, 1500, 3000, 3000);
    ASSERT_OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &none));
    expectPoolBytes(pool, 1500, 3000, 1500);
    ASSERT_OK(cudaMallocAsync(&large, 500, nullptr));  // to more than one of them
    expectPoolBytes(pool, 2000, 3000, 2000);
    ASSERT_OK(cudaFree(large));
    expectPoolBytes(pool, 1500, 3000, 2000);
    ASSERT_OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReservedMemHigh, &none));
    expectPoolBytes(pool, 1500, 1500, 2000);
    ASSERT_OK(cudaMallocAsync(&largest, 9000, nullptr));
    ASSERT_OK(cudaFreeAsync(largest, nullptr));
    ASSERT_OK(cudaFreeAsync(small, nullptr));
    ASSERT_OK(cudaFreeAsync(later, nullptr));
    expectPoolBytes(pool, 0, 10500, 10500);
    ASSERT_OK(cudaMallocAsync(&small, 100, nullptr));
    ASSERT_OK(cudaDeviceReset());
    expectPoolBytes(pool, 0, 0, 0);
}

TEST_F(MemoryTest, ResetFreesEverything) {
    size_t before = 0, after = 0;
    ASSERT_OK(cudaMemGetInfo(&before, nullptr));
    char *device = deviceArray<char>(1000), *pinned = nullptr;
    std::vector<char> host(100);
    ASSERT_OK(cudaMallocHost(&pinned, 100));
    ASSERT_OK(cudaHostRegister(host.data(), 100, 0));
    ASSERT_OK(cudaDeviceReset());
    EXPECT_INVALID(cudaFree(device));
    EXPECT_INVALID(cudaFreeHost(pinned));
    EXPECT_INVALID(cudaMemcpy(device, host.data(), 4, cudaMemcpyHostToDevice));
    EXPECT_FAILS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(host.data()));
    ASSERT_OK(cudaMemGetInfo(&after, nullptr));
    EXPECT_EQ(before, after);
}

TEST_F(MemoryTest, ThreadsAllocateAndCopyAtTheSameTime) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([t] {
            for (int i = 0; i < 500; ++i) {
                int *pointer = nullptr, value = 1000 * t + i, back = -1;
                ASSERT_OK(cudaMalloc(&pointer, 64));
                ASSERT_OK(cudaMemcpy(pointer, &value, 4, cudaMemcpyHostToDevice));
                ASSERT_OK(cudaMemcpy(&back, pointer, 4, cudaMemcpyDeviceToHost));
                ASSERT_EQ(value, back);
                ASSERT_OK(cudaFree(pointer));
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
}

}  // namespace
