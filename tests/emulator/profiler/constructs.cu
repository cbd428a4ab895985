// Kernels of one construct each, to compare what the cpu profiler counts with what ncu reads from a
// -G build on an H200 (constructs.ncu.csv). Each is launched once, on small data.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

constexpr int N = 4096;
__constant__ int table[256];
__device__ int deviceArray[N];
struct Triple {
    float x, y, z;
};
struct Quad {
    float a, b, c, d;
};
struct Big {
    int v[8];
};

__global__ void ifThread(int* a) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t % 2 == 0) a[t] = 1;
}
__global__ void ifElse(int* a) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t % 2 == 0)
        a[t] = 1;
    else
        a[t] = 2;
}
__global__ void ifElseVar(float* c) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float a = 0, b = 0;
    if (t % 2 == 0)
        a = 100;
    else
        b = 200;
    c[t] = a + b;
}
__global__ void elseIf(int* a) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t % 4 == 0)
        a[t] = 1;
    else if (t % 4 == 1)
        a[t] = 2;
    else if (t % 4 == 2)
        a[t] = 3;
    else
        a[t] = 4;
}
__global__ void nested(int* a) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t % 2 == 0) {
        if (t % 4 == 0)
            a[t] = 1;
        else
            a[t] = 2;
    }
}
__global__ void uniformIf(int* a, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (n > 5)
        a[t] = 1;
    else
        a[t] = 2;
}
__global__ void bounds(int* a, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < n) a[t] = 1;
}
__global__ void earlyReturn(int* a, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    a[t] += 1;
}
__global__ void andCond(int* a, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t % 2 == 0 && t < n) a[t] = 1;
}
__global__ void andLoad(int* a, const int* b) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t % 2 == 0 && b[t] > 5) a[t] = 1;
}
__global__ void orCond(int* a, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t % 4 == 0 || t % 4 == 1) a[t] = n;
}
__global__ void andValue(int* a, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    bool f = t % 2 == 0 && t < n;
    a[t] = f;
}
__global__ void ternary(int* a, const int* b) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int x = t % 2 ? 5 : 7;
    a[t] = x + b[t];
}
__global__ void ternaryLoad(int* a, const int* b) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    a[t] = t % 2 ? b[t] : 0;
}
__global__ void ternaryMin(int* a, const int* b) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int x = b[t];
    int m = x < t ? x : t;
    a[t] = m;
}
__global__ void ternaryAbs(int* a, const int* b) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int x = b[t] - 8;
    a[t] = x < 0 ? -x : x;
}
__global__ void minCall(int* a, const int* b) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    a[t] = min(b[t], t) + abs(b[t] - 8) + max(b[t], 3);
}
__global__ void forUniform(int* a, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int s = 0;
    for (int i = 0; i < n; ++i) s += i;
    a[t] = s;
}
__global__ void forLane(int* a) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int s = 0;
    for (int i = 0; i < t % 8; ++i) s += i;
    a[t] = s;
}
__global__ void forLaneLoad(int* a, const int* b) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int s = 0;
    for (int i = 0; i < t % 8; ++i) s += b[i * 64 + t];
    a[t] = s;
}
__global__ void nestedLane(int* a, const int* b) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int s = 0;
    for (int j = 0; j < 4; ++j)
        for (int i = 0; i < (t + j) % 5; ++i) s += b[i * 64 + t];
    a[t] = s;
}
__global__ void whileBreak(int* a, const int* b) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int i = 0;
    while (true) {
        if (b[t + i] > 10) break;
        ++i;
    }
    a[t] = i;
}
__global__ void forContinue(int* a, const int* b) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int s = 0;
    for (int i = 0; i < 6; ++i) {
        if ((i + t) % 3 == 0) continue;
        s += b[t + i];
    }
    a[t] = s;
}
__global__ void doWhile(int* a) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int s = t;
    do {
        s -= 3;
        a[t] += 1;
    } while (s > 0 && s < 40);
}
__global__ void returnInLoop(int* a, const int* b) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < 8; ++i) {
        if (b[t + i] > 12) {
            a[t] = i;
            return;
        }
    }
    a[t] = -1;
}
__global__ void switchFour(int* a) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    switch (t % 4) {
        case 0:
            a[t] = 1;
            break;
        case 1:
            a[t] = 5;
            break;
        case 2:
            a[t] = 9;
            break;
        default:
            a[t] = 7;
    }
}
__global__ void switchSix(int* a) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int x = 0;
    switch (t % 6) {
        case 0:
            x = 1;
            break;
        case 1:
            x = a[t];
            break;
        case 2:
            x = 9;
            break;
        case 3:
            x = a[t] + 2;
            break;
        case 4:
            x = 12;
            break;
        default:
            x = 7;
    }
    a[t] = x;
}
__global__ void switchSparse(int* a) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int x = 0;
    switch (t % 32) {
        case 3:
            x = 1;
            break;
        case 19:
            x = a[t];
            break;
        case 28:
            x = 9;
            break;
    }
    a[t] = x;
}
__device__ int helper(int x) {
    if (x % 2) return x * 3;
    return x + 1;
}
__device__ __noinline__ int helperNo(int x) {
    if (x % 2) return x * 3;
    return x + 1;
}
__device__ __forceinline__ int helperForce(int x) {
    if (x % 2) return x * 3;
    return x + 1;
}
#define CALL(NAME, FUNCTION)                           \
    __global__ void NAME(int* a) {                     \
        int t = blockIdx.x * blockDim.x + threadIdx.x; \
        a[t] = FUNCTION(t);                            \
    }
