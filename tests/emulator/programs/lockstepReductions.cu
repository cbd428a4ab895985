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
__device__ void volatileStores(int* seen, int t) {
    volatile int* mine = seen;
    for (int k = kWarp; k > 0; k /= 2) {
        if (t < kWarp) mine[t] = seen[t] + seen[t + k];
        __syncthreads();
    }
}
__device__ void volatileBoth(int* data, int t) {
    volatile int* v = data;
    for (int k = kWarp; k > 0; k /= 2) {
        if (t < kWarp) v[t] += v[t + k];
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
__device__ void unrolledBoth(volatile int* v, int t) {
    if (t >= kWarp) return;
    v[t] += v[t + 32];
    v[t] += v[t + 16];
    v[t] += v[t + 8];
    v[t] += v[t + 4];
    v[t] += v[t + 2];
    v[t] += v[t + 1];
}

// ---- by way of a variable, and with a `?:` of which some lanes do not load

__device__ void throughVariable(int* mine, int t) {
    volatile int* seen = mine;
    for (int k = kWarp; k > 0 && t < kWarp; k /= 2) {
        const int other = seen[t + k];
        mine[t] += other;
    }
}
__device__ void chosenLoads(int* mine, int t) {
    volatile int* seen = mine;
    if (t >= kWarp) return;
    mine[t] += seen[t + 32];
    mine[t] += t < 16 ? seen[t + 16] : 0;
    mine[t] += t < 8 ? seen[t + 8] : 0;
    mine[t] += t < 4 ? seen[t + 4] : 0;
    mine[t] += t < 2 ? seen[t + 2] : 0;
    mine[t] += t < 1 ? seen[t + 1] : 0;
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

__device__ void apply(int form, int* data, int t) {
    switch (form) {
        case 0:
            return volatileLoads(data, t);
        case 1:
            return volatileStores(data, t);
        case 2:
            return volatileBoth(data, t);
        case 3:
            return unrolledLoads(data, t);
        case 4:
            return unrolledStores(data, t);
        case 5:
            return unrolledBoth(data, t);
        case 6:
            return throughVariable(data, t);
        case 7:
            return chosenLoads(data, t);
        case 8:
            return clearedBehind(data, t);
        case 9:
            return guardedLoads(data, t);
        case 10:
            return scanOfLoads(data, t);
        default:
            return scanOfStores(data, t);
    }
}
// How many values each form adds up into the first one; 0 for a scan.
constexpr int kAdded[] = {64, 64, 64, 64, 64, 64, 64, 64, 64, kGuarded, 0, 0};

__global__ void inGlobal(int form, int* data) {
    apply(form, data + blockIdx.x * kValues, threadIdx.x);
}
__global__ void inShared(int form, int* data) {
    __shared__ int s[kValues];
    const int t = threadIdx.x, i = blockIdx.x * kValues + t;
    s[t] = data[i];
    __syncthreads();
    apply(form, s, t);
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

int main(int count, char** arguments) {
    const int blocks = count > 1 ? std::atoi(arguments[1]) : 4;
    int* data;
    CHECK(cudaMallocManaged(&data, blocks * kValues * sizeof(int)));
    int form = 0, wrong = 0;
    for (const int added : kAdded) {
        for (const auto kernel : {inGlobal, inShared}) {
            for (int i = 0; i < blocks * kValues; ++i) data[i] = i / kValues + i % kValues;
            kernel<<<blocks, kValues>>>(form, data);
            CHECK(cudaDeviceSynchronize());
            int wrongBlocks = 0;
            for (int b = 0; b < blocks; ++b) wrongBlocks += !isRight(added, data + b * kValues, b);
            if (wrongBlocks > 0) std::printf("form %d: %d blocks wrong\n", form, wrongBlocks);
            wrong += wrongBlocks;
        }
        ++form;
    }
    EXPECT(wrong == 0);
    return 0;
}
