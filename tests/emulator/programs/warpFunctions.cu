// Shuffles, votes, matches: full and partial warps, divergent halves, loops that lanes leave one by
// one.
#include "expect.cuh"

constexpr int kThreads = 96;

__global__ void votes(unsigned* out) {
    const unsigned t = threadIdx.x, lane = t % 32;
    int allSame;
    out[t] = __ballot_sync(0xffffffff, t % 3 == 0);
    out[t + kThreads] = __any_sync(~0u, t == 70) + 2 * __all_sync(~0u, t < 64);
    out[t + 2 * kThreads] = __match_any_sync(~0u, t / 5);
    const unsigned same = __match_all_sync(~0u, t / 32, &allSame);
    out[t + 3 * kThreads] = allSame ? same : 0;
    out[t + 4 * kThreads] = lane < 7 ? __activemask() : 0;
    out[t + 5 * kThreads] = __reduce_add_sync(~0u, t) + __reduce_max_sync(~0u, t);
    out[t + 6 * kThreads] = __syncthreads_count(t % 2) + __syncthreads_or(t == 95) * 1000;
}

__global__ void sums(double* tree, long long* prefix) {
    const unsigned t = threadIdx.x, lane = t % 32;
    double sum = t;
    for (int mask = 16; mask > 0; mask >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, mask);
    long long before = static_cast<long long>(t) << 33;
    for (unsigned k = 1; k < 32; k *= 2) {
        const long long other = __shfl_up_sync(0xffffffff, before, k);
        if (lane >= k) before += other;
    }
    tree[t] = sum;
    prefix[t] = before;
}

// Four values of a lane, exchanged with its neighbour without an array in memory.
__global__ void swapFirstAndLast(int* data) {
    int v[4];
    for (int i = 0; i < 4; ++i) v[i] = data[threadIdx.x * 4 + i];
    const bool first = threadIdx.x % 2 == 0;
    int give = first ? v[0] : v[3];
    give = __shfl_xor_sync(0xf, give, 1, 16);
    (first ? v[0] : v[3]) = give;
    for (int i = 0; i < 4; ++i) data[threadIdx.x * 4 + i] = v[i];
}

__global__ void divergent(int* out) {
    const int t = threadIdx.x;
    int count;
    if (t & 1) {
        count = __popc(__ballot_sync(0xaaaaaaaa, t > 15));
    } else {
        count = __popc(__ballot_sync(0x55555555, t > 19));
    }
    __syncwarp();
    out[t] = count + 100 * __shfl_sync(~0u, count, t ^ 1);
}

__global__ void leaveOneByOne(int* out) {
    int steps = 0;
    while (__ballot_sync(0xffffffff, steps < static_cast<int>(threadIdx.x)) != 0) ++steps;
    int own = 0;
    for (int i = 0; i < static_cast<int>(threadIdx.x % 5); ++i) {
        own += i;
        __syncwarp(__activemask());
    }
    out[threadIdx.x] = steps * 100 + own;
}

// One atomic for all lanes that append.
__device__ int append(int* counter) {
    const unsigned active = __activemask();
    const int leader = __ffs(active) - 1, lane = threadIdx.x % 32;
    const int rank = __popc(active & ((1u << lane) - 1));
    int start = 0;
    if (rank == 0) start = atomicAdd(counter, __popc(active));
    return __shfl_sync(active, start, leader) + rank;
}
__global__ void positives(const int* in, int* out, int* counter, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0) out[append(counter)] = in[i];
}

// The last warp of a block of 45 threads has 13 lanes.
__global__ void partialWarp(int* out) {
    int sum = threadIdx.x;
    for (int k = 16; k > 0; k >>= 1) {
        const int other = __shfl_down_sync(0xffffffff, sum, k);
        if (threadIdx.x % 32 + k < blockDim.x - threadIdx.x / 32 * 32) sum += other;
    }
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = sum;
}

int main() {
    unsigned* v;
    double* tree;
    long long* prefix;
    CHECK(cudaMallocManaged(&v, 7 * kThreads * sizeof(*v)));
    CHECK(cudaMallocManaged(&tree, kThreads * sizeof(*tree)));
    CHECK(cudaMallocManaged(&prefix, kThreads * sizeof(*prefix)));
    votes<<<1, kThreads>>>(v);
    sums<<<1, kThreads>>>(tree, prefix);
    CHECK(cudaDeviceSynchronize());
    for (unsigned t = 0; t < kThreads; ++t) {
        const unsigned warp = t / 32;
        unsigned ballot = 0, match = 0, sum = 0;
        long long before = 0;
        for (unsigned lane = 0; lane < 32; ++lane) {
            const unsigned other = warp * 32 + lane;
            ballot |= (other % 3 == 0 ? 1u : 0u) << lane;
            match |= (other / 5 == t / 5 ? 1u : 0u) << lane;
            sum += other;
            if (other <= t) before += static_cast<long long>(other) << 33;
        }
        const unsigned* of = v + t;
        EXPECT(of[0] == ballot && of[kThreads] == (warp == 2 ? 1 : 2) && of[2 * kThreads] == match);
        EXPECT(of[3 * kThreads] == ~0u && of[4 * kThreads] == (t % 32 < 7 ? 0x7f : 0));
        EXPECT(of[5 * kThreads] == sum + warp * 32 + 31 && of[6 * kThreads] == 1048);
        EXPECT(tree[t] == sum && prefix[t] == before);
    }

    int* out;
    CHECK(cudaMallocManaged(&out, 1001 * sizeof(int)));
    for (int i = 0; i < 16; ++i) out[i] = i;
    swapFirstAndLast<<<1, 4>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[0] == 7 && out[7] == 0 && out[8] == 15 && out[15] == 8 && out[1] == 1 &&
           out[6] == 6);
    divergent<<<1, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    for (int t = 0; t < 32; ++t) EXPECT(out[t] == (t % 2 ? 8 + 100 * 6 : 6 + 100 * 8));
    leaveOneByOne<<<1, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    for (int t = 0; t < 32; ++t) EXPECT(out[t] == 3100 + t % 5 * (t % 5 - 1) / 2);
    partialWarp<<<1, 45>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[0] == 496 && out[1] == (32 + 44) * 13 / 2);

    const int n = 1000;
    int *in, positive = 0;
    long long sum = 0;
    CHECK(cudaMallocManaged(&in, n * sizeof(int)));
    for (int i = 0; i < n; ++i) {
        in[i] = i * 7919 % 101 - 50;
        if (in[i] > 0) ++positive, sum += in[i];
    }
    int* const counter = out + n;
    *counter = 0;
    positives<<<(n + 127) / 128, 128>>>(in, out, counter, n);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*counter == positive);
    for (int i = 0; i < positive; ++i) sum -= out[i];
    EXPECT(sum == 0);
    return 0;
}
