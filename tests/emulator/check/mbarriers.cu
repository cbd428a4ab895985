// Kernels with libcu++'s barriers, pipelines, bulk copies and atomics, with one hazard each, and
// without: test_mbarriers.py runs each of them alone, and finds the lines by the marks in the
// comments.
#include <cooperative_groups.h>

#include <cstdio>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ptx = cuda::ptx;
constexpr int kThreads = 64, kTile = 256, kTiles = 4;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

enum Bug {
    None,
    NoInit,
    NoBarrierAfterInit,
    NoWait,
    OthersDoNotWait,
    NoArrivalBehindUse,
    ArrivesOnce,
    TooManyArrive,
    WaitsForNobody,
    ExpectsMore,
    ExpectsNothing,
    OddSize,
    OddSource,
    NoFence,
    FenceBeforeWrite,
    NoBarrierBeforeStore,
    OverwritesStore,
    NobodyWaitsForStore,
    NoRelease,
    ReadsAhead,
};

// ---- arrivals alone

// The first warp writes, and the second reads behind the barrier.
template <Bug bug>
__global__ void handOver(int* out) {
    __shared__ Barrier barrier;
    __shared__ int numbers[32];
    const int t = threadIdx.x;
    if (bug != NoInit && t == 0)
        init(&barrier, bug == WaitsForNobody ? kThreads + 1 : kThreads);  // init
    if (bug != NoBarrierAfterInit) __syncthreads();
    if (bug == ArrivesOnce && t < 32) (void)barrier.arrive();  // early
    if (t < 32) numbers[t] = t;                                // write
    if (bug == ArrivesOnce && t < 32) return;
    Barrier::arrival_token token =
        barrier.arrive(bug == TooManyArrive && t == 63 ? kThreads + 1 : 1);  // arrive
    if (bug != NoWait) barrier.wait(std::move(token));
    if (t >= 32) out[t] = numbers[t - 32];  // read
}

// ---- two tiles, filled by bulk copies or by the threads' own asynchronous ones

template <Bug bug, bool isBulk>
__global__ void twoTiles(const int* in, int* out) {
    __shared__ alignas(16) int ring[2][kTile];
    __shared__ Barrier full[2], empty;
    const int t = threadIdx.x;
    if (t == 0) {
        init(&full[0], isBulk ? 1 : kThreads);
        init(&full[1], isBulk ? 1 : kThreads);
        init(&empty, kThreads);
    }
    __syncthreads();
    const auto fill = [&](int i) {
        const int* const tile = &in[i * kTile];
        if (!isBulk) {
            cuda::memcpy_async(&ring[i % 2][4 * t],  // copy
                               &tile[4 * t], sizeof(int4), full[i % 2]);
            (void)full[i % 2].arrive();
        } else if (t == 0) {
            const cuda::aligned_size_t<16> size(sizeof(ring[0]));
            cuda::device::memcpy_async_tx(ring[i % 2], tile, size, full[i % 2]);  // bulk
            (void)cuda::device::barrier_arrive_tx(full[i % 2], 1, sizeof(ring[0]));
        }
    };
    int sum = 0;
    fill(0);
    for (int i = 0; i < kTiles; ++i) {
        if (i + 1 < kTiles) fill(i + 1);
        if (bug != NoWait && (bug != OthersDoNotWait || t == 0)) full[i % 2].wait_parity(i / 2 % 2);
        for (int k = 0; k < 4; ++k) sum += ring[i % 2][k * kThreads + t];  // use
        if (bug != NoArrivalBehindUse) empty.arrive_and_wait();
    }
    out[t] = sum;
}

// ---- one tile by a bulk copy

template <Bug bug>
__global__ void oneTile(const int* in, int* out) {
    __shared__ alignas(16) int tile[kTile];
    __shared__ Barrier full;
    const int t = threadIdx.x;
    if (t == 0) init(&full, 1);
    __syncthreads();
    const int bytes = sizeof(tile) - (bug == OddSize ? 8 : 0);
    if (t == 0) {
        cuda::device::memcpy_async_tx(tile, in + (bug == OddSource),
                                      cuda::aligned_size_t<16>(bytes), full);  // one
        (void)cuda::device::barrier_arrive_tx(full, 1,
                                              bug == ExpectsNothing ? 0
                                              : bug == ExpectsMore  ? bytes + 16
                                                                    : bytes);
    }
    full.wait_parity(false);  // wait
    out[t] = tile[t];
}

// The second tile comes into the same buffer. (The thread that asks for it is the last to run
// here.)
template <Bug bug>
__global__ void oneBuffer(const int* in, int* out) {
    __shared__ alignas(16) int tile[kTile];
    __shared__ Barrier full;
    const int t = threadIdx.x;
    if (t == 0) init(&full, 1);
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 2; ++i) {
        if (t == kThreads - 2) {
            cuda::device::memcpy_async_tx(tile, &in[i * kTile],  // next
                                          cuda::aligned_size_t<16>(sizeof(tile)), full);
            (void)cuda::device::barrier_arrive_tx(full, 1, sizeof(tile));
        }
        full.wait_parity(i == 1);
        sum += tile[t];  // last
        if (bug != NoArrivalBehindUse) __syncthreads();
    }
    out[t] = sum;
}

// ---- results that a bulk copy stores

