// Work in several streams, and ranges around it, for the recording of what ran when
// (test_trace.py).
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <csignal>
#include <cstring>
#include <locale>
#include <string>
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

__global__ void waitFor(int* begun, int* go) {
    atomicExch(begun, 1);
    while (atomicAdd(go, 0) == 0) {
    }
}

// 1,234,567: the recording has its numbers without that.
struct Grouped : std::numpunct<char> {
    std::string do_grouping() const override { return "\3"; }
    char do_thousands_sep() const override { return ','; }
};

static bool isSet(const int* flag) {
    return *const_cast<const volatile int*>(flag) != 0;
}

// A kernel of another thread runs from before the one copy of this thread until after it.
// `rangeFirst`: it begins in the range that has that copy.
static void copyWithinKernel(bool rangeFirst) {
    int *flags, *device;
    cudaMallocHost(&flags, 3 * sizeof(int));
    cudaMalloc(&device, sizeof(int));
    std::memset(flags, 0, 3 * sizeof(int));
    cudaStream_t own;
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    nvtxRangeId_t range = 0;
    if (rangeFirst) range = nvtxRangeStartA("around the kernel");
    std::thread other([&] {
        waitFor<<<1, 1, 0, cudaStreamPerThread>>>(flags, flags + 1);
        cudaStreamSynchronize(cudaStreamPerThread);
    });
    while (!isSet(flags)) std::this_thread::yield();
    if (!rangeFirst) range = nvtxRangeStartA("within the kernel");
    cudaMemcpyAsync(device, flags + 2, sizeof(int), cudaMemcpyHostToDevice, own);
    *const_cast<volatile int*>(flags + 1) = 1;
    other.join();
    nvtxRangeEnd(range);
}

// A thread that works on while the program ends.
static void workOn() {
    static int* memory;
    cudaMallocHost(&memory, sizeof(int));
    static volatile bool begun;
    std::thread([] {
        for (;;) {
            nvtxRangePushA("endless");
            cudaMemsetAsync(memory, 0, sizeof(int), cudaStreamPerThread);
            nvtxRangePop();
            begun = true;
        }
    }).detach();
    while (!begun) std::this_thread::yield();
}

int main(int argc, char** argv) {
    std::locale::global(std::locale(std::locale(), new Grouped));
    const std::string mode = argc > 1 ? argv[1] : "";
    if (mode == "overlap") {
        copyWithinKernel(true);
        copyWithinKernel(false);
        return 0;
    }
    if (mode == "endless") {
        workOn();
        return 0;
    }
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
    nvtxRangePushW(L"copies\n\n\x01\t.");
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

    if (mode == "killed") std::raise(SIGKILL);
    return 0;
}