CALL(callFunction, helper)
CALL(callNoinline, helperNo)
CALL(callForce, helperForce)
__device__ int straight(int x) {
    return x * 3;
}
CALL(callStraight, straight)
__device__ int fib(int x) {
    return x < 2 ? x : fib(x - 1) + fib(x - 2);
}
__global__ void recursion(int* a) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    a[t] = fib(t % 4);
}

#define LOAD(NAME, T, MEMBER)                          \
    __global__ void NAME(T* o, const T* i) {           \
        int t = blockIdx.x * blockDim.x + threadIdx.x; \
        T v = i[t];                                    \
        v.MEMBER += 1;                                 \
        o[t] = v;                                      \
    }
LOAD(loadFloat2, float2, x)
LOAD(loadFloat3, float3, x)
LOAD(loadFloat4, float4, x)
LOAD(loadTriple, Triple, x)
LOAD(loadQuad, Quad, a)
LOAD(loadInt4, int4, x)
LOAD(loadChar4, uchar4, x)
#define GATHER(NAME, T, INDEX)                         \
    __global__ void NAME(T* o, const T* i) {           \
        int t = blockIdx.x * blockDim.x + threadIdx.x; \
        o[t] = i[INDEX];                               \
    }
GATHER(copyFloat4, float4, t)
GATHER(gather, int, (t * 7919) % N)
GATHER(sameAddress, int, blockIdx.x)
GATHER(gatherDouble, double, (t * 37) % 512)
GATHER(sameDouble, double, blockIdx.x)
GATHER(halfDouble, double, t / 2)
GATHER(gatherFloat4, float4, (t * 37) % 512)
GATHER(sameFloat4, float4, blockIdx.x)
GATHER(quarterFloat4, float4, t / 4)
GATHER(strideFloat4, float4, t * 2)
__global__ void castFloat4(float* o, const float* i) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = reinterpret_cast<const float4*>(i)[t];
    reinterpret_cast<float4*>(o)[t] = make_float4(v.x, v.y, v.z, v.w + 1);
}
__global__ void memberFloat4(float* o, const float4* i) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    o[t] = i[t].x + i[t].w;
}
__global__ void loadBig(Big* o, const Big* i) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    Big v = i[t];
    v.v[1] += 1;
    o[t] = v;
}
#define ADD_ONE(NAME, T)                               \
    __global__ void NAME(T* o, const T* i) {           \
        int t = blockIdx.x * blockDim.x + threadIdx.x; \
        o[t] = i[t] + 1;                               \
    }
