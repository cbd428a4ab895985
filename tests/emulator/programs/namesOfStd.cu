// Kernels and variables that share their names with other functions, with std, with CUDA or with
// what implements it here.
#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include "expect.cuh"

using namespace std;

__global__ void copy(int* p) {
    atomicAdd(p, 1);
}
__global__ void swap(int* a, int* b) {
    const int t = *a;
    *a = *b;
    *b = t;
}
__global__ void max(int* p) {
    atomicAdd(p, 1);
}
__global__ void reduce(int* in, int* out, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(out, in[i]);
}
__device__ int twice(int x) {
    return 2 * x;
}
__global__ void twice(int* p) {
    *p = twice(*p);
}
template <class T>
static void subtract(T* p, T value) {
    *p -= value;
}
__global__ void subtract(int* p) {
    *p -= 7;
}
template <class T>
__global__ void transform(T* p, T v) {
    *p += v;
}
template <class T>
__global__ void fill(T* p, int n, T v) {
    if (static_cast<int>(threadIdx.x) < n) p[threadIdx.x] = v;
}

__device__ float lerp(float a, float b, float t) {
    return a + t * (b - a);
}
__device__ float clamp(float v, float low, float high) {
    return fminf(fmaxf(v, low), high);
}
__device__ int mod(int a, int b) {
    return (a % b + b) % b;
}
__host__ __device__ float3 operator+(float3 a, float3 b) {
    return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}
__host__ __device__ float dot(float3 a, float3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

struct Grid {
    int block;
};
int grid = 1, block = 2, kernel = 3, device = 4, stream = 5, id = 6, launch = 7;
static int submit() {
    return 8;
}

__global__ void mixed(int* p, Grid g) {
    const int warp = threadIdx.x / warpSize, lane = threadIdx.x % warpSize, block = blockIdx.x;
    if (threadIdx.x == 33) p[0] = warp * 1000 + lane + block;
    if (threadIdx.x == 0) {
        const float3 sum = make_float3(1, 2, 3) + make_float3(1, 1, 1);
        p[1] =
            static_cast<int>(lerp(0, 10, .5f) + clamp(9.f, 0.f, 1.f) + dot(sum, sum)) + mod(-1, 5);
        p[2] = max(max(1, 2), g.block) + min(3u, 4u) + static_cast<int>(max(1.0f, 2.5f) * 2);
    }
}

int main() {
    int* p;
    CHECK(cudaMallocManaged(&p, 64 * sizeof(int)));
    fill<<<1, 64>>>(p, 64, 0);
    copy<<<1, 2>>>(p);
    ::swap<<<1, 1>>>(p, p + 1);
    swap<<<1, 1>>>(p, p + 1);
    transform<<<1, 1>>>(p, 4);
    transform<int><<<1, 1>>>(p, 4);
    max<<<1, 1>>>(p);
    EXPECT_AFTER(p[0] == 11 && p[1] == 0 && p[2] == 11, reduce<<<1, 32>>>(p, p + 2, 2));

    twice<<<1, 1>>>(p);
    EXPECT_AFTER(*p == 22 - 7, subtract<<<1, 1>>>(p));
    subtract(p, 1);
    EXPECT(*p == 14);

    EXPECT_AFTER(p[0] == 1001 && p[1] == 5 + 1 + 29 + 4 && p[2] == 7 + 3 + 5,
                 mixed<<<1, 64>>>(p, Grid{7}));
    EXPECT(std::max(grid, block) + kernel + device + stream + id + launch + submit() == 35);
    return 0;
}
