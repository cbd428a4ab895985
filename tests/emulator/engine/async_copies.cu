// __pipeline_memcpy_async(): copied when waited for, and what no GPU can copy is refused.
#include <cuda_pipeline.h>
#include <gmock/gmock.h>

#include <numeric>

#include "fixture.h"

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

namespace {

constexpr int kGarbage = static_cast<int>(0xCBCBCBCB);  // emu::kUnwrittenShared in every byte

class AsyncCopies : public EngineTest {
  protected:
    AsyncCopies() { std::iota(in.get(), in.get() + in.size(), 1); }
    Managed<int> in{4096}, out{4096};

    std::vector<int> firstOut(size_t count) {
        EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
        return {out.get(), out.get() + count};
    }
};

template <class T>
__global__ void copy(T* out, const T* in) {
    __shared__ T tile[64];
    const unsigned t = threadIdx.x, i = blockIdx.x * 64 + t;
    __pipeline_memcpy_async(&tile[t], &in[i], sizeof(T));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[i] = tile[63 - t];
}

TEST_F(AsyncCopies, AreDoneBehindTheWaitInAllSizes) {
    RUN(copy<<<16, 64>>>(out.get(), in.get()));
    for (int i = 0; i < 1024; ++i) ASSERT_EQ(i / 64 * 64 + 63 - i % 64 + 1, out[i]);
    RUN(copy<<<4, 64>>>(reinterpret_cast<int4*>(out.get()),
                        reinterpret_cast<const int4*>(in.get())));
    for (int i = 0; i < 1024; ++i)
        ASSERT_EQ(4 * (i / 256 * 64 + 63 - i % 256 / 4) + i % 4 + 1, out[i]);
}

__global__ void readAtEachStep(int* out, int* in) {
    __shared__ int s;
    if (threadIdx.x > 0) return;
    s = -1;
    __pipeline_memcpy_async(&s, in, 4);
    out[0] = s;
    __pipeline_commit();
    out[1] = s;
    *in = 77;  // it is not read before it is copied
    __pipeline_wait_prior(1);
    out[2] = s;
    __pipeline_wait_prior(0);
    out[3] = s;
}

TEST_F(AsyncCopies, AreDoneInTheWaitAndNotBefore) {
    for (const int threads : {1, 64}) {  // alone, and with others
        in[0] = 1;
        readAtEachStep<<<1, threads>>>(out.get(), in.get());
        EXPECT_THAT(firstOut(4), ElementsAre(-1, -1, -1, 77));
    }
}

__global__ void othersSeeNothing(int* out, const int* in) {
    __shared__ int s[64];
    const unsigned t = threadIdx.x;
    s[t] = -1;
    __pipeline_memcpy_async(&s[t], &in[t], 4);
    __pipeline_commit();
    __syncthreads();
    out[t] = s[63 - t];
    __syncthreads();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[64 + t] = s[63 - t];
}

TEST_F(AsyncCopies, ABarrierDoesNotWaitForThem) {
    othersSeeNothing<<<1, 64>>>(out.get(), in.get());
    const std::vector<int> seen = firstOut(128);
    EXPECT_THAT(std::vector<int>(seen.begin(), seen.begin() + 64), Each(-1));
    for (size_t i = 0; i < 64; ++i) EXPECT_EQ(64 - i, seen[64 + i]);
}

// Groups 0, 1 (empty), 2 with two copies, and what is not committed.
__global__ void groups(int* out, const int* in, int prior) {
    __shared__ int s[4];
    for (int i = 0; i < 4; ++i) s[i] = 0;
    __pipeline_memcpy_async(&s[0], &in[0], 4);
    __pipeline_commit();
    __pipeline_commit();
    __pipeline_memcpy_async(&s[1], &in[1], 4);
    __pipeline_memcpy_async(&s[2], &in[2], 4);
    __pipeline_commit();
    __pipeline_memcpy_async(&s[3], &in[3], 4);
    __pipeline_wait_prior(prior);
    for (int i = 0; i < 4; ++i) out[i] = s[i];
}

TEST_F(AsyncCopies, AreWaitedForInGroups) {
    const int expected[][4] = {
        {1, 2, 3, 0}, {1, 0, 0, 0}, {1, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
    for (int prior = 0; prior < 5; ++prior) {
        groups<<<1, 1>>>(out.get(), in.get(), prior);
        EXPECT_THAT(firstOut(4), ElementsAreArray(expected[prior])) << prior;
    }
}

__global__ void tenGroups(int* out, const int* in, int prior) {
    __shared__ int s[10];
    for (int i = 0; i < 10; ++i) {
        s[i] = 0;
        __pipeline_memcpy_async(&s[i], &in[i], 4);
        __pipeline_commit();
    }
    __pipeline_wait_prior(prior);
    for (int i = 0; i < 10; ++i) out[i] = s[i];
}

TEST_F(AsyncCopies, MoreThanEightGroupsAreNotLeftOut) {
    for (const int prior : {8, 9, 1000}) {
        tenGroups<<<1, 1>>>(out.get(), in.get(), prior);
        EXPECT_THAT(firstOut(10), ElementsAre(1, 2, 0, 0, 0, 0, 0, 0, 0, 0)) << prior;
    }
}

__global__ void fill(unsigned char* out, const unsigned char* in, size_t size, size_t zeros) {
    __shared__ alignas(16) unsigned char s[32];
    for (int i = 0; i < 32; ++i) s[i] = 0xEE;
    __pipeline_memcpy_async(s, in, size, zeros);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    for (int i = 0; i < 32; ++i) out[i] = s[i];
}

TEST_F(AsyncCopies, FillUpWithZerosWhatTheyDoNotRead) {
    auto* from = reinterpret_cast<unsigned char*>(in.get());
    auto* to = reinterpret_cast<unsigned char*>(out.get());
    std::iota(from, from + 32, 1);
    for (const size_t size : {4, 8, 16}) {
        for (size_t zeros = 0; zeros <= size; ++zeros) {
            std::vector<unsigned char> expected(32, 0xEE);
            for (size_t i = 0; i < size; ++i) {
                expected[i] = static_cast<unsigned char>(i < size - zeros ? i + 1 : 0);
            }
            RUN(fill<<<1, 1>>>(to, from, size, zeros));
            EXPECT_THAT(std::vector<unsigned char>(to, to + 32), ElementsAreArray(expected))
                << size << ", " << zeros;
        }
    }
}

TEST_F(AsyncCopies, ReadNothingWhereAllIsZeros) {
    fill<<<1, 1>>>(reinterpret_cast<unsigned char*>(out.get()), nullptr, 16, 16);
    EXPECT_THAT(firstOut(4), Each(0));
}

__global__ void neverWaits(int* out, const int* in) {
    __shared__ int s[64];
    const unsigned t = threadIdx.x;
    if (t % 2 == 0) {
        __pipeline_memcpy_async(&s[t], &in[t], 4);
        if (t % 4 == 0) __pipeline_commit();
        return;
    }
    __syncthreads();
    out[blockIdx.x * 64 + t] = s[t - 1];
}

TEST_F(AsyncCopies, ThatNobodyWaitsForAreInNoHurry) {
    neverWaits<<<64, 64>>>(out.get(), in.get());
    const std::vector<int> seen = firstOut(4096);
    for (size_t i = 1; i < 4096; i += 2) ASSERT_EQ(kGarbage, seen[i]);
    copy<<<1, 64>>>(out.get(), in.get());  // nothing is left of them
    EXPECT_EQ(64, firstOut(1)[0]);
}

// ---- what is refused

TEST_F(AsyncCopies, OfOtherSizesAreRefused) {
    auto* from = reinterpret_cast<unsigned char*>(in.get());
    auto* to = reinterpret_cast<unsigned char*>(out.get());
    for (const size_t size :
         {size_t{0}, size_t{1}, size_t{12}, size_t{32}, (size_t{1} << 32) + 4}) {
        const std::string text =
            failure(cudaErrorLaunchFailure, [&] { fill<<<1, 1>>>(to, from, size, 0); });
        EXPECT_THAT(text, HasSubstr("kernel fill, block (0,0,0), thread (0,0,0): "
                                    "__pipeline_memcpy_async() at "));
        EXPECT_THAT(text, HasSubstr("async_copies.cu:"));
        EXPECT_THAT(text, HasSubstr(": size_and_align is " + std::to_string(size) +
                                    ": it must be 4, 8 or 16"));
        cudaDeviceReset();
    }
    const std::string text =
        failure(cudaErrorLaunchFailure, [&] { fill<<<1, 1>>>(to, from, 4, 5); });
    EXPECT_THAT(text, HasSubstr(": zfill is more than size_and_align"));
}

template <class T>
__global__ void misaligned(const char* in, int to, int from) {
    __shared__ alignas(16) char s[64];
    __pipeline_memcpy_async(s + to, in + from, sizeof(T));
}

TEST_F(AsyncCopies, OfMisalignedAddressesAreRefused) {
    const auto* from = reinterpret_cast<const char*>(in.get());
    const auto said = [&](auto launch) { return failure(cudaErrorMisalignedAddress, launch); };
    EXPECT_THAT(said([&] { misaligned<int><<<1, 1>>>(from, 2, 0); }),
                HasSubstr("misaligned address: dst_shared is 2 beyond a multiple of 4"));
    cudaDeviceReset();
    EXPECT_THAT(said([&] { misaligned<int4><<<1, 1>>>(from, 0, 8); }),
                HasSubstr("misaligned address: src_global is 8 beyond a multiple of 16"));
}

__device__ int destination;
__global__ void toGlobal(const int* in) {
    __pipeline_memcpy_async(&destination, in, 4);
}
__global__ void toLocal(const int* in) {
    int local = 0;
    __pipeline_memcpy_async(&local, in, 4);
}
__global__ void fromShared() {
    __shared__ int a, b;
    b = 1;
    __pipeline_memcpy_async(&a, &b, 4);
}
__global__ void fromLocal() {
    __shared__ int a;
    int b = 1;
    __pipeline_memcpy_async(&a, &b, 4);
}

TEST_F(AsyncCopies, BetweenOtherMemoriesAreRefused) {
    const auto said = [&](auto launch) {
        const std::string text = failure(cudaErrorIllegalAddress, launch);
        cudaDeviceReset();
        return text;
    };
    const char* kNotShared = "dst_shared does not point into shared memory";
    EXPECT_THAT(said([&] { toGlobal<<<1, 1>>>(in.get()); }), HasSubstr(kNotShared));
    EXPECT_THAT(said([&] { toLocal<<<1, 1>>>(in.get()); }), HasSubstr(kNotShared));
    EXPECT_THAT(said([&] { fromShared<<<1, 1>>>(); }),
                HasSubstr("src_global points into shared memory"));
    EXPECT_THAT(said([&] { fromLocal<<<1, 1>>>(); }),
                HasSubstr("src_global points to a local variable"));
}

__global__ void notWaitedFor(const int* in) {
    __shared__ int s;
    if (threadIdx.x == 2 && threadIdx.y == 1) __pipeline_memcpy_async(&s, in, 4);
}

TEST_F(AsyncCopies, OfIllegalAddressesFailTheKernel) {
    SKIP_UNDER_ADDRESS_SANITIZER();
    auto* to = reinterpret_cast<unsigned char*>(out.get());
    EXPECT_THAT(failure(cudaErrorIllegalAddress, [&] { fill<<<1, 1>>>(to, nullptr, 4, 0); }),
                HasSubstr("illegal address"));
    cudaDeviceReset();
    EXPECT_THAT(failure(cudaErrorIllegalAddress, [&] { notWaitedFor<<<1, dim3(4, 4)>>>(nullptr); }),
                HasSubstr("thread (2,1,0): illegal address"));
}

}  // namespace
