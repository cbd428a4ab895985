// Calls that fail, each in another way, and results that nobody looks at. See test_reasons.py,
// which finds the lines by the comments at their ends.
#include <cooperative_groups.h>

#include <cstdint>
#include <map>
#include <string>

__global__ void none() {}
__global__ void pointers(int* a) {
    if (threadIdx.x == 0) *a = 1;
}
__global__ void __launch_bounds__(96, 2) bounded() {}
__global__ void withTile(float* a) {
    __shared__ float tile[1000];
    extern __shared__ float more[];
    tile[threadIdx.x] = more[threadIdx.x] = *a;
    __syncthreads();
    *a = tile[threadIdx.x] + more[threadIdx.x];
}
__global__ void child(unsigned threads) {
    none<<<1, threads>>>();  // child
}
__device__ int counter[6];
__constant__ float table[4];

int main(int, char** argv) {
    const std::string what = argv[1];
    int n = 0, host[100] = {}, *d = nullptr, *pinned = nullptr, *managed = nullptr;
    cudaMalloc(&d, sizeof(host));
    cudaMemset(d, 0, sizeof(host));
    cudaMallocHost(&pinned, 64);
    cudaMallocManaged(&managed, 64);

    if (what == "product") none<<<1, dim3(40, 30)>>>();         // product
    if (what == "one") none<<<1, 1025>>>();                     // one
    if (what == "depth") none<<<1, dim3(1, 1, 65)>>>();         // depth
    if (what == "rows") none<<<dim3(1, 70000), 32>>>();         // rows
    if (what == "noBlocks") none<<<n / 256, 256>>>();           // noBlocks
    if (what == "noThreads") none<<<1, n>>>();                  // noThreads
    if (what == "negative") none<<<n - 5, 256>>>();             // negative
    if (what == "bounds") bounded<<<2, dim3(16, 7)>>>();        // bounds
    if (what == "dynamic") none<<<1, 32, 50000>>>();            // dynamic
    if (what == "both") withTile<<<1, 32, 46000>>>((float*)d);  // both
    if (what == "tooMuch") none<<<1, 32, 300000>>>();           // tooMuch
    if (what == "child") child<<<1, 1>>>(1200);
    if (what == "cooperative") {
        void** arguments = nullptr;
        cudaLaunchCooperativeKernel(none, dim3(5000), dim3(1024), arguments);  // cooperative
    }
    if (what == "stream") {
        cudaStream_t stream;
        cudaStreamCreate(&stream);
        cudaStreamDestroy(stream);
        none<<<1, 32, 0, stream>>>();  // stream
    }

    if (what == "back") cudaMemcpy(host, d, 40, cudaMemcpyHostToDevice);                // back
    if (what == "there") cudaMemcpy(d, host, 40, cudaMemcpyDeviceToHost);               // there
    if (what == "swapped") cudaMemcpy(host, d, 40, cudaMemcpyHostToDevice);             // swapped
    if (what == "hostOnly") cudaMemcpy(host, host + 50, 40, cudaMemcpyDeviceToDevice);  // hostOnly
    if (what == "beyond") cudaMemcpy(d + 60, host, 200, cudaMemcpyHostToDevice);        // beyond
    if (what == "whole") cudaMemcpy(host, d, 4000, cudaMemcpyDeviceToHost);             // whole
    if (what == "null") cudaMemcpy(nullptr, host, 40, cudaMemcpyHostToDevice);          // null
    if (what == "pitch") cudaMemcpy2D(d, 10, host, 40, 40, 2, cudaMemcpyHostToDevice);  // pitch
    if (what == "variable") cudaMemcpy(counter, host, 24, cudaMemcpyHostToDevice);      // variable
    if (what == "string") cudaMemcpyToSymbol("table", host, 16);                        // string
    if (what == "pointer") cudaMemcpyToSymbol(d, host, 16);                             // pointer
    if (what == "long") cudaMemcpyToSymbol(counter, host, 28);                          // long
    if (what == "offset") cudaMemcpyFromSymbol(host, counter, 16, 12);                  // offset
    if (what == "symbolBack") {
        cudaMemcpyToSymbol(counter, host, 4, 0, cudaMemcpyDeviceToHost);  // symbolBack
    }
    if (what == "fill") cudaMemset(host, 0, 40);      // fill
    if (what == "fillBeyond") cudaMemset(d, 0, 404);  // fillBeyond

    if (what == "overflow") {
        n = 50000;
        int* large = nullptr;
        cudaMalloc(&large, n * n * sizeof(int));  // overflow
        pointers<<<1, 32>>>(large);               // after
        cudaMemcpy(host, large, 4, cudaMemcpyDeviceToHost);
    }
    if (what == "large") {
        int* large = nullptr;
        cudaMalloc(&large, size_t{1} << 60);  // large
    }
    if (what == "freeHost") cudaFree(host);                  // freeHost
    if (what == "freeMiddle") cudaFree(d + 3);               // freeMiddle
    if (what == "freePinned") cudaFree(pinned);              // freePinned
    if (what == "freeDevice") cudaFreeHost(d);               // freeDevice
    if (what == "prefetch") cudaMemPrefetchAsync(d, 40, 0);  // prefetch
    if (what == "mapped") {
        int* there;
        cudaHostGetDevicePointer(&there, host, 0);  // mapped
    }

    if (what == "device") cudaSetDevice(1);  // device
    if (what == "event" || what == "elapsed") {
        cudaEvent_t first, second;
        float ms;
        cudaEventCreate(&first);
        cudaEventCreate(&second);
        if (what == "elapsed") cudaEventRecord(second);
        if (what == "elapsed") cudaEventElapsedTime(&ms, first, second);  // elapsed
        if (what == "event") cudaEventDestroy(second);
        if (what == "event") cudaEventSynchronize(second);  // event
    }
    if (what == "limit") cudaDeviceSetLimit(cudaLimitStackSize, 1 << 20);  // limit

    // Looked at, or no error of a reason before: nothing is told.
    if (what == "looked") {
        none<<<1, 1025>>>();
        n = cudaGetLastError() == cudaSuccess;
        if (cudaMemcpy(host, d, 4000, cudaMemcpyDeviceToHost) == cudaSuccess) return 1;
        none<<<1, 1>>>();
    }
    // The reason of a call that was looked at is not that of the next one.
    if (what == "stale") {
        if (cudaMemcpy(d + 60, host, 200, cudaMemcpyHostToDevice) == cudaSuccess) return 1;
        cudaMallocManaged(&managed, 4, 77);  // stale
    }
    pointers<<<1, 32>>>(d);
    cudaDeviceSynchronize();
}