ADD_ONE(loadDouble, double)
ADD_ONE(loadChar, char)
ADD_ONE(loadShort, short)
__global__ void loadStride(int* o, const int* i, int stride) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    o[t] = i[t * stride];
}
__global__ void loadOffset(int* o, const int* i, int offset) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    o[t] = i[t + offset];
}
__global__ void storeStride(int* o, const int* i, int stride) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    o[t * stride] = i[t];
}
__global__ void addTwice(int* o, const int* i) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    o[t] = i[t] + i[t];
}
__global__ void compound(int* o) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    o[t] += 1;
    o[t] *= 2;
    o[t]++;
}
__global__ void useLdg(int* o, const int* __restrict__ i) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    o[t] = __ldg(&i[t]);
}
__global__ void volatileLoad(volatile int* o, volatile int* i) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    o[t] = i[t] + i[t];
}
__global__ void useConstant(int* o) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    o[t] = table[t % 256];
}
__global__ void useDeviceArray(int* o) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    deviceArray[t] = t;
    o[t] = deviceArray[t];
}
__global__ void useLocalArray(int* o) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int l[16];
    for (int i = 0; i < 16; ++i) l[i] = i * t;
    o[t] = l[t % 16];
}
__global__ void byPointer(int* o) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int* p = o + t;
    int v = 0;
    int* q = &v;
    *q = t;
    *p = *q;
}
__global__ void gridStride(int* o, const int* i, int n) {
    for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < n; t += gridDim.x * blockDim.x)
        o[t] = i[t] + 1;
}
__global__ void ballot(int* o) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    o[t] = __ballot_sync(0xffffffffu, t % 3 == 0);
}
__global__ void shuffleSum(int* o, const int* i) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i[t];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) o[t / 32] = v;
}

__global__ void atomicSame(int* o) {
    atomicAdd(o, 1);
}
#define ATOMIC(NAME, T, CALL)                          \
    __global__ void NAME(T* o) {                       \
        int t = blockIdx.x * blockDim.x + threadIdx.x; \
        CALL;                                          \
    }
ATOMIC(atomicOwn, int, atomicAdd(o + t, 1))
ATOMIC(atomicFloat, float, atomicAdd(o + t % 64, 1.0f))
ATOMIC(atomicMaxAll, int, atomicMax(o, t))
ATOMIC(atomicCasLoop, int, atomicCAS(o + t, 1, t))
__global__ void atomicReturn(int* o, int* c) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    o[t] = atomicAdd(c, 1);
}
__global__ void atomicShared(int* o) {
    __shared__ int s[64];
    if (threadIdx.x < 64) s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[threadIdx.x % 8], 1);
    __syncthreads();
    if (threadIdx.x < 64) o[threadIdx.x] = s[threadIdx.x];
}

template <int S>
__global__ void sharedStride(int* o) {
    __shared__ int s[128 * S + 32];
    s[threadIdx.x * S] = threadIdx.x;
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = s[(threadIdx.x ^ 1) * S];
}
__global__ void sharedBroadcast(int* o) {
    __shared__ int s[128];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x / 32] + s[threadIdx.x / 2];
}
#define SHARED(NAME, T, SIZE, STORED, LOADED)                 \
    __global__ void NAME(T* o) {                              \
        __shared__ T s[SIZE];                                 \
        s[STORED] = threadIdx.x;                              \
        __syncthreads();                                      \
        o[blockIdx.x * blockDim.x + threadIdx.x] = s[LOADED]; \
    }
