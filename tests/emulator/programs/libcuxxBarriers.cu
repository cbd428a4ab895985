// cuda::barrier, cuda::pipeline, cuda::memcpy_async() and bulk copies: values, phases and tokens.
// What hands over through them is right, so that the hazard check finds nothing.
#include <cooperative_groups.h>
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline.h>

#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <utility>
#include <vector>

#include "expect.cuh"

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
constexpr int kBlock = 96, kTiles = 7;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

// Neighbours exchange numbers in each phase; thread 95 drops out after phase 2.
__global__ void exchange(int* out) {
    __shared__ Barrier barrier;
    __shared__ int slots[2][kBlock];
    const int t = threadIdx.x;
    if (t == 0) init(&barrier, kBlock);
    __syncthreads();
    int value = t;
    for (int phase = 0; phase < 5; ++phase) {
        slots[phase % 2][t] = value;
        if (t == kBlock - 1 && phase == 2) {
            barrier.arrive_and_drop();
            return;
        }
        auto token = barrier.arrive();
        barrier.wait(std::move(token));
        value += slots[phase % 2][t == 0 ? 1 : t - 1];
    }
    out[t] = value;
}

// Warp 0 fills tiles, the others add them up: full and empty barriers, waited for by parity.
__global__ void producerAndConsumers(const int* in, int* out) {
    __shared__ alignas(16) int ring[2][64];
    __shared__ Barrier full[2], empty[2];
    const int t = threadIdx.x;
    if (t < 2) {
        init(&full[t], 32);
        init(&empty[t], kBlock - 32);
    }
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < kTiles; ++i) {
        const bool parity = i / 2 % 2 == 1;
        if (t < 32) {
            empty[i % 2].wait_parity(!parity);
            cuda::memcpy_async(&ring[i % 2][2 * t], &in[64 * i + 2 * t], cuda::aligned_size_t<8>(8),
                               full[i % 2]);
            (void)full[i % 2].arrive();
        } else {
            full[i % 2].wait_parity(parity);
            sum += ring[i % 2][t - 32];
            (void)empty[i % 2].arrive();
        }
    }
    if (t >= 32) out[t - 32] = sum;
}

// The same by a pipeline, with each way to say who produces.
enum class Roles { kAll, kCount, kEach };
template <Roles roles>
__global__ void blockPipeline(const int* in, int* out) {
    __shared__ int ring[3][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;
    const auto block = cg::this_thread_block();
    const int t = threadIdx.x;
    const auto role = t < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = [&] {
        if constexpr (roles == Roles::kAll) return cuda::make_pipeline(block, &state);
        if constexpr (roles == Roles::kCount) return cuda::make_pipeline(block, &state, 32);
        if constexpr (roles == Roles::kEach) return cuda::make_pipeline(block, &state, role);
    }();
    int sum = 0;
    if constexpr (roles == Roles::kAll) {
        for (int i = 0; i < kTiles + 2; ++i) {
            if (i < kTiles) {
                pipe.producer_acquire();
                cuda::memcpy_async(block, ring[i % 3], &in[64 * i], 64 * sizeof(int), pipe);
                pipe.producer_commit();
            }
            if (i < 2) continue;
            pipe.consumer_wait();
            if (t >= 32) sum += ring[(i - 2) % 3][t - 32];
            pipe.consumer_release();
        }
    } else if (t < 32) {
        for (int i = 0; i < kTiles; ++i) {
            pipe.producer_acquire();
            cuda::memcpy_async(&ring[i % 3][t], &in[64 * i + t], sizeof(int), pipe);
            cuda::memcpy_async(&ring[i % 3][t + 32], &in[64 * i + t + 32], sizeof(int), pipe);
            pipe.producer_commit();
        }
    } else {
        for (int i = 0; i < kTiles; ++i) {
            pipe.consumer_wait();
            sum += ring[i % 3][t - 32];
            pipe.consumer_release();
        }
    }
    if (t >= 32) out[t - 32] = sum;
}

// A thread's own pipeline. Chars are copied at once, as on a GPU.
__global__ void ownPipeline(const int* in, const char* chars, int* out) {
    __shared__ int ring[3][64];
    __shared__ char letters[64];
    auto pipe = cuda::make_pipeline();
    const int t = threadIdx.x;
    int sum = 0;
    for (int i = 0; i < kTiles + 2; ++i) {
        pipe.producer_acquire();
        if (i < kTiles) cuda::memcpy_async(&ring[i % 3][t], &in[64 * i + t], sizeof(int), pipe);
        if (i == 0) cuda::memcpy_async(&letters[t], &chars[t], 1, pipe);
        pipe.producer_commit();
        if (i < 2) continue;
        cuda::pipeline_consumer_wait_prior<2>(pipe);
        sum += ring[(i - 2) % 3][t];
        pipe.consumer_release();
    }
    out[t] = sum + letters[t];
}

// Bulk copies there and back: by the functions of cuda::device, and by those of ptx.
template <bool byPtx>
__global__ void bulk(int* data, int tiles) {
    __shared__ alignas(16) int tile[256];
    __shared__ Barrier barrier;
    const int t = threadIdx.x;
    std::uint64_t* const handle = cuda::device::barrier_native_handle(barrier);
    if (t == 0) {
        if (byPtx) {
            ptx::mbarrier_init(handle, 1);
            ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        } else {
            init(&barrier, blockDim.x);
        }
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    for (int i = 0; i < tiles; ++i) {
        int* const place = data + 256 * i;
        if (byPtx) {
            if (t == 0) {
                ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                               handle, sizeof(tile));
                ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, place, sizeof(tile),
                                   handle);
            }
            while (!ptx::mbarrier_try_wait_parity(handle, i % 2)) {
            }
        } else {
            if (t == 0) {
                cuda::memcpy_async(tile, place, cuda::aligned_size_t<16>(sizeof(tile)), barrier);
            }
            barrier.wait(barrier.arrive());
        }
        for (int k = t; k < 256; k += blockDim.x) tile[k] += 1;
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (t == 0) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, place, tile, sizeof(tile));
            ptx::cp_async_bulk_commit_group();
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        }
        __syncthreads();
    }
}

