// What a kernel can be given to call: lambdas, pointers to device functions,
// template arguments. And who can launch: lambdas, std::function, templates that take a kernel.
#include <functional>
#include <utility>
#include <vector>

#include "expect.cuh"

template <class F>
__global__ void forEach(F f, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i);
}
template <class F>
void parallelFor(int n, F f) {
    forEach<<<(n + 127) / 128, 128>>>(f, n);
    CHECK(cudaDeviceSynchronize());
}
template <class T, class Op>
__global__ void transform(const T* in, T* out, int n, Op op) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        out[i] = op(in[i]);
    }
}
using Function = float (*)(float);
__device__ float squared(float x) {
    return x * x;
}
__device__ float cubed(float x) {
    return x * x * x;
}
__device__ Function functions[2] = {squared, cubed};
__device__ Function ofSquared = squared;
__global__ void fromTable(float* x, int which) {
    x[threadIdx.x] = functions[which](x[threadIdx.x]);
}
__global__ void fromPointer(float* x, Function f) {
    x[threadIdx.x] = f(x[threadIdx.x]);
}
template <Function F>
__global__ void fromArgument(float* x) {
    x[threadIdx.x] = F(x[threadIdx.x]);
}

__global__ void set(int* p, int v) {
    *p = v;
}
__global__ void setSeven(int* p) {
    *p = 7;
}
template <class Kernel, class... Args>
void launchIt(Kernel kernel, dim3 grid, dim3 block, Args&&... args) {
    kernel<<<grid, block>>>(std::forward<Args>(args)...);
}
template <void (*Kernel)(int*)>
void launchArgument(int* p) {
    Kernel<<<1, 1>>>(p);
}

int main() {
    const int n = 1000;
    const int k = 3;
    int* d;
    CHECK(cudaMallocManaged(&d, n * sizeof(int)));
    parallelFor(n, [=] __device__(int i) { d[i] = i * k; });
    const auto increment = [=] __host__ __device__(int i) { d[i] += 1; };
    parallelFor(n, increment);
    increment(0);
    for (int i = 1; i < n; ++i) EXPECT(d[i] == 3 * i + 1);
    EXPECT(d[0] == 2);

    float *x, *y;
    CHECK(cudaMallocManaged(&x, n * sizeof(float)));
    CHECK(cudaMallocManaged(&y, n * sizeof(float)));
    for (int i = 0; i < n; ++i) x[i] = i % 100;
    transform<<<4, 64>>>(x, y, n, [] __device__(float v) -> float { return v * v; });
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) EXPECT(y[i] == x[i] * x[i]);

    for (int i = 0; i < 4; ++i) x[i] = i + 1;
    Function onDevice;
    CHECK(cudaMemcpyFromSymbol(&onDevice, ofSquared, sizeof(onDevice)));
    fromTable<<<1, 4>>>(x, 1);
    fromPointer<<<1, 4>>>(x, onDevice);
    EXPECT_AFTER(x[1] == 262144 && x[2] == 729 && x[3] == 4096, fromArgument<cubed><<<1, 2>>>(x));

    EXPECT_AFTER(d[0] == 55, launchIt(set, 1, {1}, d, 55));
    EXPECT_AFTER(d[0] == 7, launchArgument<setSeven>(d));
    std::vector<std::function<void()>> jobs;
    for (int i = 0; i < 3; ++i) jobs.push_back([=] { set<<<1, 1>>>(d + i, i + 10); });
    for (const auto& job : jobs) job();
    CHECK(cudaDeviceSynchronize());
    EXPECT(d[0] == 10 && d[2] == 12);
    return 0;
}