SHARED(sharedDouble, double, 128, threadIdx.x, 127 - threadIdx.x)
SHARED(sharedDoubleStride2, double, 256, threadIdx.x * 2, (127 - threadIdx.x) * 2)
SHARED(sharedChar, char, 128, threadIdx.x, 127 - threadIdx.x)
SHARED(sharedShort, short, 512, threadIdx.x * 4, (127 - threadIdx.x) * 4)
SHARED(sharedSameDouble, double, 128, threadIdx.x, 5)
SHARED(sharedHalfDouble, double, 128, threadIdx.x, threadIdx.x / 2)
SHARED(sharedQuarterDouble, double, 128, threadIdx.x, threadIdx.x / 4)
__global__ void sharedFloat4(float4* o) {
    __shared__ float4 s[128];
    s[threadIdx.x] = make_float4(1, 2, 3, 4);
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = s[127 - threadIdx.x];
}
__global__ void sharedFloat4Stride(float4* o) {
    __shared__ float4 s[512];
    s[threadIdx.x * 4] = make_float4(1, 2, 3, 4);
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = s[(127 - threadIdx.x) * 4];
}
__global__ void sharedFloat2(float2* o) {
    __shared__ float2 s[128];
    s[threadIdx.x] = make_float2(1, 2);
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = s[127 - threadIdx.x];
}
__global__ void sharedRandom(int* o) {
    __shared__ int s[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = i;
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] =
        s[(threadIdx.x * 7919) % 1024] + s[(threadIdx.x * threadIdx.x) % 1024];
}
__global__ void sharedHalfWarpDouble(double* o) {
    __shared__ double s[128];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x / 2] + s[(threadIdx.x % 16) * 8];
}
__global__ void sharedFloat4Broadcast(float4* o) {
    __shared__ float4 s[128];
    s[threadIdx.x] = make_float4(1, 2, 3, 4);
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x / 8 * 8];
}
__global__ void sharedSameStore(int* o) {
    __shared__ int s[128];
    s[threadIdx.x / 4] = threadIdx.x / 4;
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x / 4];
}
extern __shared__ int dynamicShared[];
__global__ void sharedDynamic(int* o) {
    dynamicShared[threadIdx.x * 2] = threadIdx.x;
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = dynamicShared[threadIdx.x * 2];
}
__global__ void barrierLoop(int* o) {
    for (int i = 0; i < 5; ++i) __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
__global__ void barrierKinds(int* o) {
    int c = __syncthreads_count(threadIdx.x % 2);
    __syncwarp();
    int d = __syncthreads_or(threadIdx.x == 3);
    o[blockIdx.x * blockDim.x + threadIdx.x] = c + d;
}
__global__ void block2d(int* o, const int* i) {
    int x = threadIdx.x, y = blockIdx.x * blockDim.y + threadIdx.y;
    if (x > y % 16) o[y * 40 + x] = i[y * 40 + x];
}

__global__ void and3(int* a, const int* b, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t % 2 == 0 && t < n && b[t] > 6) a[t] = 1;
}
__global__ void andOr(int* a, const int* b, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if ((t % 4 == 0 && b[t] > 6) || t > n) a[t] = 1;
}
__global__ void notAnd(int* a, const int* b, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (!(t < n && b[t] > 6)) a[t] = 1;
}
__global__ void whileAnd(int* a, const int* b, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int i = t;
    while (i < n && b[i] > 3) ++i;
    a[t] = i;
}
__global__ void forAnd(int* a, const int* b) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int s = 0;
    for (int i = 0; i < 8 && s < 30; ++i) s += b[t + i];
    a[t] = s;
}
__global__ void ternaryAnd(int* a, const int* b, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    a[t] = t < n && b[t] > 6 ? b[t + 1] : 9;
}
__global__ void ternaryNested(int* a, const int* b) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int x = b[t];
    a[t] = x < 3 ? 1 : x < 7 ? b[t + 2] : x < 12 ? 3 : 4;
}
__global__ void orLoad(int* a, const int* b) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (b[t] > 9 || b[t + 32] > 9) a[t] = 1;
}
__global__ void boolReturn(int* a, const int* b, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    bool x = b[t] > 9, y = b[t + 1] > 9;
    if (x != y) a[t] = x || y;
}
__global__ void nestedLoops(int* a, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int s = 0;
    for (int i = 0; i < n; ++i) {
        for (int j = i; j < t % 6; ++j) {
            if ((i + j) % 3 == t % 3)
                s += j;
            else
                s -= 1;
        }
    }
    a[t] = s;
}
__global__ void breakOuter(int* a, const int* b) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int s = 0;
    for (int i = 0; i < 5; ++i) {
        for (int j = 0; j < 4; ++j) {
            if (b[t + i * 4 + j] == 16) goto done;
            s += j;
        }
    }
done:
    a[t] = s;
}
__global__ void switchLoop(int* a, const int* b) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int s = 0;
    for (int i = 0; i < 4; ++i) {
        switch (b[t + i] % 3) {
            case 0:
                s += 1;
                break;
            case 1:
                s += b[t + i + 1];
                break;
            default:
                continue;
        }
        s *= 2;
    }
    a[t] = s;
}
__global__ void oddLanesFloat4(float4* o, const float4* i) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t % 2 == 1) o[t] = i[t];
}
__global__ void sharedRotateDouble(double* o) {
    __shared__ double s[2048];
    for (int k = threadIdx.x; k < 2048; k += blockDim.x) s[k] = k;
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = s[(threadIdx.x * 17) % 2048];
}
__global__ void sharedColumnDouble(double* o) {
    __shared__ double s[2048];
    for (int k = threadIdx.x; k < 2048; k += blockDim.x) s[k] = k;
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = s[(threadIdx.x * 16) % 2048];
}
#define SHARED_FLOAT4(NAME, LOADED)                           \
    __global__ void NAME(float4* o) {                         \
        __shared__ float4 s[128];                             \
        float4 v = o[threadIdx.x];                            \
        s[threadIdx.x] = v;                                   \
        __syncthreads();                                      \
        o[blockIdx.x * blockDim.x + threadIdx.x] = s[LOADED]; \
    }
