// Atomics and what is built of them: other atomics, locks, a barrier of all blocks, lists, a hash
// table.
#include <cfloat>
#include <climits>

#include "expect.cuh"

constexpr int kBlocks = 60, kBlock = 64, kThreads = kBlocks * kBlock;

__device__ int casAdd(int* address, int value) {
    int old = *address, expected;
    do {
        expected = old;
        old = atomicCAS(address, expected, expected + value);
    } while (old != expected);
    return old;
}
__device__ double casAdd(double* address, double value) {
    auto* bits = reinterpret_cast<unsigned long long*>(address);
    unsigned long long old = *bits, expected;
    do {
        expected = old;
        old =
            atomicCAS(bits, expected, __double_as_longlong(value + __longlong_as_double(expected)));
    } while (old != expected);
    return __longlong_as_double(old);
}
__device__ float atomicMaxFloat(float* address, float value) {
    return value >= 0 ? __int_as_float(atomicMax((int*)address, __float_as_int(value)))
                      : __uint_as_float(atomicMin((unsigned*)address, __float_as_uint(value)));
}

struct Results {
    int added, subtracted, smallest, largest, exchanged, cleared, set, flipped, byCas;
    unsigned up, down;
    unsigned long long wide;
    float halves, maxFloat;
    double quarters, quartersByCas;
};

__global__ void all(Results* r) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&r->added, 1);
    atomicSub(&r->subtracted, 2);
    atomicMin(&r->smallest, -t);
    atomicMax(&r->largest, t);
    atomicExch(&r->exchanged, t);
    atomicAnd(&r->cleared, ~(1 << t % 31));
    atomicOr(&r->set, 1 << t % 31);
    atomicXor(&r->flipped, t);
    casAdd(&r->byCas, 3);
    atomicInc(&r->up, 99);
    atomicDec(&r->down, 99);
    atomicAdd(&r->wide, 1ULL << 32);
    atomicAdd(&r->halves, 0.5f);
    atomicMaxFloat(&r->maxFloat, t - 100.f);
    atomicAdd(&r->quarters, 0.25);
    casAdd(&r->quartersByCas, 0.25);
}

struct Lock {
    int* state;
    __device__ void lock() {
        while (atomicCAS(state, 0, 1) != 0) {
        }
        __threadfence();
    }
    __device__ void unlock() {
        __threadfence();
        atomicExch(state, 0);
    }
};
__global__ void countLocked(Lock lock, int* n) {
    if (threadIdx.x != 0) return;
    lock.lock();
    *n = *n + 1;
    lock.unlock();
}
// Each thread of a warp for itself.
__global__ void countLockedByAll(int* lock, int* n) {
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *(volatile int*)n += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

// A barrier of all blocks, made by hand: needs them all to run at once.
__global__ void exchange(int* a, int* b, int* arrived) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < static_cast<int>(gridDim.x)) {
        }
    }
    __syncthreads();
    b[i] = a[(i + blockDim.x) % (gridDim.x * blockDim.x)];
}

// A flag in shared memory that one thread polls and another one sets.
__global__ void handOver(int* out) {
    __shared__ int flag, data;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    volatile int* f = &flag;
    if (threadIdx.x == 0) {
        while (*f == 0) {
        }
        *out = data;
    } else if (threadIdx.x == 40) {
        data = 42;
        __threadfence_block();
        *f = 1;
    }
}

struct Node {
    int value;
    Node* next;
};
__device__ Node* head;
__global__ void push(int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    auto* node = new Node{i, nullptr};
    auto* headBits = reinterpret_cast<unsigned long long*>(&head);
    unsigned long long old;
    do {
        old = atomicAdd(headBits, 0ull);
        node->next = reinterpret_cast<Node*>(old);
    } while (atomicCAS(headBits, old, reinterpret_cast<unsigned long long>(node)) != old);
}
__global__ void sumAndFree(int* sum) {
    *sum = 0;
    while (head != nullptr) {
        Node* const next = head->next;
        *sum += head->value;
        delete head;
        head = next;
    }
}

constexpr unsigned kEmpty = 0xffffffff, kSlots = 8192;
__device__ unsigned hash(unsigned key) {
    key ^= key >> 16;
    key *= 0x85ebca6b;
    key ^= key >> 13;
    return key % kSlots;
}
__global__ void insertAndFind(unsigned* table, unsigned* slots, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned key = i % (n / 2) * 7;  // each key twice
    unsigned slot = hash(key);
    for (;; slot = (slot + 1) % kSlots) {
        const unsigned old = atomicCAS(&table[slot], kEmpty, key);
        if (old == kEmpty || old == key) break;
    }
    slots[i] = slot;
}

int main() {
    Results* r;
    CHECK(cudaMallocManaged(&r, sizeof(*r)));
    *r = Results{};
    r->cleared = -1;
    r->maxFloat = -FLT_MAX;
    all<<<kBlocks, kBlock>>>(r);
    CHECK(cudaDeviceSynchronize());
    int flipped = 0;
    for (int t = 0; t < kThreads; ++t) flipped ^= t;
    EXPECT(r->added == kThreads && r->subtracted == -2 * kThreads && r->byCas == 3 * kThreads);
    EXPECT(r->smallest == 1 - kThreads && r->largest == kThreads - 1);
    EXPECT(r->exchanged >= 0 && r->exchanged < kThreads);
    EXPECT(r->cleared == INT_MIN && r->set == INT_MAX && r->flipped == flipped);
    EXPECT(r->up == kThreads % 100 && r->down == 100 - kThreads % 100);
    EXPECT(r->wide == static_cast<unsigned long long>(kThreads) << 32);
    EXPECT(r->halves == kThreads / 2 && r->maxFloat == kThreads - 101);
    EXPECT(r->quarters == kThreads / 4 && r->quartersByCas == kThreads / 4);

    int* n;
    CHECK(cudaMallocManaged(&n, 3 * sizeof(int)));
    n[0] = n[1] = n[2] = 0;
    countLocked<<<200, 32>>>(Lock{n + 1}, n);
    countLockedByAll<<<8, 64>>>(n + 1, n);
    CHECK(cudaDeviceSynchronize());
    EXPECT(n[0] == 200 + 512);

    int *a, *b;
    CHECK(cudaMallocManaged(&a, 8 * kBlock * sizeof(int)));
    CHECK(cudaMallocManaged(&b, 8 * kBlock * sizeof(int)));
    exchange<<<8, kBlock>>>(a, b, n + 2);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 8 * kBlock; ++i) EXPECT(b[i] == (i + kBlock) % (8 * kBlock));
    handOver<<<1, 64>>>(n);
    CHECK(cudaDeviceSynchronize());
    EXPECT(n[0] == 42);

    push<<<10, 100>>>(1000);
    sumAndFree<<<1, 1>>>(n);
    CHECK(cudaDeviceSynchronize());
    EXPECT(n[0] == 499500);

    const int keys = 4000;
    unsigned *table, *slots;
    CHECK(cudaMallocManaged(&table, kSlots * sizeof(unsigned)));
    CHECK(cudaMallocManaged(&slots, keys * sizeof(unsigned)));
    CHECK(cudaMemset(table, 0xff, kSlots * sizeof(unsigned)));
    insertAndFind<<<(keys + 127) / 128, 128>>>(table, slots, keys);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < keys / 2; ++i) {
        EXPECT(slots[i] == slots[i + keys / 2] && table[slots[i]] == i * 7u);
    }
    return 0;
}
