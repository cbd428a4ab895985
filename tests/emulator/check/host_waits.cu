// For test_host_waits.py: hosts that do not wait for the device, memory that is never freed, and
// what a host's memcpy() does to memory that the device uses; and their neighbours that are right.
//
//   host_waits CASE
#include <sys/time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "handles.cuh"

constexpr int kCount = 1024;
constexpr size_t kBytes = kCount * sizeof(int);

__global__ void fill(int* out, int value) {
    for (int i = threadIdx.x; i < kCount; i += blockDim.x) out[i] = value;  // fill-writes
}
__global__ void addTo(const int* in, int* out) {
    for (int i = threadIdx.x; i < kCount; i += blockDim.x) out[i] += in[i];  // add-reads
}
__global__ void hello() {
    printf("hello from %d\n", threadIdx.x);
}
__global__ void helloFromChild() {
    hello<<<1, 1>>>();
}
__global__ void helloThenNull(int* null) {
    printf("hello\n");
    *null = 1;
}

static int* device(size_t bytes = kBytes) {
    int* memory;
    cudaMalloc(&memory, bytes);
    cudaMemset(memory, 0, bytes);
    return memory;
}
static int* pinned() {
    int* memory;
    cudaMallocHost(&memory, kBytes);
    std::fill(memory, memory + kCount, 1);
    return memory;
}
static int* managed() {
    int* memory;
    cudaMallocManaged(&memory, kBytes);
    std::fill(memory, memory + kCount, 1);
    return memory;
}

// ---- a kernel that prints

static void printsAndEnds() {
    hello<<<1, 4>>>();  // prints-and-ends
}
static void printsAndExits() {
    hello<<<1, 4>>>();  // prints-and-exits
    std::exit(0);
}
static void printsInLoop() {
    for (int i = 0; i < 3; ++i) hello<<<1, 1>>>();  // prints-in-loop
}
static void printsInOtherStream() {
    const cudaStream_t first = newStream(), second = newStream();
    hello<<<1, 1, 0, first>>>();  // prints-in-other
    cudaStreamSynchronize(second);
}
static void childPrints() {
    helloFromChild<<<1, 1>>>();  // child-prints
}
static void waitsBefore() {
    cudaDeviceSynchronize();
    hello<<<1, 1>>>();  // waits-before
}
static void printsAndSynchronises() {
    hello<<<1, 1>>>();
    cudaDeviceSynchronize();
}
static void printsAndCopies() {
    int* const memory = device();
    hello<<<1, 1>>>();
    int value;
    cudaMemcpy(&value, memory, sizeof(value), cudaMemcpyDeviceToHost);
}
static void printsAndFrees() {
    int* const memory = device();
    hello<<<1, 1>>>();
    cudaFree(memory);
}
static void printsAndResets() {
    hello<<<1, 1>>>();
    cudaDeviceReset();
}
static void printsAndWaitsForStream() {
    const cudaStream_t stream = newStream();
    hello<<<1, 1, 0, stream>>>();
    cudaStreamSynchronize(stream);
}
static void printsAndWaitsForEvent() {
    const cudaEvent_t event = newEvent();
    hello<<<1, 1>>>();
    cudaEventRecord(event);
    cudaEventSynchronize(event);
}
static void printsAndFails() {
    hello<<<1, 1>>>();
    helloThenNull<<<1, 1>>>(nullptr);
    cudaDeviceSynchronize();
}
static void silentAndEnds() {
    fill<<<1, 32>>>(device(), 1);
}

// ---- the time of an event

struct Events {
    cudaEvent_t begin, end;
    float ms = 0;
    Events() {
        cudaEventCreate(&begin);
        cudaEventCreate(&end);
    }
    void run(cudaStream_t stream = nullptr) {
        cudaEventRecord(begin, stream);
        fill<<<1, 32, 0, stream>>>(device(), 1);
        cudaEventRecord(end, stream);  // records-end
    }
    void time() { cudaEventElapsedTime(&ms, begin, end); }  // asks-for-time
};

