// A program that is compiled with --default-stream per-thread: stream 0, and calls that take no
// stream, mean the stream of the calling thread. To see it, that stream captures what it is given.
#include <thread>

#include "expect.cuh"

__global__ void addOne(int* number) {
    ++*number;
}
__device__ int onDevice;

static void CUDART_CB onHost(void* number) {
    ++*static_cast<int*>(number);
}
static void CUDART_CB onDone(cudaStream_t, cudaError_t, void* number) {
    onHost(number);
}

// Nodes of the graph that the stream of this thread has captured while `work` ran.
template <typename Work>
static size_t captured(Work work) {
    CHECK(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal));
    work();
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(0, &graph));
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, 0));
    CHECK(cudaStreamSynchronize(0));
    return nodes;
}

static void intoTheStreamOfTheThread() {
    int *number, host = 0, calls = 0;
    CHECK(cudaMalloc(&number, sizeof(int)));
    CHECK(cudaMemset(number, 0, sizeof(int)));
    CHECK(cudaMemcpy(&host, number, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(captured([&] { addOne<<<1, 1>>>(number); }) == 1);
    EXPECT(captured([&] { addOne<<<1, 1, 0, 0>>>(number); }) == 1);
    void* arguments[] = {&number};
    EXPECT(captured([&] { CHECK(cudaLaunchKernel((void*)addOne, 1, 1, arguments, 0, 0)); }) == 1);
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = dim3(1);
    EXPECT(captured([&] { CHECK(cudaLaunchKernelEx(&config, addOne, number)); }) == 1);
    EXPECT(captured([&] { CHECK(cudaLaunchHostFunc(0, onHost, &calls)); }) == 1);
    EXPECT(captured([&] {
               CHECK(cudaMemcpyAsync(&host, number, sizeof(int), cudaMemcpyDeviceToHost));
               CHECK(cudaMemcpyAsync(&host, number, sizeof(int), cudaMemcpyDeviceToHost, NULL));
               CHECK(cudaMemcpyToSymbolAsync(onDevice, number, sizeof(int), 0,
                                             cudaMemcpyDeviceToDevice));
           }) == 3);
    EXPECT(host == 4 && calls == 1);
    EXPECT(captured([&] { CHECK(cudaMemsetAsync(number, 0, sizeof(int))); }) == 1);
    EXPECT(fetch(number) == 0);
    cudaStreamCaptureStatus status;
    captured([&] {
        CHECK(cudaStreamIsCapturing(0, &status));
        EXPECT(status == cudaStreamCaptureStatusActive);
        CHECK(cudaStreamIsCapturing(cudaStreamLegacy, &status));
    });
    CHECK(cudaStreamAddCallback(0, onDone, &calls, 0));
    CHECK(cudaStreamSynchronize(0));
    EXPECT(calls == 2);
}

// An event that is recorded there belongs to the capture, and so does who waits for it.
static void events() {
    cudaEvent_t event;
    cudaStream_t side;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    cudaStreamCaptureStatus status;
    captured([&] {
        CHECK(cudaEventRecord(event));
        CHECK(cudaStreamWaitEvent(side, event));
        CHECK(cudaStreamIsCapturing(side, &status));
        EXPECT(status == cudaStreamCaptureStatusActive);
        CHECK(cudaEventRecord(event, side));
        CHECK(cudaStreamWaitEvent(0, event, 0));
    });
}

// What names the legacy stream still gets it.
static void theLegacyStream() {
    EXPECT(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal) ==
           cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaGetLastError() == cudaErrorStreamCaptureUnsupported);
}

// The argument of a call may be another call.
static cudaStream_t known(cudaStream_t stream) {
    unsigned flags;
    CHECK(cudaStreamGetFlags(stream, &flags));
    return stream;
}
static void callsWithinCalls() {
    int* number;
    CHECK(cudaMallocAsync(&number, sizeof(int), known(0)));
    EXPECT(captured([&] { CHECK(cudaMemsetAsync(number, 0, sizeof(int), known(0))); }) == 1);
    EXPECT(captured([&] { addOne<<<1, 1, 0, known(0)>>>(number); }) == 1);
    EXPECT(fetch(number) == 1);
    CHECK(cudaFreeAsync(number, 0));
}

int main() {
    intoTheStreamOfTheThread();
    events();
    theLegacyStream();
    callsWithinCalls();
    std::thread(intoTheStreamOfTheThread).join();
    return 0;
}
