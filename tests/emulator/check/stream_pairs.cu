// For test_stream_pairs.py: a kernel writes in one stream, then another one reads in another
// stream.
//
//   stream_pairs WAY FIRSTS SECONDS
//
// FIRSTS and SECONDS are letters. Each pair has two allocations of its own, and comes when all
// before it are done:
//   0 stream 0, L legacy, T of the thread, B and b blocking, N and n non-blocking;
//   c: cudaMemcpy() and the like, which take none
// WAY says what comes between the two: see kWays.
//
// Built twice: with the legacy default stream, and with that of the thread.
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "handles.cuh"

constexpr int kCount = 256;

// One of each for each letter, in a line of its own, which the report names.
// clang-format off
__global__ void write0(int* d) { d[threadIdx.x] = 1; }  // write-0
__global__ void writeL(int* d) { d[threadIdx.x] = 1; }  // write-L
__global__ void writeT(int* d) { d[threadIdx.x] = 1; }  // write-T
__global__ void writeB(int* d) { d[threadIdx.x] = 1; }  // write-B
__global__ void writeb(int* d) { d[threadIdx.x] = 1; }  // write-b
__global__ void writeN(int* d) { d[threadIdx.x] = 1; }  // write-N
__global__ void writen(int* d) { d[threadIdx.x] = 1; }  // write-n
__global__ void read0(const int* d, int* out) { out[threadIdx.x] = d[threadIdx.x]; }  // read-0
__global__ void readL(const int* d, int* out) { out[threadIdx.x] = d[threadIdx.x]; }  // read-L
__global__ void readT(const int* d, int* out) { out[threadIdx.x] = d[threadIdx.x]; }  // read-T
__global__ void readB(const int* d, int* out) { out[threadIdx.x] = d[threadIdx.x]; }  // read-B
__global__ void readb(const int* d, int* out) { out[threadIdx.x] = d[threadIdx.x]; }  // read-b
__global__ void readN(const int* d, int* out) { out[threadIdx.x] = d[threadIdx.x]; }  // read-N
__global__ void readn(const int* d, int* out) { out[threadIdx.x] = d[threadIdx.x]; }  // read-n
// clang-format on
__global__ void nothing() {}

struct Streams {
    std::map<char, cudaStream_t> byLetter = {
        {'0', nullptr}, {'L', cudaStreamLegacy}, {'T', cudaStreamPerThread}, {'c', nullptr}};
    cudaStream_t other = newStream();

    Streams() {
        for (const char blocking : {'B', 'b'}) byLetter[blocking] = newStream(cudaStreamDefault);
        for (const char nonBlocking : {'N', 'n'}) byLetter[nonBlocking] = newStream();
    }
};

static cudaEvent_t recorded(cudaStream_t stream) {
    const cudaEvent_t event = newEvent();
    cudaEventRecord(event, stream);
    return event;
}

// The streams of the first and the second kernel, one that has to do with neither, and an event
// that was recorded in the first one before its kernel.
struct Between {
    cudaStream_t first, second, other;
    cudaEvent_t early;
};

static const std::map<std::string, std::function<void(const Between&)>> kWays = {
    {"nothing", [](const Between&) {}},
    {"event", [](const Between& it) { cudaStreamWaitEvent(it.second, recorded(it.first)); }},
    {"earlyEvent", [](const Between& it) { cudaStreamWaitEvent(it.second, it.early); }},
    {"eventOfAnother",
     [](const Between& it) { cudaStreamWaitEvent(it.second, recorded(it.other)); }},
    {"eventForAnother",
     [](const Between& it) { cudaStreamWaitEvent(it.other, recorded(it.first)); }},
    {"eventThroughAnother",
     [](const Between& it) {
         cudaStreamWaitEvent(it.other, recorded(it.first));
         nothing<<<1, 1, 0, it.other>>>();
         cudaStreamWaitEvent(it.second, recorded(it.other));
     }},
    {"hostForEvent", [](const Between& it) { cudaEventSynchronize(recorded(it.first)); }},
    {"hostForEarlyEvent", [](const Between& it) { cudaEventSynchronize(it.early); }},
    {"hostForFirst", [](const Between& it) { cudaStreamSynchronize(it.first); }},
    {"hostForSecond", [](const Between& it) { cudaStreamSynchronize(it.second); }},
    {"hostForAnother", [](const Between& it) { cudaStreamSynchronize(it.other); }},
    {"hostForLegacy", [](const Between&) { cudaStreamSynchronize(cudaStreamLegacy); }},
    {"hostForDevice", [](const Between&) { cudaDeviceSynchronize(); }},
    {"workInLegacy", [](const Between&) { nothing<<<1, 1, 0, cudaStreamLegacy>>>(); }},
    {"workInThread", [](const Between&) { nothing<<<1, 1, 0, cudaStreamPerThread>>>(); }},
    {"workInAnother", [](const Between& it) { nothing<<<1, 1, 0, it.other>>>(); }},
};

using Writer = void (*)(int*);
static const std::map<char, Writer> kWriters = {{'0', write0}, {'L', writeL}, {'T', writeT},
                                                {'B', writeB}, {'b', writeb}, {'N', writeN},
                                                {'n', writen}};
using Reader = void (*)(const int*, int*);
static const std::map<char, Reader> kReaders = {{'0', read0}, {'L', readL}, {'T', readT},
                                                {'B', readB}, {'b', readb}, {'N', readN},
                                                {'n', readn}};

// (A copy's place in the code is reported once: one for each first letter.)
static void copyBehind(char first, const int* d, int* out) {
    constexpr size_t kBytes = kCount * sizeof(int);
    constexpr auto kKind = cudaMemcpyDeviceToDevice;
    if (first == '0') cudaMemcpy(out, d, kBytes, kKind);  // copy-0
    if (first == 'L') cudaMemcpy(out, d, kBytes, kKind);  // copy-L
    if (first == 'T') cudaMemcpy(out, d, kBytes, kKind);  // copy-T
    if (first == 'B') cudaMemcpy(out, d, kBytes, kKind);  // copy-B
    if (first == 'b') cudaMemcpy(out, d, kBytes, kKind);  // copy-b
    if (first == 'N') cudaMemcpy(out, d, kBytes, kKind);  // copy-N
    if (first == 'n') cudaMemcpy(out, d, kBytes, kKind);  // copy-n
    if (first == 'c') cudaMemcpy(out, d, kBytes, kKind);  // copy-c
}

static void runPair(const Streams& streams, const std::string& way, char first, char second) {
    const Between between = {streams.byLetter.at(first), streams.byLetter.at(second), streams.other,
                             recorded(streams.byLetter.at(first))};
    constexpr size_t kBytes = kCount * sizeof(int);
    int *d = nullptr, *out = nullptr;
    cudaMalloc(&d, kBytes);
    cudaMalloc(&out, kBytes);
    if (first == 'c') {
        cudaMemset(d, 0, kBytes);  // write-c
    } else {
        kWriters.at(first)<<<1, kCount, 0, between.first>>>(d);
    }
    kWays.at(way)(between);
    if (second == 'c') {
        copyBehind(first, d, out);
    } else {
        kReaders.at(second)<<<1, kCount, 0, between.second>>>(d, out);
    }
    if (cudaDeviceSynchronize() != cudaSuccess) std::exit(1);
    cudaFree(d);
    cudaFree(out);
}

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    const Streams streams;
    for (const char first : std::string(argv[2])) {
        for (const char second : std::string(argv[3])) runPair(streams, argv[1], first, second);
    }
    return 0;
}
