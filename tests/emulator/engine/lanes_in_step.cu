// Code from before Volta: the lanes of a warp go in step where they load and store through volatile
// pointers, whatever ifs and loops part them. What is expected is what an H200 gives.
#include <gmock/gmock.h>

#include <utility>

#include "fixture.h"

namespace {

using ::testing::ElementsAre;

class LanesInStep : public EngineTest {};

// ---- sums of ones, n of them, by one warp

__device__ volatile int* ones(int* s, int n) {
    const int t = threadIdx.x;
    s[t] = t < n;
    s[t + 64] = 0;
    __syncthreads();
    return s;
}

__global__ void skippingLanes(int* out, int n) {
    __shared__ int s[128];
    volatile int* v = ones(s, n);
    const int t = threadIdx.x;
    for (int k = 32; k > 0; k >>= 1) {
        if (t >= k) continue;
        v[t] += v[t + k];
    }
    if (t == 0) *out = v[0];
}

__global__ void leavingLanes(int* out, int n) {
    __shared__ int s[128];
    volatile int* v = ones(s, n);
    const int t = threadIdx.x;
    int k = 32;
    do {
        if (t >= k) break;
        v[t] += v[t + k];
        k >>= 1;
    } while (k > 0);
    if (t == 0) *out = v[0];
}

__global__ void endingLanes(int* out, int n) {
    __shared__ int s[128];
    volatile int* v = ones(s, n);
    const int t = threadIdx.x;
    int k = 32;
    while (k > 0) {
        if (t >= k) return;
        v[t] += v[t + k];
        k >>= 1;
    }
    *out = v[0];
}

__global__ void chosenValue(int* out, int n) {
    __shared__ int s[128];
    volatile int* v = ones(s, n);
    const int t = threadIdx.x;
    if (t < 32) {
        for (int k = 32; k > 0; k >>= 1) v[t] += t + k < n ? v[t + k] : 0;
    }
    if (t == 0) *out = v[0];
}

__global__ void nestedIfs(int* out, int n) {
    __shared__ int s[128];
    volatile int* v = ones(s, n);
    const int t = threadIdx.x;
    if (t < 32) {
        for (int k = 32; k > 0; k >>= 1) {
            if (t < k) {
                int other = 0;
                if (t + k < n) other = v[t + k];
                if (other != 0) v[t] = v[t] + other;
            } else if (t % 2 == 0) {
                v[t + 64] = 1;
                v[t + 64] = 0;
            } else {
                v[t + 64] = 0;
            }
        }
    }
    if (t == 0) *out = v[0];
}

__global__ void cases(int* out, int n) {
    __shared__ int s[128];
    volatile int* v = ones(s, n);
    const int t = threadIdx.x;
    for (int k = 32; k > 0; k >>= 1) {
        switch (t < k ? t % 3 : 3) {
            case 0:
                v[t] += v[t + k];
                break;
            case 1:
            case 2: {
                const int other = v[t + k];
                v[t] += other;
                break;
            }
            default:
                break;
        }
    }
    if (t == 0) *out = v[0];
}

__device__ void addFrom(volatile int* v, int n, int k);
__global__ void calls(int* out, int n) {  // no `volatile` of its own in the loop
    __shared__ int s[128];
    ones(s, n);
    if (threadIdx.x < 32) {
        for (int k = 32; k > 0; k >>= 1) addFrom(s, n, k);
    }
    if (threadIdx.x == 0) *out = s[0];
}
__device__ int valueAt(volatile int* v, int i, int n) {
    if (i >= n) return 0;
    int value = 0;
    for (int turns = i % 3; turns >= 0; --turns) value = v[i];
    return value;
}
__device__ void addFrom(volatile int* v, int n, int k) {
    const int t = threadIdx.x;
    const int value = valueAt(v, t + k, n);
    if (value == 0) return;
    v[t] += value;
}

// Only what is loaded is volatile, or only what is stored to.
__global__ void volatileLoads(int* out, int n) {
    __shared__ int s[128];
    volatile int* v = ones(s, n);
    const int t = threadIdx.x;
    for (int k = 32; k > 0 && t < 32; k >>= 1) s[t] += v[t + k];
    if (t == 0) *out = s[0];
}
__global__ void volatileStores(int* out, int n) {
    __shared__ int s[128];
    volatile int* v = ones(s, n);
    const int t = threadIdx.x;
    for (int k = 32; k > 0 && t < 32; k >>= 1) v[t] += s[t + k];
    if (t == 0) *out = v[0];
}

#define ADD(k) \
    if (t + k < n) v[t] += v[t + k];
__global__ void macros(int* out, int n) {
    extern __shared__ volatile int v[];
    const int t = threadIdx.x;
    v[t] = t < n;
    __syncthreads();
    if (t < 32) {
        ADD(32) ADD(16) ADD(8);
        ADD(4)
        ADD(2)
        ADD(1)
    }
    if (t == 0) *out = v[0];
}

// No lane is left out, so what one reads is what another one writes.
__global__ void syncedLanes(int* out, int n) {
    __shared__ int s[128];
    ones(s, n);
    const int t = threadIdx.x;
    for (int k = 32; k > 0 && t < 32; k >>= 1) {
        s[t] += s[t + k];
        __syncwarp();
    }
    if (t == 0) *out = s[0];
}

TEST_F(LanesInStep, Sums) {
    Managed<int> out(1);
    for (const auto kernel : {skippingLanes, leavingLanes, endingLanes, chosenValue, nestedIfs,
                              cases, calls, volatileLoads, volatileStores, macros, syncedLanes}) {
        for (const int n : {64, 50, 33, 20, 7}) {
            out[0] = -1;
            RUN(kernel<<<1, 64, 128 * sizeof(int)>>>(out.get(), n));
            EXPECT_EQ(n, out[0]) << "kernel " << reinterpret_cast<void*>(kernel);
        }
    }
}

// ---- other shapes

__global__ void prefixSums(int* out) {
    __shared__ volatile int s[96];
    const int t = threadIdx.x, lane = t % 32;
    s[t] = 1;
    if (lane >= 1) s[t] += s[t - 1];
    if (lane >= 2) s[t] += s[t - 2];
    if (lane >= 4) s[t] += s[t - 4];
    if (lane >= 8) s[t] += s[t - 8];
    if (lane >= 16) s[t] += s[t - 16];
    out[t] = s[t];
}

TEST_F(LanesInStep, PrefixSums) {
    Managed<int> out(96);
    RUN(prefixSums<<<1, 96>>>(out.get()));
    for (int t = 0; t < 96; ++t) ASSERT_EQ(t % 32 + 1, out[t]);
}

__global__ void elseComesSecond(int* out) {
    __shared__ volatile int s[32];
    const int t = threadIdx.x;
    s[t] = t;
    if (t < 16)
        s[t] = s[t + 16];
    else
        s[t] = s[t - 16];
    out[t] = s[t];
}

TEST_F(LanesInStep, ElseComesBehindTheIf) {
    Managed<int> out(32);
    RUN(elseComesSecond<<<1, 32>>>(out.get()));
    for (int t = 0; t < 32; ++t) ASSERT_EQ(t % 16 + 16, out[t]);
}

__global__ void loopsOfDifferentLength(int* out) {
    __shared__ volatile int s[4];
    const int t = threadIdx.x;
    s[t] = 1;
    for (int turns = t; turns > 0; --turns) s[t] += 1;
    out[t] = s[t ^ 1] + 100 * s[t ^ 2];
}

TEST_F(LanesInStep, LanesThatLeaveALoopWaitForTheOthers) {
    Managed<int> out(4);
    RUN(loopsOfDifferentLength<<<1, 4>>>(out.get()));
    EXPECT_THAT(out.values(), ElementsAre(302, 401, 104, 203));
}

__global__ void vectors(float* out, int n) {
    __shared__ float2 s[64];
    const int t = threadIdx.x;
    s[t] = make_float2(t < n, t < n ? 2 : 0);
    __syncthreads();
    volatile float2* v = s;
    if (t < 32) {
        for (int k = 32; k > 0; k >>= 1) {
            if (t + k < n) {
                v[t].x += v[t + k].x;
                (v + t)->y += v[t + k].y;
            }
        }
    }
    if (t == 0) {
        out[0] = v->x;
        out[1] = (*v).y;
    }
}

TEST_F(LanesInStep, MembersOfVectors) {
    Managed<float> out(2);
    for (const int n : {64, 50, 33, 20}) {
        RUN(vectors<<<1, 64>>>(out.get(), n));
        EXPECT_THAT(out.values(), ElementsAre(n, 2 * n));
    }
}

// ---- an element of a volatile array has the type of the array's elements

template <class T>
__device__ void exchange(T& a, T& b) {
    T c = a;
    a = b;
    b = c;
}
template <class T>
__device__ int countDown(T value) {
    int turns = 0;
    for (; value > 0; value -= 1) ++turns;
    return turns;
}
__device__ int difference(const volatile float* a, const volatile float* b) {
    return static_cast<int>(*b - a[0]);
}

__global__ void useElements(volatile int* v, volatile float* f, int* out) {
    if (threadIdx.x != 0) return;
    exchange(v[0], v[1]);
    out[0] = 10 * v[0] + v[1];
    auto copy = v[0];
    v[0] = 7;
    out[1] = copy;
    copy = 5;
    out[2] = v[0];
    out[3] = countDown(v[0]) + 10 * v[0];
    const auto f0 = f[0]++;
    out[4] = difference(f, f + 1) + 10 * f0;
    auto&& name = v[1];
    name *= 4;
    out[5] = v[1];
}

TEST_F(LanesInStep, ElementsAreCopiedAndReferredTo) {
    Managed<int> v(2), out(6);
    Managed<float> f(2);
    v[0] = 1;
    v[1] = 2;
    f[0] = 2;
    f[1] = 9;
    RUN(useElements<<<1, 32>>>(v.get(), f.get(), out.get()));
    EXPECT_THAT(out.values(), ElementsAre(21, 2, 7, 77, 26, 4));
}

// ---- fences, and no volatile

__global__ void lateStores(int* out) {
    const int t = threadIdx.x;
    for (int k = 0; k < 2; ++k) {
        out[t] = t;
        __threadfence();
        if (t == 0) out[20] = 100 + k;
        __threadfence_block();
        if (t == 31) out[0] = 200 + k;
    }
    out[64 + t] = t;
    __threadfence_system();
    if (t == 1) out[64] = out[95] = 300;
}

TEST_F(LanesInStep, AFenceComesBehindTheStoresOfAllLanes) {
    Managed<int> out(128);
    RUN(lateStores<<<1, 64>>>(out.get()));
    for (int t = 0; t < 64; ++t) {
        EXPECT_EQ(t == 0 ? 201 : t == 20 ? 101 : t, out[t]);
        EXPECT_EQ(t == 0 || t == 31 ? 300 : t, out[64 + t]);
    }
}

// ---- polling: with a thread of another warp, or with lanes that are ahead

__global__ void setBehindTheIf(volatile int* v) {
    if (threadIdx.x == 0) {
        while (v[0] == 0) {
        }
    }
    if (threadIdx.x == 1) v[0] = 1;
}
__global__ void setByLaneZero(volatile int* v) {
    if (threadIdx.x != 0) {
        while (true) {
            if (v[0] == 1) break;
        }
    } else {
        v[0] = 1;
    }
}
__global__ void inTurn(volatile int* v) {
    const int t = threadIdx.x;
    while (v[0] != 31 - t) {
    }
    v[0] = 32 - t;
    while (v[0] != 32 + t) __nanosleep(20);
    v[0] = 33 + t;
}
__global__ void byAtomics(volatile int* v) {
    int* flag = (int*)v;
    if (threadIdx.x == 5) {
        while (atomicAdd(flag, 0) == 0) {
        }
    }
    if (threadIdx.x == 3) atomicExch(flag, 1);
}
__device__ void take(int* lock) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
}
__global__ void locks(volatile int* v) {
    __shared__ int lock;
    if (threadIdx.x == 0) lock = 0;
    __syncthreads();
    take(&lock);
    v[0] = v[0] + 1;
    __threadfence();
    atomicExch(&lock, 0);
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            v[0] = v[0] + 1;
            __threadfence();
            atomicExch(&lock, 0);
            done = true;
        }
    }
}
__global__ void storesWhileItPolls(volatile int* v) {
    if (threadIdx.x == 0) {
        while (v[0] == 0) v[1] += 1;
    }
    if (threadIdx.x == 1) v[0] = 1;
}

TEST_F(LanesInStep, LanesMayPollForOthersThatAreAhead) {
    Managed<int> v(2);
    const std::pair<void (*)(volatile int*), int> kernels[] = {
        {setBehindTheIf, 1}, {setByLaneZero, 1}, {inTurn, 64},
        {byAtomics, 1},      {locks, 64},        {storesWhileItPolls, 1}};
    for (const auto& [function, expected] : kernels) {
        const auto kernel = function;  // what a launch names is captured
        v[0] = 0;
        RUN(kernel<<<1, 32>>>(v.get()));
        EXPECT_EQ(expected, v[0]);
    }
}

// All threads of a block poll for the next block.
__global__ void laterBlock(int* flag) {
    if (blockIdx.x + 1 == gridDim.x) {
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {
        }
    }
}

TEST_F(LanesInStep, ManyThreadsMayPollForALaterBlock) {
    int multiprocessors = 0;
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    Managed<int> flag(1);
    RUN(laterBlock<<<multiprocessors + 2, 64>>>(flag.get()));
    EXPECT_EQ(1, flag[0]);
}

}  // namespace
