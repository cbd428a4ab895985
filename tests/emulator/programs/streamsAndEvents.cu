// Streams in the ways that textbooks use them: pieces of work in several, events between them,
// callbacks, capture.
#include <thread>
#include <vector>

#include "expect.cuh"

__global__ void scale(float* data, int offset, float factor) {
    data[offset + blockIdx.x * blockDim.x + threadIdx.x] *= factor;
}
__global__ void append(int* list, int value) {
    int i = 0;
    while (list[i] != 0) ++i;
    list[i] = value;
}

static void CUDART_CB onDone(cudaStream_t, cudaError_t status, void* data) {
    if (status == cudaSuccess) *static_cast<int*>(data) += 100;
}
static void CUDART_CB onHost(void* data) {
    static_cast<std::vector<int>*>(data)->push_back(1);
}

static void piecewise() {
    constexpr int kStreams = 4, kPiece = 2048, kTotal = kStreams * kPiece;
    float *host, *device;
    CHECK(cudaMallocHost((void**)&host, kTotal * sizeof(float)));
    CHECK(cudaMalloc((void**)&device, kTotal * sizeof(float)));
    for (int i = 0; i < kTotal; ++i) host[i] = i;
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::vector<cudaStream_t> streams(kStreams);
    for (auto& stream : streams) CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventRecord(start));
    for (int s = 0; s < kStreams; ++s) {
        const int first = s * kPiece;
        const size_t bytes = kPiece * sizeof(float);
        CHECK(cudaMemcpyAsync(&device[first], &host[first], bytes, cudaMemcpyHostToDevice,
                              streams[s]));
        scale<<<kPiece / 256, 256, 0, streams[s]>>>(device, first, s + 1);
        CHECK(cudaMemcpyAsync(&host[first], &device[first], bytes, cudaMemcpyDeviceToHost,
                              streams[s]));
    }
    CHECK(cudaEventRecord(stop));
    while (cudaEventQuery(stop) == cudaErrorNotReady) {
    }
    float ms = -1;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    EXPECT(ms >= 0);
    for (int i = 0; i < kTotal; ++i) EXPECT(host[i] == static_cast<float>(i) * (i / kPiece + 1));
    for (auto& stream : streams) CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(device));
}

static void ordered() {
    int least, greatest, priority;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    cudaStream_t a, b;
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithPriority(&b, cudaStreamNonBlocking, greatest));
    CHECK(cudaStreamGetPriority(b, &priority));
    EXPECT(greatest <= least && priority == greatest);
    int* list;
    CHECK(cudaMalloc(&list, 8 * sizeof(int)));
    CHECK(cudaMemsetAsync(list, 0, 8 * sizeof(int), a));
    cudaEvent_t first;
    CHECK(cudaEventCreateWithFlags(&first, cudaEventDisableTiming | cudaEventBlockingSync));
    append<<<1, 1, 0, a>>>(list, 1);
    CHECK(cudaEventRecord(first, a));
    CHECK(cudaStreamWaitEvent(b, first, 0));
    append<<<1, 1, 0, b>>>(list, 2);
    int number = 5;
    std::vector<int> calls;
    CHECK(cudaStreamAddCallback(b, onDone, &number, 0));
    CHECK(cudaLaunchHostFunc(b, onHost, &calls));
    CHECK(cudaLaunchHostFunc(b, onHost, &calls));
    CHECK(cudaStreamSynchronize(b));
    EXPECT(cudaStreamQuery(b) == cudaSuccess && number == 105 && calls.size() == 2);
    append<<<1, 1, 0, cudaStreamPerThread>>>(list, 3);
    append<<<1, 1, 0, cudaStreamLegacy>>>(list, 4);
    CHECK(cudaDeviceSynchronize());
    int host[8];
    CHECK(cudaMemcpy(host, list, sizeof(host), cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 1 && host[1] == 2 && host[2] == 3 && host[3] == 4 && host[4] == 0);
    float ms;
    EXPECT(cudaEventElapsedTime(&ms, first, first) == cudaErrorInvalidResourceHandle);
    EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
    CHECK(cudaStreamDestroy(a));
    CHECK(cudaStreamDestroy(b));
}

// Work that is recorded once, with a fork into a second stream, and then run five times.
static void captured() {
    constexpr int kSize = 256;
    cudaStream_t stream, side;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&side));
    cudaEvent_t fork, join;
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    float* device;
    CHECK(cudaMalloc(&device, 2 * kSize * sizeof(float)));
    std::vector<float> host(2 * kSize, 1);
    CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(side, fork));
    scale<<<1, kSize, 0, stream>>>(device, 0, 2);
    scale<<<1, kSize, 0, side>>>(device, kSize, 3);
    CHECK(cudaEventRecord(join, side));
    CHECK(cudaStreamWaitEvent(stream, join));
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 5; ++i) CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(fetch(device) == 32 && fetch(device + kSize) == 243);
}

// Each host thread has its stream and its last error.
static void threaded() {
    const auto work = [](int id) {
        cudaStream_t stream;
        CHECK(cudaStreamCreate(&stream));
        float* device;
        std::vector<float> host(512, 1);
        CHECK(cudaMalloc(&device, host.size() * sizeof(float)));
        CHECK(cudaMemcpyAsync(device, host.data(), host.size() * sizeof(float),
                              cudaMemcpyHostToDevice, stream));
        for (int i = 0; i < 5; ++i) scale<<<4, 128, 0, stream>>>(device, 0, id);
        CHECK(cudaStreamSynchronize(stream));
        EXPECT(fetch(device + 511) == static_cast<float>(id * id * id * id * id));
        scale<<<1, 5000>>>(device, 0, 1);
        EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
        CHECK(cudaFree(device));
    };
    std::vector<std::thread> threads;
    for (int id = 1; id <= 8; ++id) threads.emplace_back(work, id);
    for (auto& thread : threads) thread.join();
    CHECK(cudaGetLastError());
}

int main() {
    piecewise();
    ordered();
    captured();
    threaded();
    return 0;
}