// The functions in C.
__global__ void primitives(const int* in, int* out) {
    __shared__ __mbarrier_t barrier;
    __shared__ int tile[kBlock];
    const int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&barrier, kBlock);
    __syncthreads();
    __pipeline_memcpy_async(&tile[t], &in[t], 4);
    __pipeline_arrive_on(&barrier);
    const __mbarrier_token_t token = __mbarrier_arrive(&barrier);
    while (!__mbarrier_test_wait(&barrier, token)) {
    }
    out[t] = tile[kBlock - 1 - t];
}

int main() {
    int *in, *out;
    char* letters;
    CHECK(cudaMallocManaged(&in, 1024 * sizeof(int)));
    CHECK(cudaMallocManaged(&out, 1024 * sizeof(int)));
    CHECK(cudaMallocManaged(&letters, 64));
    for (int i = 0; i < 1024; ++i) in[i] = i;
    for (int i = 0; i < 64; ++i) letters[i] = 1;

    std::vector<int> values(kBlock), before;
    for (int i = 0; i < kBlock; ++i) values[i] = i;
    for (int phase = 0; phase < 5; ++phase) {
        before = values;
        for (int i = 0; i < kBlock; ++i) values[i] += before[i == 0 ? 1 : i - 1];
    }
    CHECK(cudaMemset(out, 0, 1024 * sizeof(int)));
    EXPECT_AFTER(out[1] == values[1], exchange<<<1, kBlock>>>(out));
    EXPECT(out[0] == values[0] && out[94] == values[94] && out[95] == 0);

    const auto isSum = [&](int more) {
        for (int t = 0; t < 64; ++t) {
            int sum = more;
            for (int i = 0; i < kTiles; ++i) sum += 64 * i + t;
            if (out[t] != sum) return false;
        }
        return true;
    };
    EXPECT_AFTER(isSum(0), producerAndConsumers<<<1, kBlock>>>(in, out));
    EXPECT_AFTER(isSum(0), blockPipeline<Roles::kAll><<<1, kBlock>>>(in, out));
    EXPECT_AFTER(isSum(0), blockPipeline<Roles::kCount><<<1, kBlock>>>(in, out));
    EXPECT_AFTER(isSum(0), blockPipeline<Roles::kEach><<<2, kBlock>>>(in, out));
    EXPECT_AFTER(isSum(1), ownPipeline<<<1, 64>>>(in, letters, out));
    EXPECT_AFTER(out[3] == 92, primitives<<<1, kBlock>>>(in, out));
    EXPECT_AFTER(in[1000] == 1001, bulk<false><<<1, 64>>>(in, 4));
    EXPECT_AFTER(in[0] == 2 && in[1023] == 1025, bulk<true><<<1, 64>>>(in, 4));
}
