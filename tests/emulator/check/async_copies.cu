// Kernels that copy asynchronously, with one hazard each, and without: test_async_copies.py runs
// each of them alone, and finds the lines by the marks in the comments.
#include <cuda_pipeline.h>

#include <cstdio>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

constexpr int kThreads = 64, kTiles = 5;

__device__ void wait() {
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

// ---- one tile

__global__ void waits(int* out, const int* in) {
    __shared__ int tile[kThreads];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4);
    wait();
    out[t] = tile[t];
    __syncthreads();
    out[t] += tile[kThreads - 1 - t];
}

__global__ void readsOwnBeforeWait(int* out, const int* in) {
    __shared__ int tile[kThreads];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4);  // own-copy
    __pipeline_commit();
    out[t] = tile[t];  // own-read
    __pipeline_wait_prior(0);
}

__global__ void neverWaits(int* out, const int* in) {
    __shared__ int tile[kThreads];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4);  // never-copy
    __pipeline_commit();
    __syncthreads();
    out[t] = tile[kThreads - 1 - t];  // never-read
}

__global__ void noBarrier(int* out, const int* in) {
    __shared__ int tile[kThreads];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4);  // no-barrier-copy
    wait();
    out[t] = tile[kThreads - 1 - t];  // no-barrier-read
}

// Threads of the first warp end without having waited.
__global__ void producerEnds(int* out, const int* in) {
    __shared__ int tile[kThreads];
    const int t = threadIdx.x;
    if (t < 32) {
        __pipeline_memcpy_async(&tile[t], &in[t], 4);  // ended-copy
        __pipeline_commit();
        return;
    }
    __syncthreads();
    out[t] = tile[t - 32];  // ended-read
}

__global__ void copiesTwice(int* out, const int* in) {
    __shared__ int tile[kThreads];
    const int t = threadIdx.x;
    for (int i = 0; i < 2; ++i)
        __pipeline_memcpy_async(&tile[t], &in[i * kThreads + t], 4);  // twice
    wait();
    out[t] = tile[t];
}

__global__ void copiesVectors(int4* out, const int4* in) {
    __shared__ int4 tile[kThreads];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 16);  // vector-copy
    __pipeline_commit();
    out[t].w = tile[t].w;  // vector-read
    __pipeline_wait_prior(0);
}

// ---- within a warp

__global__ void warpWaits(int* out, const int* in) {
    __shared__ int tile[32];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4);
    __syncwarp();
    wait();
    __syncwarp();
    out[t] = tile[31 - t];
}

// The copies may be carried out between the two, since nobody has waited.
__global__ void warpReadsBeforeWait(int* out, const int* in) {
    __shared__ int tile[32];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4);  // warp-copy
    __pipeline_commit();
    __syncwarp();
    if (t < 16) out[t] = tile[t + 16];  // warp-read
    __syncwarp();
    __pipeline_wait_prior(0);
}

// ---- where it is copied from

__global__ void overwritesSource(int* out, int* in) {
    __shared__ int tile[kThreads];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4);  // source-copy
    in[t] = 0;                                     // source-write
    wait();
    out[t] = tile[t];
}

__global__ void othersOverwriteSource(int* out, int* in) {
    __shared__ int tile[kThreads];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4);  // others-source-copy
    __syncthreads();
    in[kThreads - 1 - t] = 0;  // others-source-write
    __syncthreads();
    wait();
    out[t] = tile[t];
}

__global__ void overwritesSourceLater(int* out, int* in) {
    __shared__ int tile[kThreads];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4);
    wait();
    in[t] = 0;
    __syncthreads();
    in[kThreads - 1 - t] = 1;
    out[t] = tile[t];
}

// A neighbour's element, too: both write the same there.
__global__ void copiesHalo(int* out, const int* in) {
    __shared__ int tile[kThreads + 1];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4);
    __pipeline_memcpy_async(&tile[t + 1], &in[t + 1], 4);
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = tile[t] + tile[t + 1];
}

__global__ void disagree(int* out, const int* in) {
    __shared__ int one;
    __pipeline_memcpy_async(&one, &in[threadIdx.x], 4);  // disagree
    wait();
    __syncthreads();
    out[threadIdx.x] = one;
}

// ---- where a tile ends

// What lies behind the end is not read, but zero.
__global__ void fillsUp(int* out, const int* in, int count) {
    __shared__ int tile[kThreads];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], t < count ? &in[t] : in, 4, t < count ? 0 : 4);
    wait();
    out[t] = tile[t];
}
__global__ void fillsUpVector(int4* out, const int4* in) {
    __shared__ int4 tile;
    __pipeline_memcpy_async(&tile, in, 16, 8);
    wait();
    *out = tile;
}

