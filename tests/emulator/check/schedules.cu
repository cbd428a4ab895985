// For test_schedules.py: programs that lose updates on a GPU, and programs that are right in every
// legal order of their threads.
//
//   schedules NAME...    prints what each computes, in a line
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kBlock = 128, kBlocks = 12, kThreads = kBlock * kBlocks;

__device__ int index() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ int lock;

// ---- wrong

__global__ void counts(int* out) {
    *out += 1;
}
__global__ void histogram(const int* in, int* out) {
    __shared__ int bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    ++bins[in[index()] % 4];
    __syncthreads();
    if (threadIdx.x < 4) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
__global__ void reduceWithoutBarrier(const int* in, int* out) {
    __shared__ int s[kBlock];
    s[threadIdx.x] = in[index()];
    __syncthreads();
    for (int n = kBlock / 2; n > 0; n /= 2) {
        if (threadIdx.x < n) s[threadIdx.x] += s[threadIdx.x + n];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
// The usual order has the lower neighbour write first.
__global__ void readsNeighbour(const int* in, int* out) {
    __shared__ int s[kBlock];
    s[threadIdx.x] = in[index()];
    out[index()] = threadIdx.x > 0 ? s[threadIdx.x - 1] : 0;
}
// ... and the first block clear the counter before the others count.
__global__ void firstBlockClears(int* out) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *out = 0;
    atomicAdd(out, 1);
}
// One block fails while it has a lock that the others wait for.
__global__ void failsInALock(int* nothing) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    if (blockIdx.x == 2) *nothing = 1;
    atomicExch(&lock, 0);
}
// Kernels that print.
__global__ void printsNumbers() {
    printf("thread %d\n", index());
}
__global__ void printsCount(int* out) {
    out[1] += 1;
    __syncthreads();
    if (threadIdx.x == 0) printf("count %d\n", out[1]);
}

// ---- right

__global__ void countsAtomically(int* out) {
    atomicAdd(out, 1);
}
__global__ void volatileWarp(const int* in, int* out) {
    __shared__ int s[kBlock];
    const int t = threadIdx.x;
    s[t] = in[index()];
    __syncthreads();
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) {
        volatile int* v = s;
        v[t] += v[t + 32];
        v[t] += v[t + 16];
        v[t] += v[t + 8];
        v[t] += v[t + 4];
        v[t] += v[t + 2];
        v[t] += v[t + 1];
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void volatileScan(const int* in, int* out) {
    __shared__ volatile int s[kBlock];
    const int t = threadIdx.x, lane = t % 32;
    s[t] = in[index()];
    if (lane >= 1) s[t] += s[t - 1];
    if (lane >= 2) s[t] += s[t - 2];
    if (lane >= 4) s[t] += s[t - 4];
    if (lane >= 8) s[t] += s[t - 8];
    if (lane >= 16) s[t] += s[t - 16];
    out[index()] = s[t];
}
__global__ void shuffles(const int* in, int* out) {
    int sum = in[index()];
    for (int n = 16; n > 0; n /= 2) sum += __shfl_down_sync(~0u, sum, n);
    __shared__ int s[kBlock / 32];
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = s[0] + s[1] + s[2] + s[3];
}
__global__ void syncwarps(const int* in, int* out) {
    __shared__ int s[kBlock];
    const int t = threadIdx.x;
    s[t] = in[index()];
    __syncwarp();
    for (int n = 16; n > 0; n /= 2) {
        const int sum = s[t] + s[t ^ n];
        __syncwarp();
        s[t] = sum;
        __syncwarp();
    }
    out[index()] = s[t];
}
__global__ void tiles(const int* in, int* out) {
    __shared__ int s[kBlock];
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    s[threadIdx.x] = in[index()];
    tile.sync();
    const int sum = s[threadIdx.x] + s[threadIdx.x ^ 7];
    out[index()] = tile.shfl_xor(sum, 1);
}
__global__ void aggregated(const int* in, int* out) {
    if (in[index()] % 3 != 0) return;
    const cg::coalesced_group group = cg::coalesced_threads();
    if (group.thread_rank() == 0) atomicAdd(out, static_cast<int>(group.size()));
}
__device__ unsigned blocksDone;
__global__ void lastBlock(const int* in, int* partial, int* out) {
    __shared__ int sum;
    __shared__ bool isLast;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[index()]);
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        isLast = atomicInc(&blocksDone, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!isLast || threadIdx.x != 0) return;
    for (unsigned i = 0; i < gridDim.x; ++i) *out += static_cast<volatile int*>(partial)[i];
}
__global__ void spinLock(volatile int* out) {
    for (bool done = false; !done;) {
        if (atomicCAS(&lock, 0, 1) != 0) continue;
        __threadfence();
        *out = *out + 1;
        __threadfence();
        atomicExch(&lock, 0);
        done = true;
    }
}
__global__ void casMaximum(const int* in, int* out) {
    int old = *static_cast<volatile int*>(out);
    while (old < in[index()]) {
        const int seen = atomicCAS(out, old, in[index()]);
        if (seen == old) break;
        old = seen;
    }
}
__global__ void looksBack(const int* in, int* out, volatile int* prefix, volatile int* isThere) {
    if (threadIdx.x != 0) return;
    int before = 0;
    if (blockIdx.x > 0) {
        while (isThere[blockIdx.x - 1] == 0) {
        }
        __threadfence();
        before = prefix[blockIdx.x - 1];
    }
    prefix[blockIdx.x] = before + in[blockIdx.x];
    __threadfence();
    isThere[blockIdx.x] = 1;
    out[blockIdx.x] = before;
}
__device__ unsigned arrived;
__global__ void barrierByHand(int* out) {
    out[index()] = index();
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&arrived, 1);
        while (atomicAdd(&arrived, 0) < gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
    const int there = static_cast<volatile int*>(out)[(index() + kBlock) % kThreads];
    out[kThreads + index()] = there;
}
__global__ void gridSyncs(int* a, int* b) {
    const cg::grid_group grid = cg::this_grid();
    for (int i = 0; i < 3; ++i) {
        b[index()] = a[(index() + 1) % kThreads] + i;
        grid.sync();
        a[index()] = b[(index() + 70) % kThreads];
        grid.sync();
    }
}
__global__ void asyncCopies(const int* in, int* out) {
    __shared__ int tile[2][kBlock];
    const int t = threadIdx.x;
    int sum = 0;
    __pipeline_memcpy_async(&tile[0][t], &in[t], sizeof(int));
    __pipeline_commit();
    for (int i = 0; i < kBlocks; ++i) {
        if (i + 1 < kBlocks) {
            __pipeline_memcpy_async(&tile[(i + 1) % 2][t], &in[(i + 1) * kBlock + t], sizeof(int));
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += tile[i % 2][kBlock - 1 - t];
        __syncthreads();
    }
    out[t] = sum;
}
__global__ void launchesChildren(int* out, int depth) {
    atomicAdd(out, depth);
    if (depth > 0 && threadIdx.x == 0) launchesChildren<<<2, 32>>>(out, depth - 1);
}
__global__ void oneOfUnevenThreads(int* out) {  // 45 threads: a part of a warp
    __shared__ int s[45];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[index()] = s[44 - threadIdx.x];
}

int main(int argc, char** argv) {
    std::vector<int> values(2 * kThreads);
    for (int i = 0; i < kThreads; ++i) values[i] = i * 37 % 101;
    const size_t bytes = values.size() * sizeof(int);
    int *in, *out, *more;
    cudaMalloc(&in, bytes);
    cudaMalloc(&out, bytes);
    cudaMalloc(&more, bytes);
    void* arguments[] = {&in, &out};
    const std::map<std::string, void (*)(int*, int*, int*)> programs = {
        {"counts", [](int*, int* out, int*) { counts<<<kBlocks, kBlock>>>(out); }},
        {"countsOfBlocks", [](int*, int* out, int*) { counts<<<40, 1>>>(out); }},
        {"countsOfAWarp", [](int*, int* out, int*) { counts<<<1, 32>>>(out); }},
        {"histogram", [](int* in, int* out, int*) { histogram<<<kBlocks, kBlock>>>(in, out); }},
        {"reduceWithoutBarrier",
         [](int* in, int* out, int*) { reduceWithoutBarrier<<<kBlocks, kBlock>>>(in, out); }},
        {"readsNeighbour",
         [](int* in, int* out, int*) { readsNeighbour<<<kBlocks, kBlock>>>(in, out); }},
        {"firstBlockClears",
         [](int*, int* out, int*) { firstBlockClears<<<kBlocks, kBlock>>>(out); }},
        {"failsInALock", [](int*, int*, int*) { failsInALock<<<6, 1>>>(nullptr); }},
        {"printsNumbers", [](int*, int*, int*) { printsNumbers<<<2, 40>>>(); }},
        {"printsCount", [](int*, int* out, int*) { printsCount<<<1, 64>>>(out); }},
        {"countsAtomically",
         [](int*, int* out, int*) { countsAtomically<<<kBlocks, kBlock>>>(out); }},
        {"volatileWarp",
         [](int* in, int* out, int*) { volatileWarp<<<kBlocks, kBlock>>>(in, out); }},
        {"volatileScan",
         [](int* in, int* out, int*) { volatileScan<<<kBlocks, kBlock>>>(in, out); }},
        {"shuffles", [](int* in, int* out, int*) { shuffles<<<kBlocks, kBlock>>>(in, out); }},
        {"syncwarps", [](int* in, int* out, int*) { syncwarps<<<kBlocks, kBlock>>>(in, out); }},
        {"tiles", [](int* in, int* out, int*) { tiles<<<kBlocks, kBlock>>>(in, out); }},
        {"aggregated", [](int* in, int* out, int*) { aggregated<<<kBlocks, kBlock>>>(in, out); }},
        {"lastBlock",
         [](int* in, int* out, int* more) { lastBlock<<<kBlocks, kBlock>>>(in, more, out); }},
        {"spinLock", [](int*, int* out, int*) { spinLock<<<4, 48>>>(out); }},
        {"casMaximum", [](int* in, int* out, int*) { casMaximum<<<kBlocks, kBlock>>>(in, out); }},
        {"looksBack", [](int* in, int* out,
                         int* more) { looksBack<<<50, 32>>>(in, out, more, more + kThreads); }},
        {"barrierByHand", [](int*, int* out, int*) { barrierByHand<<<kBlocks, kBlock>>>(out); }},
        {"asyncCopies", [](int* in, int* out, int*) { asyncCopies<<<1, kBlock>>>(in, out); }},
        {"launchesChildren", [](int*, int* out, int*) { launchesChildren<<<2, 32>>>(out, 3); }},
        {"oneOfUnevenThreads", [](int*, int* out, int*) { oneOfUnevenThreads<<<5, 45>>>(out); }},
    };
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        cudaMemcpy(in, values.data(), bytes, cudaMemcpyHostToDevice);
        cudaMemset(out, 0, bytes);
        cudaMemset(more, 0, bytes);
        if (name == "gridSyncs") {
            cudaLaunchCooperativeKernel(gridSyncs, kBlocks, kBlock, arguments);
        } else {
            programs.at(name)(in, out, more);
        }
        std::vector<int> result(values.size());
        cudaMemcpy(result.data(), out, bytes, cudaMemcpyDeviceToHost);
        unsigned digest = 0;
        for (const int value : result) digest = digest * 31 + static_cast<unsigned>(value);
        std::printf("%s %d %08x %s\n", name.c_str(), result[0], digest,
                    cudaGetErrorName(cudaDeviceSynchronize()));
        std::fflush(stdout);
    }
}
