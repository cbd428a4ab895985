// The atomic functions of CUDA 12.8: values, types and sizes; handing over between lanes of a warp.
#include "expect.cuh"

constexpr int kBlocks = 60, kBlock = 64, kThreads = kBlocks * kBlock;

struct alignas(16) Wide {
    unsigned long long low, high;
};
struct Pair {
    short first;
    char second, third;
};

struct Results {
    int added, subtracted, smallest, largest, exchanged;
    unsigned cleared, set, flipped;
    unsigned long long wideAdded;
    long long smallestWide;
    float halves;
    double quarters;
    int byCas;
    Wide wide;
    __int128 wideByCas;
};

__global__ void all(Results* r) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    __nv_atomic_fetch_add(&r->added, 1, __NV_ATOMIC_RELAXED);
    __nv_atomic_sub(&r->subtracted, 2, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_min(&r->smallest, -t, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_max(&r->largest, t, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_exchange_n(&r->exchanged, t, __NV_ATOMIC_RELAXED);
    __nv_atomic_and(&r->cleared, ~(1u << t % 32), __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_or(&r->set, 1u << t % 32, __NV_ATOMIC_RELAXED);
    __nv_atomic_xor(&r->flipped, t, __NV_ATOMIC_RELAXED);
    __nv_atomic_add(&r->wideAdded, 1ull << 32, __NV_ATOMIC_RELAXED);
    __nv_atomic_min(&r->smallestWide, -(1ll << 40) - t, __NV_ATOMIC_RELAXED);
    __nv_atomic_add(&r->halves, 0.5f, __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_sub(&r->quarters, 0.25, __NV_ATOMIC_RELAXED);

    int old = __nv_atomic_load_n(&r->byCas, __NV_ATOMIC_RELAXED);
    while (!__nv_atomic_compare_exchange_n(&r->byCas, &old, old + 3, true, __NV_ATOMIC_ACQ_REL,
                                           __NV_ATOMIC_RELAXED)) {
    }
    Wide wide, next;
    __nv_atomic_load(&r->wide, &wide, __NV_ATOMIC_RELAXED);
    do {
        next = {wide.low + 1, wide.high + 2};
    } while (!__nv_atomic_compare_exchange(&r->wide, &wide, &next, false, __NV_ATOMIC_SEQ_CST,
                                           __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE));
    __int128 sum = __nv_atomic_load_n(&r->wideByCas, __NV_ATOMIC_ACQUIRE);
    while (!__nv_atomic_compare_exchange_n(&r->wideByCas, &sum, sum + ((__int128)1 << 70), false,
                                           __NV_ATOMIC_RELEASE, __NV_ATOMIC_RELAXED)) {
    }
}

__global__ void sizes(int* right) {
    __shared__ signed char one;
    __shared__ bool yes;
    __shared__ unsigned short two;
    __shared__ Pair pair;
    __shared__ float number;
    __shared__ Wide wide;
    __nv_atomic_store_n(&one, -3, __NV_ATOMIC_RELAXED);
    __nv_atomic_store_n(&yes, 2, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
    __nv_atomic_store_n(&two, 70000 + threadIdx.x, __NV_ATOMIC_SEQ_CST);
    const Pair written{-1, 2, 3};
    __nv_atomic_store(&pair, &written, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
    float x = 1.5f;
    __nv_atomic_store(&number, &x, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_CLUSTER);
    Wide w{1, 2}, before;
    __nv_atomic_store(&wide, &w, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_THREAD);

    int n = 0;
    right[n++] = __nv_atomic_load_n(&one, __NV_ATOMIC_RELAXED) == -3;
    right[n++] = __nv_atomic_load_n(&yes, __NV_ATOMIC_CONSUME) == true;
    right[n++] = __nv_atomic_load_n(&two, __NV_ATOMIC_ACQUIRE) == 70000 % 65536;
    unsigned short expected = 4465;
    right[n++] = !__nv_atomic_compare_exchange_n(&two, &expected, 7, false, __NV_ATOMIC_RELAXED,
                                                 __NV_ATOMIC_RELAXED);
    right[n++] = expected == 4464;
    right[n++] = __nv_atomic_compare_exchange_n(&two, &expected, 7, false, __NV_ATOMIC_RELAXED,
                                                __NV_ATOMIC_RELAXED);
    right[n++] = expected == 4464 && __nv_atomic_load_n(&two, __NV_ATOMIC_RELAXED) == 7;
    Pair read;
    __nv_atomic_load(&pair, &read, __NV_ATOMIC_RELAXED);
    right[n++] = read.first == -1 && read.second == 2 && read.third == 3;
    float y = 2.5f;
    __nv_atomic_exchange(&number, &y, &x, __NV_ATOMIC_RELAXED);
    right[n++] = x == 1.5f && number == 2.5f;
    w.low = 5;
    __nv_atomic_exchange(&wide, &w, &before, __NV_ATOMIC_RELAXED);
    right[n++] = before.low == 1 && before.high == 2;
    __nv_atomic_load(&wide, &before, __NV_ATOMIC_RELAXED);
    right[n++] = before.low == 5 && before.high == 2;
    number = 2;
    right[n++] = __nv_atomic_fetch_add(&number, 1, __NV_ATOMIC_RELAXED) == 2 && number == 3;
}
constexpr int kSizes = 12;

// A lane polls for another one of its warp: no lockstep is needed.
__global__ void lanes(unsigned* out) {
    __shared__ unsigned flag;
    if (threadIdx.x == 0) __nv_atomic_store_n(&flag, 0, __NV_ATOMIC_RELAXED);
    __syncthreads();
    if (threadIdx.x < 31) {
        while (__nv_atomic_load_n(&flag, __NV_ATOMIC_RELAXED) != 9) {
        }
    } else {
        __nv_atomic_store_n(&flag, 9, __NV_ATOMIC_RELAXED);
    }
    out[threadIdx.x] = __nv_atomic_load_n(&flag, __NV_ATOMIC_RELAXED);
}

int main() {
    Results start{}, end;
    start.cleared = ~0u;
    Results* results;
    CHECK(cudaMalloc(&results, sizeof(Results)));
    CHECK(cudaMemcpy(results, &start, sizeof(Results), cudaMemcpyHostToDevice));
    all<<<kBlocks, kBlock>>>(results);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&end, results, sizeof(Results), cudaMemcpyDeviceToHost));
    EXPECT(end.added == kThreads && end.subtracted == -2 * kThreads && end.byCas == 3 * kThreads);
    EXPECT(end.smallest == 1 - kThreads && end.largest == kThreads - 1);
    EXPECT(end.exchanged >= 0 && end.exchanged < kThreads);
    EXPECT(end.cleared == 0 && end.set == ~0u && end.flipped == 0);  // as many of each bit
    EXPECT(end.wideAdded == static_cast<unsigned long long>(kThreads) << 32);
    EXPECT(end.smallestWide == -(1ll << 40) - kThreads + 1);
    EXPECT(end.halves == kThreads / 2 && end.quarters == -kThreads / 4);
    EXPECT(end.wide.low == kThreads && end.wide.high == 2 * kThreads);
    EXPECT(end.wideByCas == (__int128)kThreads << 70);

    int* right;
    unsigned* flags;
    CHECK(cudaMalloc(&right, kSizes * sizeof(int)));
    CHECK(cudaMalloc(&flags, 32 * sizeof(unsigned)));
    sizes<<<1, 1>>>(right);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < kSizes; ++i) EXPECT(fetch(right + i) == 1);

    lanes<<<1, 32>>>(flags);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; ++i) EXPECT(fetch(flags + i) == 9);
}