static void timeOfUnwaited() {
    Events events;
    events.run();
    events.time();
}
static void timeOfWaitedTooEarly() {
    Events events;
    cudaDeviceSynchronize();
    events.run();
    events.time();
    cudaDeviceSynchronize();
}
static void timeOfOtherStream() {
    Events events;
    events.run(newStream(cudaStreamDefault));
    cudaStreamSynchronize(newStream());
    events.time();
}
static void timeOfEmptyStream() {
    Events events;
    cudaEventRecord(events.begin);
    cudaEventRecord(events.end);  // records-empty
    events.time();
}
static void timeOfWaited() {
    Events events;
    for (int i = 0; i < 2; ++i) {
        events.run();
        cudaEventSynchronize(events.end);
        events.time();
    }
}
static void timeOfPolled() {
    Events events;
    events.run(newStream(cudaStreamDefault));
    while (cudaEventQuery(events.end) == cudaErrorNotReady) {
    }
    events.time();
}
static void timeBehindCopy() {
    Events events;
    int* const memory = device();
    events.run();
    cudaMemcpy(memory + 1, memory, sizeof(int), cudaMemcpyDeviceToDevice);
    int value;
    cudaMemcpy(&value, memory, sizeof(int), cudaMemcpyDeviceToHost);
    events.time();
}
static void timeBehindLaterStream() {
    Events events;
    const cudaStream_t first = newStream(cudaStreamDefault), second = newStream();
    events.run(first);
    cudaStreamWaitEvent(second, events.end, 0);
    cudaStreamSynchronize(second);
    events.time();
}

// ---- clocks of the host

template <typename Read>
static void timesWith(Read read, bool waits) {
    int* const memory = device();
    read();
    fill<<<1, 32>>>(memory, 1);
    if (waits) cudaDeviceSynchronize();
    read();
    cudaFree(memory);
}
static void byClock(bool waits) {
    timesWith([] { return clock(); }, waits);  // by-clock
}
static void bySteadyClock(bool waits) {
    timesWith([] { return std::chrono::steady_clock::now(); }, waits);  // by-steady-clock
}
static void bySystemClock(bool waits) {
    timesWith([] { return std::chrono::system_clock::now(); }, waits);  // by-system-clock
}
static void byTimeOfDay(bool waits) {
    timeval now;
    timesWith([&] { gettimeofday(&now, nullptr); }, waits);  // by-time-of-day
}
static void byPosixClock(bool waits) {
    timespec now;
    timesWith([&] { clock_gettime(CLOCK_MONOTONIC, &now); }, waits);  // by-posix-clock
}
static void byTime(bool waits) {
    timesWith([] { return time(nullptr); }, waits);  // by-time
}

static void timesKernelThenCopy() {
    std::vector<int> host(kCount);
    int* const memory = device();
    const auto begin = std::chrono::steady_clock::now();  // kernel-then-copy-begin
    fill<<<1, 32>>>(memory, 1);
    const auto end = std::chrono::steady_clock::now();  // kernel-then-copy-end
    cudaMemcpy(host.data(), memory, kBytes, cudaMemcpyDeviceToHost);
    const auto copied = std::chrono::steady_clock::now();
    std::printf("%d %d\n", end > begin, copied > end);
}
static void timesLaunchAndAll() {
    int* const memory = device();
    for (int i = 0; i < 2; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        fill<<<1, 32>>>(memory, 1);
        const auto launched = std::chrono::steady_clock::now();
        cudaDeviceSynchronize();
        const auto end = std::chrono::steady_clock::now();
        std::printf("%d %d\n", launched > begin, end > launched);
    }
}
static void timesHostBesideKernel() {
    int* const memory = device();
    fill<<<1, 32>>>(memory, 1);
    const auto begin = std::chrono::steady_clock::now();
    const auto end = std::chrono::steady_clock::now();
    cudaDeviceSynchronize();
    std::printf("%d\n", end > begin);
}
static void timesCopies() {
    std::vector<int> host(kCount);
    int* const memory = device();
    fill<<<1, 32>>>(memory, 1);
    cudaDeviceSynchronize();
    const auto begin = std::chrono::steady_clock::now();
    cudaMemcpy(host.data(), memory, kBytes, cudaMemcpyDeviceToHost);
    const auto end = std::chrono::steady_clock::now();
    std::printf("%d\n", end > begin);
}

// ---- asynchronous copies to pageable memory