SHARED_FLOAT4(sharedSameFloat4, 5)
SHARED_FLOAT4(sharedHalfFloat4, threadIdx.x / 2)
SHARED_FLOAT4(sharedQuarterFloat4, threadIdx.x / 4)
__global__ void sharedEvenLanes(int* o) {
    __shared__ int s[256];
    s[threadIdx.x] = threadIdx.x;
    s[threadIdx.x + 128] = 3;
    __syncthreads();
    if (threadIdx.x % 2 == 0) o[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x * 2];
}
__global__ void sharedMixed(float* o) {
    __shared__ float s[32][33];
    s[threadIdx.x / 32][threadIdx.x % 32] = threadIdx.x;
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x % 4][threadIdx.x / 4];
}

__global__ void divideSigned(int* a) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    a[t] = (t - 80) / 3;
}
__global__ void divideByLane(int* a) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    a[t] = 1000 / (t - 100 == 0 ? 1 : t - 100);
}
__global__ void remainderSigned(int* a) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    a[t] = (t - 80) % 5;
}
__global__ void divideAssign(int* a, const int* b) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int x = b[t] - 8;
    x /= 2;
    x %= 3;
    a[t] = x;
}
__global__ void divideUnsigned(unsigned* a, unsigned n) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    a[t] = t / 3 + t % n;
}
__global__ void divideLong(long long* a) {
    long long t = blockIdx.x * blockDim.x + threadIdx.x;
    a[t] = (t - 80) / 3;
}
__global__ void ifMin(int* a, const int* b) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (min(b[t], 8) > 5) a[t] = 1;
}
__global__ void ifAbs(int* a, const int* b) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    while (abs(a[t]) < b[t]) a[t] -= 3;
}
__device__ int leaf(int x) {
    return x > 5 ? x : 5;
}
__global__ void ifLeaf(int* a, const int* b) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (leaf(b[t]) > 7) a[t] = leaf(t);
}
__global__ void leafInLoop(int* a, const int* b) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int s = 0;
    for (int i = 0; leaf(s) < b[t] + 5; ++i) s += leaf(i);
    a[t] = s;
}