template <Bug bug>
__global__ void store(int* out) {
    __shared__ alignas(16) int tile[kTile];
    const int t = threadIdx.x;
    if (bug == FenceBeforeWrite) ptx::fence_proxy_async(ptx::space_shared);
    for (int k = t; k < kTile; k += kThreads) tile[k] = k;  // result
    if (bug != NoFence && bug != FenceBeforeWrite) ptx::fence_proxy_async(ptx::space_shared);
    if (bug != NoBarrierBeforeStore) __syncthreads();
    if (t == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, sizeof(tile));  // store
        ptx::cp_async_bulk_commit_group();
        if (bug != NobodyWaitsForStore && bug != OverwritesStore)
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
    __syncthreads();
    tile[t] = 0;  // again
    if (bug == OverwritesStore && t == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}

// ---- a pipeline of the block

template <Bug bug>
__global__ void pipelined(const int* in, int* out) {
    __shared__ int ring[2][kThreads];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto pipe = cuda::make_pipeline(cooperative_groups::this_thread_block(), &state);
    const int t = threadIdx.x;
    int sum = 0;
    for (int i = 0; i < kTiles + 1; ++i) {
        if (i < kTiles) {
            pipe.producer_acquire();  // acquire
            cuda::memcpy_async(&ring[i % 2][t], &in[i * kThreads + t], sizeof(int), pipe);  // fill
            pipe.producer_commit();
        }
        if (i == 0) continue;
        pipe.consumer_wait();
        sum += ring[(bug == ReadsAhead ? i : i - 1) % 2][kThreads - 1 - t];  // stage
        if (bug != NoRelease) pipe.consumer_release();
    }
    out[t] = sum;
}

// ---- the scope of an atomic

template <cuda::thread_scope scope>
__global__ void count(int* out) {
    cuda::atomic_ref<int, scope>(out[0]).fetch_add(1, cuda::memory_order_relaxed);  // count
    cuda::atomic_ref<int, cuda::thread_scope_block>(out[1 + blockIdx.x]).fetch_add(1);
}

// ---- main

int* zeros() {
    int* memory = nullptr;
    cudaMalloc(&memory, 2 * kTile * kTiles * sizeof(int));
    cudaMemset(memory, 0, 2 * kTile * kTiles * sizeof(int));
    return memory;
}
std::function<void()> on(void (*kernel)(int*)) {
    return [=] { (*kernel)<<<1, kThreads>>>(zeros()); };
}
// (Not 0: two writes of the same value are no race.)
std::function<void()> on(void (*kernel)(const int*, int*)) {
    return [=] {
        int* const in = zeros();
        std::vector<int> host(kTile * kTiles);
        for (int i = 0; i < kTile * kTiles; ++i) host[i] = i;
        cudaMemcpy(in, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice);
        (*kernel)<<<1, kThreads>>>(in, zeros());
    };
}

const std::map<std::string, std::function<void()>> kPrograms = {
    {"handOver", on(handOver<None>)},
    {"noInit", on(handOver<NoInit>)},
    {"noBarrierAfterInit", on(handOver<NoBarrierAfterInit>)},
    {"noWait", on(handOver<NoWait>)},
    {"arrivesBeforeItWrites", on(handOver<ArrivesOnce>)},
    {"tooManyArrive", on(handOver<TooManyArrive>)},
    {"waitsForNobody", on(handOver<WaitsForNobody>)},
    {"twoTiles", on(twoTiles<None, false>)},
    {"twoBulkTiles", on(twoTiles<None, true>)},
    {"tileNoWait", on(twoTiles<NoWait, false>)},
    {"bulkNoWait", on(twoTiles<NoWait, true>)},
    {"bulkOthersDoNotWait", on(twoTiles<OthersDoNotWait, true>)},
    {"oneBuffer", on(oneBuffer<None>)},
    {"bulkOverwritesUse", on(oneBuffer<NoArrivalBehindUse>)},
    {"runsAhead", on(twoTiles<NoArrivalBehindUse, true>)},
    {"tileOverwritesUse", on(twoTiles<NoArrivalBehindUse, false>)},
    {"oneTile", on(oneTile<None>)},
    {"oddSize", on(oneTile<OddSize>)},
    {"oddSource", on(oneTile<OddSource>)},
    {"expectsMore", on(oneTile<ExpectsMore>)},
    {"expectsNothing", on(oneTile<ExpectsNothing>)},
    {"store", on(store<None>)},
    {"noFence", on(store<NoFence>)},
    {"fenceBeforeWrite", on(store<FenceBeforeWrite>)},
    {"noBarrierBeforeStore", on(store<NoBarrierBeforeStore>)},
    {"overwritesStore", on(store<OverwritesStore>)},
    {"nobodyWaitsForStore", on(store<NobodyWaitsForStore>)},
    {"deviceScope", [] { count<cuda::thread_scope_device><<<4, kThreads>>>(zeros()); }},
    {"blockScope", [] { count<cuda::thread_scope_block><<<4, kThreads>>>(zeros()); }},
    {"pipelined", on(pipelined<None>)},
    {"noRelease", on(pipelined<NoRelease>)},
    {"readsAhead", on(pipelined<ReadsAhead>)},
};

int main(int argc, char** argv) {
    const auto program = kPrograms.find(argc > 1 ? argv[1] : "");
    if (program == kPrograms.end()) return 2;
    program->second();
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s: %s\n", argv[1], cudaGetErrorName(error));
    return error == cudaSuccess ? 0 : 1;
}