static int fetch(const int* memory, cudaStream_t stream, bool waits) {
    int value = -1;
    cudaMemcpyAsync(&value, memory, sizeof(value), cudaMemcpyDeviceToHost, stream);  // fetch-copy
    if (waits) cudaStreamSynchronize(stream);
    return value;  // fetch-read
}
static void usesAtOnce() {
    std::printf("%d\n", fetch(device(), nullptr, false));
}
static void usesSynchronised() {
    std::printf("%d\n", fetch(device(), nullptr, true));
}
static void usesBothOfTwo() {
    const int* const memory = device();
    int first, second;
    cudaMemcpyAsync(&first, memory, sizeof(int), cudaMemcpyDeviceToHost);   // two-copies-first
    cudaMemcpyAsync(&second, memory, sizeof(int), cudaMemcpyDeviceToHost);  // two-copies-second
    int sum = first;                                                        // two-reads-first
    sum += second;                                                          // two-reads-second
    std::printf("%d\n", sum);
}
static void usesRow() {
    const int* const memory = device();
    std::vector<int> host(kCount, 1);
    cudaMemcpy2DAsync(host.data(), 64, memory, 32, 32, 16, cudaMemcpyDeviceToHost);  // row-copy
    const int between = host[8];
    const int within = host[16 * 3 + 7];  // row-read
    std::printf("%d %d\n", between, within);
}
static void copiesPinnedAtOnce() {
    int* const host = pinned();
    const int* const memory = device();
    cudaMemcpyAsync(host, memory, kBytes, cudaMemcpyDeviceToHost);  // pinned-copy
    const int value = host[5];                                      // pinned-read
    std::printf("%d\n", value);
}
static void writesOver() {
    int value = -1;
    cudaMemcpyAsync(&value, device(), sizeof(value), cudaMemcpyDeviceToHost);
    value = 3;
    std::printf("%d\n", value);
}
static void usesBehindBlockingCopy() {
    const int* const memory = device();
    std::vector<int> host(kCount), other(kCount);
    cudaMemcpyAsync(host.data(), memory, kBytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(other.data(), memory, kBytes, cudaMemcpyDeviceToHost);
    std::printf("%d\n", host[0] + other[0]);
}

// ---- memory that is never freed

template <typename Allocate>
static void leaks(int times, Allocate allocate) {
    for (int i = 0; i < times; ++i) {
        int* memory;
        allocate(&memory);
        fill<<<1, 32>>>(memory, i);
    }
    cudaDeviceSynchronize();
}
static void leaksInLoop() {
    leaks(12, [](int** memory) { cudaMalloc(memory, kBytes); });  // leaks-in-loop
}
static void leaksManaged() {
    leaks(20, [](int** memory) { cudaMallocManaged(memory, kBytes); });  // leaks-managed
}
static void leaksInOrder() {
    leaks(20, [](int** memory) { cudaMallocAsync(memory, kBytes, 0); });  // leaks-in-order
}
static void leaksPinned() {
    for (int i = 0; i < 15; ++i) {
        int* memory;
        cudaMallocHost(&memory, kBytes);  // leaks-pinned
        memory[0] = i;
    }
}
static void leaksHalf() {
    for (int i = 0; i < 30; ++i) {
        int* memory;
        cudaMalloc(&memory, kBytes);  // leaks-half
        fill<<<1, 32>>>(memory, i);
        if (i % 2 == 0) cudaFree(memory);
    }
    cudaDeviceSynchronize();
}
static void leaksInChain() {
    int* in = device();
    for (int i = 0; i < 12; ++i) {
        int* out;
        cudaMalloc(&out, kBytes);  // leaks-in-chain
        fill<<<1, 32>>>(out, i);
        addTo<<<1, 32>>>(in, out);
        in = out;
    }
    cudaDeviceSynchronize();
}
static void leaksFew() {
    leaks(5, [](int** memory) { cudaMalloc(memory, kBytes); });  // leaks-few
}
static void keepsButDoesNotUse() {
    int* kept[16];
    for (int*& memory : kept) {
        cudaMalloc(&memory, kBytes);  // keeps
        fill<<<1, 32>>>(memory, 1);
    }
    cudaDeviceSynchronize();
}
static void keepsForStreams() {
    struct Worker {
        cudaStream_t stream = newStream();
        int* memory;
    };
    std::vector<Worker> workers(8);
    for (Worker& worker : workers) {
        cudaMalloc(&worker.memory, kBytes);
        fill<<<1, 32, 0, worker.stream>>>(worker.memory, 1);
    }
    cudaDeviceSynchronize();
}
static void keepsAndUses() {
    std::vector<int*> kept;
    for (int i = 0; i < 40; ++i) {
        int* memory;
        cudaMalloc(&memory, kBytes);
        kept.push_back(memory);
    }
    for (int* memory : kept) fill<<<1, 32>>>(memory, 1);
    cudaDeviceSynchronize();
}
static void keepsAndCopies() {
    std::vector<int*> kept;
    std::vector<int> host(kCount);
    for (int i = 0; i < 40; ++i) {
        kept.push_back(device());
        fill<<<1, 32>>>(kept.back(), i);
    }
    for (int* memory : kept) cudaMemcpy(host.data(), memory, kBytes, cudaMemcpyDeviceToHost);
}
static void keepsManagedList() {
    struct Node {
        int value;
        Node* next;
    };
    Node* head = nullptr;
    for (int i = 0; i < 40; ++i) {
        Node* node;
        cudaMallocManaged(&node, sizeof(Node));
        *node = {i, head};
        head = node;
    }
    int sum = 0;
    for (const Node* node = head; node != nullptr; node = node->next) sum += node->value;
    std::printf("%d\n", sum);
}
static void freesInLoop() {
    for (int i = 0; i < 40; ++i) {
        int* const memory = device();
        fill<<<1, 32>>>(memory, i);
        cudaFree(memory);
    }
}
static void resetsAtEnd() {
    leaksInLoop();
    cudaDeviceReset();
}
static void allocatesOnce() {
    fill<<<1, 32>>>(device(), 1);
    cudaDeviceSynchronize();
}

// ---- the host's memcpy() and its like

static void setsWhatKernelReads() {
    int *const in = managed(), *const out = device();
    addTo<<<1, 32>>>(in, out);
    std::memset(in, 0, kBytes);  // sets-what-is-read
    cudaDeviceSynchronize();
}
static void copiesWhatKernelWrites() {
    std::vector<int> host(kCount);
    int* const out = managed();
    fill<<<1, 32>>>(out, 1);
    std::memcpy(host.data(), out, kBytes);  // copies-what-is-written
    cudaDeviceSynchronize();
}
static void movesPinnedBesideCopy() {
    const std::vector<int> more(kCount, 2);
    int* const host = pinned();
    int* const memory = device();
    cudaMemcpyAsync(memory, host, kBytes, cudaMemcpyHostToDevice);  // moves-copy
    std::copy(more.begin() + 10, more.end(), host + 10);            // moves-pinned
    cudaDeviceSynchronize();
}
static void fillsRegistered() {
    std::vector<char> text(kBytes, 'a');
    cudaHostRegister(text.data() + 100, kBytes - 100, 0);
    int* const memory = device();
    cudaMemcpyAsync(memory, text.data() + 100, kBytes - 100,  // registered-copy
                    cudaMemcpyHostToDevice);
    std::memset(text.data(), 'b', kBytes);  // fills-registered
    cudaDeviceSynchronize();
}
static void copiesAsyncAtOnce() {
    std::vector<int> host(kCount), other(kCount);
    const int* const memory = device();
    cudaMemcpyAsync(host.data(), memory, kBytes, cudaMemcpyDeviceToHost);  // async-copy
    std::memcpy(other.data(), host.data() + 8, 64);                        // copies-async
}
static void copiesOtherHalf() {
    std::vector<int> host(kCount, 3);
    int* const both = pinned();
    cudaMemcpyAsync(device(), both, kBytes / 2, cudaMemcpyHostToDevice);
    std::memcpy(both + kCount / 2, host.data(), kBytes / 2);
    cudaDeviceSynchronize();
}
static void copiesWhatCopyReads() {
    std::vector<int> host(kCount);
    int* const both = pinned();
    cudaMemcpyAsync(device(), both, kBytes, cudaMemcpyHostToDevice);
    std::memcpy(host.data(), both, kBytes);
    cudaDeviceSynchronize();
}
static void twoStages() {
    const std::vector<int> from(8 * kCount, 4);
    int* const to = device(8 * kBytes);
    int* const stages[2] = {pinned(), pinned()};
    const cudaEvent_t taken[2] = {newEvent(), newEvent()};
    for (int i = 0; i < 8; ++i) {
        cudaEventSynchronize(taken[i % 2]);
        std::memcpy(stages[i % 2], from.data() + i * kCount, kBytes);
        cudaMemcpyAsync(to + i * kCount, stages[i % 2], kBytes, cudaMemcpyHostToDevice);
        cudaEventRecord(taken[i % 2]);
    }
    cudaDeviceSynchronize();
}
static void copiesALot() {
    constexpr size_t kLarge = size_t{256} << 20;
    char *from, *to;
    cudaMallocHost(&from, kLarge);
    cudaMallocHost(&to, kLarge);
    cudaMemcpyAsync(device(), from + kLarge - kBytes, kBytes, cudaMemcpyHostToDevice);
    for (int i = 0; i < 4; ++i) std::memcpy(to, from, kLarge);
    cudaDeviceSynchronize();
}

// ---- programs without a kernel

static void onlyCopies() {
    std::vector<int> host(kCount, 1);
    int* const memory = device();
    cudaMemcpy(memory, host.data(), kBytes, cudaMemcpyHostToDevice);
    cudaMemcpy(host.data(), memory, kBytes, cudaMemcpyDeviceToHost);
}
static void nothing() {}

#define NAMED(name) {#name, name}
#define CLOCK(name)                       \
    {#name, [] { name(false); }}, {       \
        #name "Waits", [] { name(true); } \
    }
// clang-format off
const std::map<std::string, void (*)()> kCases = {
    NAMED(printsAndEnds), NAMED(printsAndExits), NAMED(printsInLoop), NAMED(printsInOtherStream),
    NAMED(childPrints), NAMED(waitsBefore), NAMED(printsAndSynchronises), NAMED(printsAndCopies),
    NAMED(printsAndFrees), NAMED(printsAndResets), NAMED(printsAndWaitsForStream),
    NAMED(printsAndWaitsForEvent), NAMED(printsAndFails), NAMED(silentAndEnds),
    NAMED(timeOfUnwaited), NAMED(timeOfWaitedTooEarly), NAMED(timeOfOtherStream),
    NAMED(timeOfEmptyStream), NAMED(timeOfWaited), NAMED(timeOfPolled), NAMED(timeBehindCopy),
    NAMED(timeBehindLaterStream),
    CLOCK(byClock), CLOCK(bySteadyClock), CLOCK(bySystemClock), CLOCK(byTimeOfDay),
    CLOCK(byPosixClock), CLOCK(byTime), NAMED(timesKernelThenCopy), NAMED(timesLaunchAndAll),
    NAMED(timesHostBesideKernel), NAMED(timesCopies),
    NAMED(usesAtOnce), NAMED(usesSynchronised), NAMED(usesBothOfTwo), NAMED(usesRow),
    NAMED(copiesPinnedAtOnce), NAMED(writesOver), NAMED(usesBehindBlockingCopy),
    NAMED(leaksInLoop), NAMED(leaksManaged), NAMED(leaksInOrder), NAMED(leaksPinned),
    NAMED(leaksHalf), NAMED(leaksInChain), NAMED(leaksFew), NAMED(keepsButDoesNotUse), NAMED(keepsForStreams),
    NAMED(keepsAndUses), NAMED(keepsAndCopies), NAMED(keepsManagedList), NAMED(freesInLoop),
    NAMED(resetsAtEnd), NAMED(allocatesOnce),
    NAMED(setsWhatKernelReads), NAMED(copiesWhatKernelWrites), NAMED(movesPinnedBesideCopy),
    NAMED(fillsRegistered), NAMED(copiesAsyncAtOnce), NAMED(copiesOtherHalf),
    NAMED(copiesWhatCopyReads), NAMED(twoStages), NAMED(copiesALot),
    NAMED(onlyCopies), NAMED(nothing),
};
// clang-format on

int main(int argc, char** argv) {
    const auto found = argc == 2 ? kCases.find(argv[1]) : kCases.end();
    if (found == kCases.end()) return 2;
    found->second();
    return 0;
}