int main() {
    void *pa, *pb;
    cudaMalloc(&pa, N * 64 * 4);
    cudaMalloc(&pb, N * 64 * 4);
    cudaMemset(pa, 0, N * 64 * 4);
    std::vector<int> h(N * 64);
    for (int i = 0; i < N * 64; ++i) h[i] = (i * 7 + i / 16) % 17;
    cudaMemcpy(pb, h.data(), N * 64 * 4, cudaMemcpyHostToDevice);
    int hc[256];
    for (int i = 0; i < 256; ++i) hc[i] = i;
    cudaMemcpyToSymbol(table, hc, sizeof hc);
    int *a = (int*)pa, *b = (int*)pb;
#define G <<<4, 128>>>
    ifThread G(a);
    ifElse G(a);
    ifElseVar G((float*)a);
    elseIf G(a);
    nested G(a);
    uniformIf G(a, 7);
    bounds G(a, 500);
    earlyReturn G(a, 300);
    andCond G(a, 300);
    andLoad G(a, b);
    orCond G(a, 3);
    andValue G(a, 300);
    for (auto kernel : {ternary, ternaryLoad, ternaryMin, ternaryAbs, minCall}) (*kernel) G(a, b);
    forUniform G(a, 10);
    forLane G(a);
    for (auto kernel : {forLaneLoad, nestedLane, whileBreak, forContinue}) (*kernel) G(a, b);
    doWhile G(a);
    returnInLoop G(a, b);
    for (auto kernel : {switchFour, switchSix, switchSparse, callFunction, callNoinline, callForce,
                        callStraight, recursion})
        (*kernel) G(a);
    loadFloat2 G((float2*)a, (float2*)b);
    loadFloat3 G((float3*)a, (float3*)b);
    loadFloat4 G((float4*)a, (float4*)b);
    copyFloat4 G((float4*)a, (float4*)b);
    castFloat4 G((float*)a, (float*)b);
    memberFloat4 G((float*)a, (float4*)b);
    loadTriple G((Triple*)a, (Triple*)b);
    loadQuad G((Quad*)a, (Quad*)b);
    loadBig G((Big*)a, (Big*)b);
    loadInt4 G((int4*)a, (int4*)b);
    loadDouble G((double*)a, (double*)b);
    loadChar G((char*)a, (char*)b);
    loadShort G((short*)a, (short*)b);
    loadChar4 G((uchar4*)a, (uchar4*)b);
    loadStride G(a, b, 2);
    loadStride G(a, b, 33);
    loadOffset G(a, b, 1);
    loadOffset G(a, b, 8);
    storeStride G(a, b, 3);
    for (auto kernel : {gather, sameAddress, addTwice}) (*kernel) G(a, b);
    compound G(a);
    useLdg G(a, b);
    volatileLoad G(a, b);
    for (auto kernel : {useConstant, useDeviceArray, useLocalArray, byPointer}) (*kernel) G(a);
    gridStride G(a, b, 2000);
    ballot G(a);
    shuffleSum G(a, b);
    atomicSame G(a);
    atomicOwn G(a);
    atomicReturn G(a, b);
    atomicFloat G((float*)a);
    for (auto kernel :
         {atomicMaxAll, atomicCasLoop, atomicShared, sharedStride<1>, sharedStride<2>,
          sharedStride<4>, sharedStride<8>, sharedStride<32>, sharedStride<33>, sharedBroadcast})
        (*kernel) G(a);
    sharedDouble G((double*)a);
    sharedDoubleStride2 G((double*)a);
    sharedFloat4 G((float4*)a);
    sharedFloat4Stride G((float4*)a);
    sharedFloat2 G((float2*)a);
    sharedChar G((char*)a);
    sharedShort G((short*)a);
    sharedRandom G(a);
    sharedHalfWarpDouble G((double*)a);
    sharedFloat4Broadcast G((float4*)a);
    sharedSameStore G(a);
    sharedDynamic<<<4, 128, 1024>>>(a);
    barrierLoop G(a);
    barrierKinds G(a);
    ifElse<<<3, 50>>>(a);
    loadFloat4<<<3, 50>>>((float4*)a, (float4*)b);
    block2d<<<4, dim3(40, 3)>>>(a, b);
    ifElse<<<2, 1>>>(a);
    and3 G(a, b, 300);
    andOr G(a, b, 400);
    notAnd G(a, b, 300);
    whileAnd G(a, b, 500);
    forAnd G(a, b);
    ternaryAnd G(a, b, 300);
    ternaryNested G(a, b);
    orLoad G(a, b);
    boolReturn G(a, b, 3);
    nestedLoops G(a, 4);
    breakOuter G(a, b);
    switchLoop G(a, b);
    for (auto kernel : {gatherDouble, sameDouble, halfDouble}) (*kernel) G((double*)a, (double*)b);
    for (auto kernel : {gatherFloat4, sameFloat4, quarterFloat4, strideFloat4, oddLanesFloat4})
        (*kernel) G((float4*)a, (float4*)b);
    for (auto kernel : {sharedSameDouble, sharedHalfDouble, sharedQuarterDouble, sharedRotateDouble,
                        sharedColumnDouble})
        (*kernel) G((double*)a);
    for (auto kernel : {sharedSameFloat4, sharedHalfFloat4, sharedQuarterFloat4})
        (*kernel) G((float4*)a);
    sharedEvenLanes G(a);
    sharedMixed G((float*)a);
    for (auto kernel : {divideSigned, divideByLane, remainderSigned}) (*kernel) G(a);
    divideAssign G(a, b);
    divideUnsigned G((unsigned*)a, 7);
    divideLong G((long long*)a);
    cudaMemset(a, 0, 4 * 1024);
    for (auto kernel : {ifMin, ifAbs, ifLeaf, leafInLoop}) (*kernel) G(a, b);
    cudaError_t e = cudaDeviceSynchronize();
    if (e != cudaSuccess) std::fprintf(stderr, "%s\n", cudaGetErrorString(e));
    return e != cudaSuccess;
}
