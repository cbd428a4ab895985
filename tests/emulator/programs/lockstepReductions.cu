// Reductions and scans from before Volta: within a warp, all lanes load before the first one
// stores. The pointer that they load through is volatile, or the one that they store through, or
// both. An H200 gives the same with -G; with -O3, forms without barriers in which one side is not
// volatile come out wrong there.
#include "expect.cuh"

constexpr int kWarp = 32, kValues = 2 * kWarp, kGuarded = 20;

// ---- sums of 64 values by the first warp, with a barrier after each step

__device__ void volatileLoads(int* mine, int t) {
    volatile int* seen = mine;
    for (int k = kWarp; k > 0; k /= 2) {
        if (t < kWarp) mine[t] += seen[t + k];
        __syncthreads();
    }
}

// ---- the same, unrolled and without barriers

__device__ void unrolledLoads(int* mine, int t) {
    volatile int* seen = mine;
    if (t >= kWarp) return;
    mine[t] += seen[t + 32];
    mine[t] += seen[t + 16];
    mine[t] += seen[t + 8];
    mine[t] += seen[t + 4];
    mine[t] += seen[t + 2];
    mine[t] += seen[t + 1];
}
__device__ void unrolledStores(int* seen, int t) {
    volatile int* mine = seen;
    if (t >= kWarp) return;
    mine[t] += seen[t + 32];
    mine[t] += seen[t + 16];
    mine[t] += seen[t + 8];
    mine[t] += seen[t + 4];
    mine[t] += seen[t + 2];
    mine[t] += seen[t + 1];
}

// ---- by way of a variable, and with a `?:` of which some lanes do not load

__device__ void throughVariable(int* mine, int t) {
    volatile int* seen = mine;
    for (int k = kWarp; k > 0 && t < kWarp; k /= 2) {
        const int other = seen[t + k];
        mine[t] += other;
    }
}

// The lanes that do not load store, too.
__device__ void clearedBehind(int* mine, int t) {
    const volatile int* seen = mine;
    if (t >= kWarp) return;
    mine[t] += seen[t + 32];
    mine[t] = t < 16 ? mine[t] + seen[t + 16] : 0;
    mine[t] = t < 8 ? mine[t] + seen[t + 8] : 0;
    mine[t] = t < 4 ? mine[t] + seen[t + 4] : 0;
    mine[t] = t < 2 ? mine[t] + seen[t + 2] : 0;
    mine[t] = t < 1 ? mine[t] + seen[t + 1] : 0;
}
// The sum of 20 values: lanes leave out different numbers of loads.
__device__ void guardedLoads(int* mine, int t) {
    volatile int* seen = mine;
    if (t >= kWarp) return;
    mine[t] += t + 16 < kGuarded ? seen[t + 16] : 0;
    mine[t] += t + 8 < kGuarded ? seen[t + 8] : 0;
    mine[t] += t + 4 < kGuarded ? seen[t + 4] : 0;
    mine[t] += t + 2 < kGuarded ? seen[t + 2] : 0;
    mine[t] += t + 1 < kGuarded ? seen[t + 1] : 0;
}

// ---- inclusive sums, where a lane loads what the lane before it stores

__device__ void scanOfLoads(int* mine, int t) {
    volatile int* seen = mine;
    const int lane = t % kWarp;
    for (int k = 1; k < kWarp; k *= 2) {
        if (lane >= k) mine[t] += seen[t - k];
    }
}
__device__ void scanOfStores(int* seen, int t) {
    volatile int* mine = seen;
    const int lane = t % kWarp;
    for (int k = 1; k < kWarp; k *= 2) {
        if (lane >= k) mine[t] = mine[t] + seen[t - k];
    }
}

template <void (*kForm)(int*, int)>
__global__ void inGlobal(int* data) {
    kForm(data + blockIdx.x * kValues, threadIdx.x);
}
template <void (*kForm)(int*, int)>
__global__ void inShared(int* data) {
    __shared__ int s[kValues];
    const int t = threadIdx.x, i = blockIdx.x * kValues + t;
    s[t] = data[i];
    __syncthreads();
    kForm(s, t);
    data[i] = s[t];
}

// The values of block b were b, b + 1, b + 2, ...
bool isRight(int added, const int* data, int b) {
    if (added > 0) return data[0] == added * b + added * (added - 1) / 2;
    int sum = 0;
    for (int t = 0; t < kValues; ++t) {
        sum = (t % kWarp == 0 ? 0 : sum) + b + t;
        if (data[t] != sum) return false;
    }
    return true;
}

// `added`: how many values the form adds up into the first one; 0 for a scan.
template <void (*kForm)(int*, int)>
void expectRight(int added, int blocks, int* data) {
    for (const auto kernel : {inGlobal<kForm>, inShared<kForm>}) {
        for (int i = 0; i < blocks * kValues; ++i) data[i] = i / kValues + i % kValues;
        kernel<<<blocks, kValues>>>(data);
        CHECK(cudaDeviceSynchronize());
        for (int b = 0; b < blocks; ++b) EXPECT(isRight(added, data + b * kValues, b));
    }
}

int main(int count, char** arguments) {
    const int blocks = count > 1 ? std::atoi(arguments[1]) : 4;
    int* data;
    CHECK(cudaMallocManaged(&data, blocks * kValues * sizeof(int)));
    expectRight<volatileLoads>(64, blocks, data);
    expectRight<unrolledLoads>(64, blocks, data);
    expectRight<unrolledStores>(64, blocks, data);
    expectRight<throughVariable>(64, blocks, data);
    expectRight<clearedBehind>(64, blocks, data);
    expectRight<guardedLoads>(kGuarded, blocks, data);
    expectRight<scanOfLoads>(0, blocks, data);
    expectRight<scanOfStores>(0, blocks, data);
    return 0;
}