__global__ void beyondSource(int* out, const int* in) {
    __shared__ int tile[kThreads];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4);  // beyond-source
    wait();
    out[t] = tile[t];
}

__global__ void beyondDynamic(int* out, const int* in) {
    extern __shared__ int tile[];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4);  // beyond-dynamic
    wait();
    out[t] = 1;
}

__global__ void fromHost(int* out, const int* in) {
    __shared__ int one;
    __pipeline_memcpy_async(&one, in, 4);  // from-host
    wait();
    *out = one;
}

// ---- two tiles in turn: while one is used, the other is filled

enum Bug { None, WaitsForTooFew, NoBarrierAfterWait, NoBarrierAfterUse };

template <Bug bug>
__global__ void twoTiles(int* out, const int* in) {
    __shared__ int tiles[2][kThreads];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tiles[0][t], &in[t], 4);  // first-tile
    __pipeline_commit();
    int sum = 0;
    for (int i = 0; i < kTiles; ++i) {
        int* next = tiles[(i + 1) % 2];
        if (i + 1 < kTiles)
            __pipeline_memcpy_async(&next[t], &in[(i + 1) * kThreads + t], 4);  // next-tile
        __pipeline_commit();
        __pipeline_wait_prior(bug == WaitsForTooFew ? 2 : 1);
        if (bug != NoBarrierAfterWait) __syncthreads();
        sum += tiles[i % 2][kThreads - 1 - t];  // use-tile
        if (bug != NoBarrierAfterUse) __syncthreads();
    }
    out[t] = sum;
}

// ---- main

int* ascending(int count = kThreads * kTiles) {
    std::vector<int> host(count);
    std::iota(host.begin(), host.end(), 0);
    int* device = nullptr;
    cudaMalloc(&device, count * sizeof(int));
    cudaMemcpy(device, host.data(), count * sizeof(int), cudaMemcpyHostToDevice);
    return device;
}

template <class T>
std::function<void()> in(void (*kernel)(T*, const T*), int threads = kThreads) {
    return [=] { (*kernel)<<<1, threads>>>((T*)ascending(), (const T*)ascending()); };
}
std::function<void()> in(void (*kernel)(int*, int*)) {
    return [=] { (*kernel)<<<1, kThreads>>>(ascending(), ascending()); };
}

#define NAMED(kernel) {#kernel, in(kernel)}
const std::map<std::string, std::function<void()>> kPrograms = {
    // clang-format off
    NAMED(waits), NAMED(readsOwnBeforeWait), NAMED(neverWaits), NAMED(noBarrier),
    NAMED(producerEnds), NAMED(copiesTwice), NAMED(copiesVectors),
    NAMED(overwritesSource), NAMED(othersOverwriteSource), NAMED(overwritesSourceLater),
    NAMED(copiesHalo), NAMED(disagree),
    // clang-format on
    {"warpWaits", in(warpWaits, 32)},
    {"warpReadsBeforeWait", in(warpReadsBeforeWait, 32)},
    {"fillsUp", [] { fillsUp<<<1, kThreads>>>(ascending(), ascending(10), 10); }},
    {"fillsUpVector", [] { fillsUpVector<<<1, 1>>>((int4*)ascending(), (int4*)ascending(2)); }},
    {"beyondSource",
     [] {
         const int* shorter = ascending(61);  // (C++ evaluates arguments in any order)
         beyondSource<<<1, kThreads>>>(ascending(), shorter);
     }},
    {"unwrittenSource",
     [] {
         int* unwritten = nullptr;
         cudaMalloc(&unwritten, kThreads * sizeof(int));
         beyondSource<<<1, kThreads>>>(ascending(), unwritten);
     }},
    {"beyondDynamic", [] { beyondDynamic<<<1, kThreads, 63 * 4>>>(ascending(), ascending()); }},
    {"fromHost",
     [] {
         int host = 1;
         fromHost<<<1, 1>>>(ascending(), &host);
     }},
    {"twoTiles", in(twoTiles<None>)},
    {"waitsForTooFew", in(twoTiles<WaitsForTooFew>)},
    {"noBarrierAfterWait", in(twoTiles<NoBarrierAfterWait>)},
    {"noBarrierAfterUse", in(twoTiles<NoBarrierAfterUse>)},
};

int main(int argc, char** argv) {
    const auto program = kPrograms.find(argc > 1 ? argv[1] : "");
    if (program == kPrograms.end()) return 2;
    program->second();
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s: %s\n", argv[1], cudaGetErrorName(error));
    return error == cudaSuccess ? 0 : 1;
}
