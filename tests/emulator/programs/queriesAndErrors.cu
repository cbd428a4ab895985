// What a program asks about the device and its kernels, and the errors of wrong calls and launches.
#include <cstring>

#include "expect.cuh"

__global__ void nothing() {}
__global__ void __launch_bounds__(256, 2) staged(int* out, int n) {
    __shared__ int fixed[256];
    extern __shared__ int dynamic[];
    const int t = threadIdx.x;
    fixed[t] = t;
    dynamic[t] = 1;
    __syncthreads();
    if (t < n) out[t] = fixed[255 - t] + dynamic[0];
}
template <class T, int N>
__global__ void typed(T* data) {
    __shared__ T buffer[N];
    buffer[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = buffer[N - 1 - threadIdx.x];
}

// The error of the last launch is as expected, and the next call is clean.
#define EXPECT_LAST(expected)                  \
    EXPECT(cudaPeekAtLastError() == expected); \
    EXPECT(cudaGetLastError() == expected);    \
    EXPECT(cudaGetLastError() == cudaSuccess)

static void queries() {
    int devices, device, version;
    CHECK(cudaGetDeviceCount(&devices));
    CHECK(cudaGetDevice(&device));
    CHECK(cudaRuntimeGetVersion(&version));
    EXPECT(devices == 1 && device == 0 && version == CUDART_VERSION);
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    EXPECT(p.warpSize == 32 && p.maxThreadsPerBlock == 1024 && p.maxThreadsDim[2] == 64);
    EXPECT(p.maxGridSize[0] == 2147483647 && p.maxGridSize[1] == 65535 &&
           p.multiProcessorCount > 0);
    EXPECT(p.sharedMemPerBlock == 49152 && p.totalConstMem == 65536 && p.major >= 7);
    EXPECT(std::strstr(p.name, "emulat") != nullptr || std::strstr(p.name, "NVIDIA") != nullptr);
    int value;
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    EXPECT(value == p.multiProcessorCount);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    EXPECT(static_cast<size_t>(value) == p.sharedMemPerBlockOptin);
    size_t available, total;
    CHECK(cudaMemGetInfo(&available, &total));
    EXPECT(available > 0 && available <= total && total == p.totalGlobalMem);

    int blocks, grid, block;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 32, 0));
    EXPECT(blocks == p.maxBlocksPerMultiProcessor);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, typed<float, 1024>, 0, 500));
    EXPECT(block % 32 == 0 && block <= 500 && grid >= p.multiProcessorCount);
    CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        &grid, &block, staged, [] __host__ __device__(int b) { return b * sizeof(int); }));
    EXPECT(block >= 32 && block <= 1024);
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, staged));
    EXPECT(attributes.sharedSizeBytes == 1024 && attributes.maxThreadsPerBlock >= 256);
    CHECK(cudaFuncGetAttributes(&attributes, (const void*)typed<double, 32>));
    CHECK(cudaFuncSetCacheConfig(staged, cudaFuncCachePreferL1));
}

static void launches() {
    const auto wrong = cudaErrorInvalidConfiguration;
    nothing<<<1, 1025>>>();
    EXPECT_LAST(wrong);
    nothing<<<0, 32>>>();
    EXPECT_LAST(wrong);
    nothing<<<1, 0>>>();
    EXPECT_LAST(wrong);
    nothing<<<2147483648u, 1>>>();
    EXPECT_LAST(wrong);
    nothing<<<dim3(1, 65536), 1>>>();
    EXPECT_LAST(wrong);
    nothing<<<1, dim3(32, 33)>>>();
    EXPECT_LAST(wrong);
    nothing<<<1, dim3(1, 1, 65)>>>();
    EXPECT_LAST(wrong);
    nothing<<<1, 1, 49153>>>();
    EXPECT_LAST(cudaErrorInvalidValue);

    int* out;
    CHECK(cudaMallocManaged(&out, 256 * sizeof(int)));
    staged<<<1, 256, 60000>>>(out, 256);
    EXPECT_LAST(cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(staged, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    staged<<<1, 256, 60000>>>(out, 256);
    CHECK(cudaDeviceSynchronize());
    for (int t = 0; t < 256; ++t) EXPECT(out[t] == 256 - t);
    EXPECT(cudaFuncSetAttribute(staged, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20) ==
           cudaErrorInvalidValue);
}

static void calls() {
    int *d = nullptr, h = 0;
    EXPECT(cudaMalloc(&d, static_cast<size_t>(1) << 60) == cudaErrorMemoryAllocation);
    CHECK(cudaMalloc(&d, 400));
    EXPECT(cudaMemcpy(d, &h, 404, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(&h, d, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(d, &h, 4, (cudaMemcpyKind)9) == cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaMemset(d, 0, 500) == cudaErrorInvalidValue);
    EXPECT(cudaFree(d + 1) == cudaErrorInvalidValue);
    CHECK(cudaFree(d));
    EXPECT(cudaFree(d) == cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    EXPECT(cudaSetDevice(1) == cudaErrorInvalidDevice);
    EXPECT(cudaEventRecord(nullptr) == cudaErrorInvalidResourceHandle);
    EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
    EXPECT(std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
    EXPECT(std::strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0);
}

int main() {
    queries();
    launches();
    calls();
    return 0;
}
