// cuda::atomic and cuda::atomic_ref: values, types, sizes, and what a flag hands over.
#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/atomic>

#include "expect.cuh"

constexpr int kBlocks = 60, kBlock = 64, kThreads = kBlocks * kBlock;
constexpr auto kDevice = cuda::thread_scope_device;
constexpr auto kBlockScope = cuda::thread_scope_block;
constexpr auto kRelaxed = cuda::memory_order_relaxed;

struct Results {
    int added, subtracted, smallest, largest, exchanged, byCas, viaOperators;
    unsigned cleared, set, flipped;
    unsigned long long wideAdded;
    long long smallestWide;
    float halves;
    double quarters, largestDouble;
    unsigned short small;
    int* pointer;
    int ofBlocks[kBlocks];
};

template <class T>
__device__ cuda::atomic_ref<T, kDevice> at(T& object) {
    return cuda::atomic_ref<T, kDevice>(object);
}

__global__ void all(Results* r) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    at(r->added).fetch_add(1);
    at(r->subtracted).fetch_sub(2, kRelaxed);
    at(r->smallest).fetch_min(-t, cuda::std::memory_order_acq_rel);
    at(r->largest).fetch_max(t, cuda::memory_order_seq_cst);
    at(r->exchanged).exchange(t, cuda::memory_order_acquire);
    at(r->cleared).fetch_and(~(1u << t % 32), kRelaxed);
    at(r->set).fetch_or(1u << t % 32, kRelaxed);
    at(r->flipped).fetch_xor(t, kRelaxed);
    at(r->wideAdded).fetch_add(1ull << 32, cuda::memory_order_release);
    at(r->smallestWide).fetch_min(-(1ll << 40) - t, kRelaxed);
    at(r->halves).fetch_add(0.5f, kRelaxed);
    at(r->quarters).fetch_sub(0.25, kRelaxed);
    at(r->largestDouble).fetch_max(t + 0.5, kRelaxed);
    at(r->small) += 3;
    at(r->pointer) += 2;
    auto many = at(r->viaOperators);
    ++many;
    many++;
    many -= 1;
    int old = at(r->byCas).load(kRelaxed);
    while (!at(r->byCas).compare_exchange_weak(old, old + 3, cuda::memory_order_acq_rel)) {
    }

    __shared__ cuda::atomic<int, kBlockScope> ofBlock;
    if (threadIdx.x == 0) ofBlock.store(0, kRelaxed);
    __syncthreads();
    ofBlock.fetch_add(1, kRelaxed);
    __syncthreads();
    if (threadIdx.x == 0) r->ofBlocks[blockIdx.x] = ofBlock.load(kRelaxed);
}

// A thread hands a number to each later warp: by a release and an acquire.
__global__ void handOver(int* data, int* seen) {
    __shared__ cuda::atomic<int, kBlockScope> flag;
    __shared__ int number;
    if (threadIdx.x == 0) flag.store(0, kRelaxed);
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) {
        number = 41;
        *data = 1;
        flag.store(1, cuda::memory_order_release);
        flag.notify_all();
    } else {
        flag.wait(0, cuda::memory_order_acquire);
        cuda::atomic_thread_fence(cuda::memory_order_acquire, kBlockScope);
        seen[threadIdx.x] = number + *data;
    }
}

__device__ cuda::atomic<unsigned, kDevice> tickets{5};

__global__ void takeTicket(unsigned* most) {
    const unsigned mine = tickets.fetch_add(1, kRelaxed);
    cuda::atomic_ref<unsigned>(*most).fetch_max(mine, cuda::std::memory_order_relaxed);
}

int main() {
    Results* r;
    CHECK(cudaMallocManaged(&r, sizeof(Results)));
    *r = {};
    r->cleared = ~0u;
    EXPECT_AFTER(r->added == kThreads, all<<<kBlocks, kBlock>>>(r));
    EXPECT(r->subtracted == -2 * kThreads);
    EXPECT(r->smallest == 1 - kThreads && r->largest == kThreads - 1);
    EXPECT(r->exchanged >= 0 && r->exchanged < kThreads);
    EXPECT(r->cleared == 0 && r->set == ~0u);
    unsigned flipped = 0;
    for (unsigned t = 0; t < kThreads; ++t) flipped ^= t;
    EXPECT(r->flipped == flipped);
    EXPECT(r->wideAdded == (unsigned long long)kThreads << 32);
    EXPECT(r->smallestWide == -(1ll << 40) - (kThreads - 1));
    EXPECT(r->halves == 0.5f * kThreads && r->quarters == -0.25 * kThreads);
    EXPECT(r->largestDouble == kThreads - 0.5);
    EXPECT(r->small == (unsigned short)(3 * kThreads));
    EXPECT(r->pointer == (int*)(size_t)(2 * sizeof(int) * kThreads));
    EXPECT(r->byCas == 3 * kThreads && r->viaOperators == kThreads);
    for (const int count : r->ofBlocks) EXPECT(count == kBlock);

    int *data, *seen;
    CHECK(cudaMalloc(&data, sizeof(int)));
    CHECK(cudaMallocManaged(&seen, 128 * sizeof(int)));
    EXPECT_AFTER(seen[0] == 42 && seen[126] == 42, handOver<<<1, 128>>>(data, seen));

    unsigned* most;
    CHECK(cudaMallocManaged(&most, sizeof(unsigned)));
    *most = 0;
    EXPECT_AFTER(*most == 5 + 99, takeTicket<<<1, 100>>>(most));

    // The host uses the same object.
    cuda::atomic_ref<unsigned, cuda::thread_scope_system> ofBoth(*most);
    EXPECT(ofBoth.fetch_add(1) == 104 && *most == 105);
    unsigned expected = 1;
    EXPECT(!ofBoth.compare_exchange_strong(expected, 2) && expected == 105);
    cuda::std::array<int, 2> pair{1, 2};
    EXPECT(pair[1] == 2);
}
