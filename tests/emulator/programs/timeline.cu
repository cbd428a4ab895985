// Work in several streams, and ranges around it, for the recording of what ran when
// (test_trace.py).
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <csignal>
#include <cstring>
#include <thread>

#include "expect.cuh"

__global__ void addOne(int* x) {
    x[threadIdx.x] += 1;
}
template <typename T, int kBy>
__global__ void scale(T* x) {
    x[threadIdx.x] *= kBy;
}
__global__ void parent(int* x) {
    if (threadIdx.x == 0) addOne<<<1, 32>>>(x);
}

int main(int argc, char** argv) {
    constexpr size_t kBytes = 32 * sizeof(int);
    int *host, *device, *other;
    cudaMallocHost(&host, kBytes);
    cudaMalloc(&device, kBytes);
    cudaMalloc(&other, kBytes);
    cudaStream_t first, second;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);

    nvtxRangePushA("all, \"quoted\"");
    nvtxRangePushA("nothing runs in it");
    nvtxRangePop();
    cudaMemset(device, 0, kBytes);
    addOne<<<1, 32>>>(device);
    nvtxRangePushW(L"copies");
    cudaMemcpyAsync(other, device, kBytes, cudaMemcpyDeviceToDevice, first);
    cudaMemcpyAsync(host, other, kBytes, cudaMemcpyDefault, first);
    cudaStreamSynchronize(first);
    nvtxRangePop();
    cudaMemcpyAsync(device, host, kBytes, cudaMemcpyHostToDevice, second);
    cudaMemcpyAsync(device, host, 0, cudaMemcpyHostToDevice, second);  // nothing
    scale<int, 3><<<1, 32, 0, second>>>(device);
    addOne<<<1, 2048>>>(device);  // refused
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    cudaDeviceSynchronize();

    const nvtxRangeId_t threads = nvtxRangeStartA("threads");
    nvtxRangePushA("of the main thread");
    std::thread([&] {
        nvtxRangePushA("of the other thread");
        parent<<<1, 32, 0, cudaStreamPerThread>>>(device);
        cudaStreamSynchronize(cudaStreamPerThread);
        nvtxRangePop();
    }).join();
    nvtxRangePop();
    nvtxRangeEnd(threads);

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
    scale<int, 2><<<1, 32, 0, first>>>(device);
    cudaMemcpyAsync(host, device, kBytes, cudaMemcpyDeviceToHost, first);
    cudaStreamEndCapture(first, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, second);
    cudaStreamSynchronize(second);
    EXPECT(host[31] == ((0 + 1) * 3 + 1) * 2);
    nvtxRangePop();
    nvtxRangePop();  // one too many
    nvtxRangePushA("without an end");
    nvtxEventAttributes_t unnamed = {};
    nvtxRangePushEx(&unnamed);
    cudaMemset(other, 0, kBytes);
    nvtxRangePop();

    if (argc > 1 && std::strcmp(argv[1], "killed") == 0) std::raise(SIGKILL);
    return 0;
}
