// Bugs as students plant them, most of them in the code around a kernel, and their neighbours that
// are right: test_planted.py runs each alone, and finds the lines by the marks in the comments.
#include <cooperative_groups.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "handles.cuh"

namespace cg = cooperative_groups;

constexpr int kCount = 256;
constexpr size_t kBytes = kCount * sizeof(int);

__device__ int deviceCounter;
__device__ unsigned ticket;

// ---- kernels

__global__ void writeIndices(int* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = i;  // write-indices
}
__global__ void copyElements(const int* in, int* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = in[i];  // copy-elements
}
__global__ void addOne(int* p) {
    p[0] += 1;  // add-one
}
__global__ void addOneToVariable() {
    deviceCounter++;  // add-to-variable
}
__global__ void addAtomically(int* p) {
    atomicAdd(p, 1);  // add-atomically
}
__global__ void lastWins(int* out) {
    out[0] = threadIdx.x + blockIdx.x * blockDim.x;  // last-wins
}
__global__ void allAgree(int* out) {
    out[0] = 1;
}
__global__ void blocksDisagree(int* out) {
    if (threadIdx.x == 0) out[0] = blockIdx.x;  // blocks-disagree
}
__global__ void smooth(int* a) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int left = i > 0 ? a[i - 1] : 0;  // smooth-read
    a[i] += left;                           // smooth-write
}
__global__ void tree(int* a) {
    for (int stride = 128; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) a[threadIdx.x] += a[threadIdx.x + stride];
        __syncthreads();
    }
}
__global__ void treeOfWarp(int* a) {
    for (int stride = 16; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) a[threadIdx.x] += a[threadIdx.x + stride];
        __syncwarp();
    }
}
// The largest of all: what a thread reads may be out of date, and then its atomic does nothing.
__global__ void looksBeforeUpdate(const int* in, int* most) {
    __shared__ int mostOfBlock;
    if (threadIdx.x == 0) mostOfBlock = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] > mostOfBlock) atomicMax(&mostOfBlock, in[i]);  // look-in-block
    __syncthreads();
    if (mostOfBlock > most[0]) atomicMax(most, mostOfBlock);  // look
}
// Two threads may get one slot.
__global__ void readsThenAdds(int* next, int* out) {
    const int slot = *next;  // next-slot
    atomicAdd(next, 1);
    atomicExch(&out[slot], 1);
}
__global__ void breaksOutOfCas(const int* in, int* most) {
    const int value = in[blockIdx.x * blockDim.x + threadIdx.x];
    int old = *most;  // look-before-cas
    while (old < value) {
        const int assumed = old;
        old = atomicCAS(most, assumed, value);
        if (old == assumed) break;
    }
}
__global__ void readsOldValue(int* sum, int* out) {
    atomicAdd(sum, 1);                                  // old-add
    out[blockIdx.x * blockDim.x + threadIdx.x] = *sum;  // old-read
}
__global__ void readsOldValueSaysSo(int* sum, int* out) {
    atomicAdd(sum, 1);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __ldcg(sum) + *(volatile int*)sum;
}
template <bool kFences>
__global__ void locksInShared(int* out) {
    __shared__ int lock, sum;
    if (threadIdx.x == 0) lock = sum = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
        if (kFences) __threadfence_block();
        sum += threadIdx.x;  // locked-sum
        if (kFences) __threadfence_block();
        atomicExch(&lock, 0);
    }
    __syncthreads();
    out[threadIdx.x] = sum;
}
// The warp that comes last adds up what the others wrote; the fence of one does not do for all.
template <int kFencing>
__global__ void lastWarpAdds(int* parts, int* out) {
    __shared__ int done;
    if (threadIdx.x == 0) done = 0;
    __syncthreads();
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (threadIdx.x % 32 != 0) return;
    parts[blockIdx.x * warps + warp] = warp;  // part-of-warp
    if (warp < kFencing) __threadfence();
    if (atomicAdd(&done, 1) != warps - 1) return;
    __threadfence();
    int sum = 0;
    for (int i = 0; i < warps; ++i) sum += parts[blockIdx.x * warps + i];  // parts-of-warps
    out[blockIdx.x] = sum;
}
__global__ void fencesWithoutFlag(int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = out[threadIdx.x];  // fenced-write
    __threadfence_block();
    out[threadIdx.x] = s[63 - threadIdx.x];  // fenced-read
}
__global__ void countsInShared(const int* in, int* out) {
    __shared__ int bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    bins[in[threadIdx.x] % 4]++;  // count-plainly
    __syncthreads();
    out[threadIdx.x] = bins[threadIdx.x % 4];
}
__global__ void exchangeInWarp(int* a) {
    a[threadIdx.x] = threadIdx.x;           // exchange-write
    const int other = a[31 - threadIdx.x];  // exchange-read
    __syncwarp();
    a[threadIdx.x] = other;
}
__global__ void bytesOfNeighbours(char* a) {
    a[threadIdx.x] = char(threadIdx.x);  // own-byte
    a[threadIdx.x + 1] = 'x';            // neighbour
}
__global__ void ownBytes(char* a) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = char(threadIdx.x);
    a[i] += 1;
}
__global__ void addThenRead(int* sum, int* out) {
    atomicAdd(sum, 1);                               // then-add
    if (threadIdx.x == 0) out[blockIdx.x] = sum[0];  // then-read
}
// Textbooks make atomics of atomicCAS() in this way.
__device__ void addByCas(float* sum, float value) {
    int* const bits = (int*)sum;
    int old = *bits, expected;
    do {
        expected = old;
        old = atomicCAS(bits, expected, __float_as_int(value + __int_as_float(expected)));
    } while (old != expected);
}
__global__ void addByCasBoth(float* sum) {
    __shared__ float ofBlock;
    if (threadIdx.x == 0) ofBlock = 0;
    __syncthreads();
    addByCas(&ofBlock, 1);
    __syncthreads();
    if (threadIdx.x == 0) addByCas(sum, ofBlock);
    addByCas(sum, 1);
}
__global__ void clearThenAdd(int* sum) {
    if (threadIdx.x == 0) *sum = 0;  // clear-sum
    atomicAdd(sum, 1);               // add-to-sum
}
// The block that comes last adds up what the others wrote.
template <bool kFence>
__global__ void lastBlockAdds(const int* in, int* parts, int* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = in[blockIdx.x];  // part-write
        if (kFence) __threadfence();
        last = atomicInc(&ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < gridDim.x; ++i) sum += parts[i];  // part-read
        *out = sum;
    }
}
template <bool kSync>
__global__ void twoSteps(int* a, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i;  // step-write
    if (kSync) cg::this_grid().sync();
    out[i] = a[gridDim.x * blockDim.x - 1 - i];  // step-read
    if (kSync) cg::this_grid().sync();
    a[i] = 0;  // step-clear
}
struct Padded {
    double value;
    int id;
};
__global__ void writeMembers(Padded* a) {
    a[threadIdx.x].value = 1;
    a[threadIdx.x].id = threadIdx.x;
}
__global__ void copyStructs(const Padded* in, Padded* out) {
    const Padded own = in[threadIdx.x];  // copy-structs
    out[threadIdx.x] = own;
}
__global__ void child(int* out) {
    out[threadIdx.x] = 1;
}
__global__ void launchesTooMany(int* out) {
    child<<<1, 2048>>>(out);  // child-refused
}
__global__ void launchesAndLooks(int* out) {
    child<<<1, 2048>>>(out);
    if (cudaGetLastError() != cudaSuccess) out[0] = 0;
}
template <bool kBarrier>
__global__ void fillsForChild(int* d, int* out) {
    d[threadIdx.x] = threadIdx.x;  // for-child
    if (kBarrier) __syncthreads();
    if (threadIdx.x == 0) copyElements<<<1, blockDim.x>>>(d, out, blockDim.x);
}
__global__ void goesOnBesideChild(int* d, int* out) {
    if (threadIdx.x != 0) return;
    copyElements<<<1, 32>>>(d, out, 32);
    d[5] = 7;  // beside-child
}
__global__ void readsFromChild(int* d, int* out) {
    if (threadIdx.x == 0) writeIndices<<<1, 32>>>(d, 32);
    __syncthreads();
    out[threadIdx.x] = d[threadIdx.x];  // reads-from-child
}
__global__ void firstBlockLaunches(int* d, int* out) {
    d[blockIdx.x] = 1;  // of-each-block
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0) copyElements<<<1, 2>>>(d, out, 2);
}
__global__ void launchesReader(int* d, int* out) {
    copyElements<<<1, 32>>>(d, out, 32);
}
__global__ void goesOnBesideGrandchild(int* d, int* out) {
    launchesReader<<<1, 1>>>(d, out);
    d[5] = 7;  // beside-grandchild
}
__global__ void launchesInOrder(int* d, int* out) {
    if (threadIdx.x == 0) {
        d[0] = 1;  // its own
        copyElements<<<1, 1>>>(d, out, 1);
    }
    d[32 + threadIdx.x] = threadIdx.x;
    __syncwarp();
    if (threadIdx.x == 0) copyElements<<<1, 32>>>(d + 32, out + 32, 32);
    if (threadIdx.x == 0) fillsForChild<true><<<1, 64>>>(d + 64, out + 64);
    if (threadIdx.x == 0) {
        copyElements<<<1, 32, 0, cudaStreamTailLaunch>>>(d + 128, out + 128, 32);
    }
    d[128 + threadIdx.x] = threadIdx.x;
}
__global__ void lastBlockLaunches(int* d, int* out) {
    d[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && atomicInc(&ticket, gridDim.x - 1) == gridDim.x - 1) {
        copyElements<<<1, 128>>>(d, out, 128);
    }
}
__global__ void countInShared(const int* in, int* bins) {
    __shared__ int ofBlock[4];
    atomicAdd(&ofBlock[in[threadIdx.x] % 4], 1);  // count-in-shared
    __syncthreads();
    if (threadIdx.x < 4) bins[threadIdx.x] = ofBlock[threadIdx.x];
}
__global__ void setByExchange(int* flag) {
    __shared__ int ofBlock;
    atomicExch(flag, 3);
    atomicExch(&ofBlock, 4);
}
__managed__ int managedCounter;
__global__ void bumpManaged() {
    atomicAdd(&managedCounter, 1);  // bump-managed
}
__global__ void copyPairs(const float2* in, float2* out) {
    out[threadIdx.x] = in[threadIdx.x];  // copy-pairs
}
__global__ void copyQuads(const float4* in, float4* out) {
    out[threadIdx.x] = in[threadIdx.x];  // copy-quads
}
struct [[gnu::packed]] Tagged {
    char tag;
    int value;
};
__global__ void readTagged(const Tagged* in, int* out) {
    out[threadIdx.x] = in[threadIdx.x].value;
}
__global__ void addFloatByCas(float* sum) {
    addByCas(sum, 1);
}
__global__ void produce(int* out, int* flag) {
    out[threadIdx.x] = threadIdx.x;  // produce
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(flag, 1);
}
__global__ void consume(const int* in, int* flag, int* out) {
    while (atomicAdd(flag, 0) == 0) {
    }
    out[threadIdx.x] = in[threadIdx.x];  // consume
}
__global__ void writeOne(int* p) {
    *p = 1;  // write-one
}
__global__ void writeTwo(int* p) {
    *p = 2;  // write-two
}
__global__ void spin(int* flag) {
    while (true) {                           // spin
        if (atomicAdd(flag, 0) == 1) break;  // spin-poll
        usleep(10000);                       // spin-sleep
    }
}

// Each thread fills memory of its own, each block some that its threads share.
__global__ void fillsHeap(int* out, int count, int first) {
    int* mine = new int[64];
    for (int i = first; i < count; ++i) mine[i] = i;  // heap-fill
    out[threadIdx.x] = 1;
    delete[] mine;
}
template <bool kBarrier>
__global__ void sharesHeap(int* out) {
    __shared__ int* data;
    if (threadIdx.x == 0) data = (int*)malloc(blockDim.x * sizeof(int));
    __syncthreads();
    data[threadIdx.x] = threadIdx.x;  // heap-shared
    if (kBarrier) __syncthreads();
    out[threadIdx.x] = 1;
    if (threadIdx.x == 0) free(data);
}
__global__ void readsHeap(int* out, bool clears) {
    int* mine = (int*)malloc(16 * sizeof(int));
    if (clears) memset(mine, 0, 16 * sizeof(int));
    if (mine[3] != 0) out[threadIdx.x] = 1;  // heap-read
    free(mine);
}
template <bool kBarrier>
__global__ void shiftsOnHeap(int* out) {
    __shared__ int* data;
    if (threadIdx.x == 0) {
        data = new int[blockDim.x];
        for (int i = 0; i < blockDim.x; ++i) data[i] = 0;
    }
    __syncthreads();
    data[threadIdx.x] = threadIdx.x;  // heap-write
    if (kBarrier) __syncthreads();
    out[threadIdx.x] = data[blockDim.x - 1 - threadIdx.x];  // heap-other
    __syncthreads();
    if (threadIdx.x == 0) delete[] data;
}
__global__ void freesTwice() {
    int* volatile mine = (int*)malloc(16);
    free(mine);
    free(mine);  // heap-again
}
__global__ void freesThis(int* memory) {
    free(memory);  // heap-of-host
}
__device__ int* keptOnHeap;
__global__ void keepsOnHeap() {
    keptOnHeap = new int(1);
}
__global__ void freesHeap(int* memory, int* out, int value) {
    out[0] = memory[0] + value;
    delete memory;
}
__global__ void launchesWithHeap(int* out) {
    freesHeap<<<1, 1>>>(new int(1), out + blockIdx.x, 2);
}

// ---- programs

int* deviceInts(int elements = kCount) {
    int* memory = nullptr;
    if (cudaMalloc(&memory, elements * sizeof(int)) != cudaSuccess) std::exit(3);  // device-ints
    return memory;
}

int* copied(const std::vector<int>& values) {
    int* memory = deviceInts();
    if (cudaMemcpy(memory, values.data(), kBytes, cudaMemcpyHostToDevice) != cudaSuccess)
        std::exit(3);
    return memory;
}
int* filled() {
    return copied(std::vector<int>(kCount, 1));
}
int* ascending() {
    std::vector<int> values(kCount);
    std::iota(values.begin(), values.end(), 0);
    return copied(values);
}

// A signal that somebody sends to this thread stays pending, which a test can see.
void launchAndIdle(std::promise<void>& ready) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    addAtomically<<<1, 256>>>(filled());
    ready.set_value();
    while (true) pause();
}

struct FreesLater {
    int* memory;
    ~FreesLater() {
        cudaFree(memory);  // frees-later
    }
};

int* managedInts() {
    int* memory = nullptr;
    if (cudaMallocManaged(&memory, kBytes) != cudaSuccess) std::exit(3);
    return memory;
}

int* pinnedInts() {
    int* memory = nullptr;
    if (cudaMallocHost(&memory, kBytes) != cudaSuccess) std::exit(3);
    for (int i = 0; i < kCount; ++i) memory[i] = i;
    return memory;
}

// Neither waits for the legacy stream.
struct TwoStreams {
    cudaStream_t a = newStream(), b = newStream();
    // What b does from now on begins when a has done its work so far.
    void bWaitsForA() {
        const cudaEvent_t event = newEvent();
        cudaEventRecord(event, a);
        cudaStreamWaitEvent(b, event, 0);
    }
};

// A graph in which the work of stream b begins beside that of a, launched twice; the host waits.
void launchForked(const std::function<void(TwoStreams&)>& work) {
    TwoStreams streams;
    const cudaEvent_t done = newEvent();
    const cudaGraph_t graph = graphOf([&](cudaStream_t stream) {
        streams.a = stream;
        streams.bWaitsForA();
        work(streams);
        cudaEventRecord(done, streams.b);
        cudaStreamWaitEvent(stream, done, 0);
    });
    const cudaGraphExec_t exec = executable(graph);
    cudaGraphLaunch(exec, streams.a);
    cudaGraphLaunch(exec, streams.a);
    cudaStreamSynchronize(streams.a);
}

std::map<std::string, std::function<void()>>& programs() {
    static std::map<std::string, std::function<void()>> all;
    return all;
}
#define PROGRAM(NAME)                                                         \
    void NAME##Program();                                                     \
    const bool NAME##Added = programs().emplace(#NAME, NAME##Program).second; \
    void NAME##Program()

// -- the host and device memory
PROGRAM(hostReads) {
    int* d = filled();
    addAtomically<<<1, 256>>>(d);
    std::printf("%d\n", d[0]);  // host-reads
}
PROGRAM(hostWrites) {
    int* d = deviceInts();
    for (int i = 0; i < kCount; ++i) d[i] = i;  // host-writes
    addAtomically<<<1, 256>>>(d);
}
PROGRAM(hostCopies) {
    int* d = filled();
    std::vector<int> h(kCount);
    addAtomically<<<1, 256>>>(d);
    std::memcpy(h.data(), d, kBytes);  // host-copies
}
PROGRAM(hostReadsFreed) {
    int* d = filled();
    addAtomically<<<1, 256>>>(d);
    cudaFree(d);
    std::printf("%d\n", d[1]);  // host-reads-freed
}
PROGRAM(hostReadsManagedEarly) {
    int* m = managedInts();
    writeIndices<<<1, 256>>>(m, kCount);
    std::printf("%d\n", m[3]);  // managed-early
    cudaDeviceSynchronize();
}
PROGRAM(managedVariableEarly) {
    managedCounter = 0;
    bumpManaged<<<1, 32>>>();
    std::printf("%d\n", managedCounter);  // managed-variable
}
PROGRAM(managedVariableInTime) {
    managedCounter = 0;
    bumpManaged<<<1, 32>>>();
    cudaDeviceSynchronize();
    std::printf("%d\n", managedCounter);
}
PROGRAM(hostFunctionInOrder) {
    int* m = managedInts();
    writeIndices<<<1, 256>>>(m, kCount);
    cudaLaunchHostFunc(nullptr, [](void* memory) { static_cast<int*>(memory)[5] = 99; }, m);
}
PROGRAM(managedInTime) {
    int* m = managedInts();
    for (int i = 0; i < kCount; ++i) m[i] = 1;
    writeIndices<<<1, 128>>>(m, 128);
    m[200] = 7;  // the kernel's half is the other one
    cudaDeviceSynchronize();
    std::printf("%d\n", std::accumulate(m, m + kCount, 0));
    writeIndices<<<1, 128>>>(m, 128);
    const cudaEvent_t event = newEvent();
    cudaEventRecord(event);
    cudaEventSynchronize(event);
    std::printf("%d\n", m[3]);
    writeIndices<<<1, 128>>>(m, 128);
    cudaFree(deviceInts());
    std::printf("%d\n", m[4]);
}
PROGRAM(readsBeforeTheCopy) {
    int *h = pinnedInts(), *d = filled();
    const TwoStreams streams;
    cudaMemcpyAsync(h, d, kBytes, cudaMemcpyDeviceToHost, streams.a);  // copy-to-host
    std::printf("%d\n", h[3]);                                         // copy-read-early
    cudaDeviceSynchronize();
}
PROGRAM(overwritesTheSource) {
    int *h = pinnedInts(), *d = deviceInts();
    cudaMemcpyAsync(d, h, kBytes, cudaMemcpyHostToDevice);  // copy-from-host
    h[4] = 7;                                               // source-overwritten
    addAtomically<<<1, 256>>>(d);
}
PROGRAM(registeredEarly) {
    std::vector<int> h(kCount, 1);
    int* d = filled();
    cudaHostRegister(h.data(), kBytes, cudaHostRegisterDefault);
    cudaMemcpyAsync(h.data(), d, kBytes, cudaMemcpyDeviceToHost);  // registered-copy
    std::printf("%d\n", h.data()[8]);                              // registered-early
    cudaDeviceSynchronize();
    std::printf("%d\n", h.data()[8]);
    cudaHostUnregister(h.data());
}
PROGRAM(readsBeforeTheFill) {
    int* m = managedInts();
    addAtomically<<<1, 256>>>(filled());
    cudaMemsetAsync(m, 0, kBytes);  // fill-of-managed
    std::printf("%d\n", m[5]);      // fill-read-early
}
PROGRAM(readsBeforeTheGraph) {
    int *h = pinnedInts(), *d = filled();
    const cudaGraphExec_t exec = executable(graphOf([=](cudaStream_t stream) {
        addAtomically<<<1, 256, 0, stream>>>(d);
        cudaMemcpyAsync(h, d, kBytes, cudaMemcpyDeviceToHost, stream);
    }));
    cudaGraphLaunch(exec, newStream());  // graph-launch
    std::printf("%d\n", h[6]);           // graph-read-early
}
PROGRAM(copiesInTime) {
    int *h = pinnedInts(), *d = filled();
    const TwoStreams streams;
    const cudaEvent_t event = newEvent();
    const auto copyBack = [&](cudaStream_t stream) {
        cudaMemcpyAsync(h, d, kBytes, cudaMemcpyDeviceToHost, stream);
    };
    copyBack(streams.a);
    cudaDeviceSynchronize();
    h[2] += 1;
    copyBack(nullptr);
    cudaMemcpy(d, h, sizeof(int), cudaMemcpyHostToDevice);  // behind it, and waits
    h[3] += 1;
    copyBack(streams.a);
    if (cudaStreamQuery(streams.a) == cudaSuccess) h[4] += 1;
    copyBack(streams.a);
    cudaEventRecord(event, streams.a);
    if (cudaEventQuery(event) == cudaSuccess) h[5] += 1;
    copyBack(streams.a);
    cudaLaunchHostFunc(streams.a, [](void* memory) { static_cast<int*>(memory)[6] += 1; }, h);
    cudaStreamSynchronize(streams.a);
    cudaMemcpyAsync(d, h, kBytes / 2, cudaMemcpyHostToDevice, streams.a);
    h[128] = h[0];  // the copy reads the other half, and only reads
    cudaMemset(managedInts(), 0, kBytes);
    addAtomically<<<1, 256, 0, streams.a>>>(d);
}
PROGRAM(fillsInTime) {  // a fill that is not asynchronous waits where the host can reach the memory
    int* m = managedInts();
    addAtomically<<<1, 256>>>(filled());
    cudaMemset(m, 0, kBytes);
    std::printf("%d\n", m[0]);
}
PROGRAM(hostFunctionTells) {
    int *h = pinnedInts(), *d = filled();
    std::promise<void> done;
    const TwoStreams streams;
    addAtomically<<<1, 256, 0, streams.a>>>(d);
    cudaMemcpyAsync(h, d, kBytes, cudaMemcpyDeviceToHost, streams.a);
    cudaLaunchHostFunc(
        streams.a, [](void* p) { static_cast<std::promise<void>*>(p)->set_value(); }, &done);
    done.get_future().wait();
    std::printf("%d\n", h[0]);
}
PROGRAM(copiesOfPageable) {  // are complete, or have read the source, when the call returns
    std::vector<int> h(kCount, 1);
    int *pinned = pinnedInts(), *d = filled();
    const TwoStreams streams;
    addAtomically<<<1, 256, 0, streams.a>>>(d);
    cudaMemcpyAsync(h.data(), d, kBytes, cudaMemcpyDeviceToHost, streams.a);
    std::printf("%d\n", h[0]);
    cudaMemcpyAsync(d, h.data(), kBytes, cudaMemcpyHostToDevice, streams.a);
    h[0] = 2;
    cudaMemcpyAsync(pinned, h.data(), kBytes, cudaMemcpyHostToHost, streams.a);
    std::printf("%d\n", pinned[0]);
}

// -- work of two streams
PROGRAM(copyOfAnotherStream) {
    int *h = pinnedInts(), *d = filled(), *out = deviceInts();
    const TwoStreams streams;
    cudaMemcpyAsync(d, h, kBytes, cudaMemcpyHostToDevice, streams.a);  // copy-in-a
    copyElements<<<1, 256, 0, streams.b>>>(d, out, kCount);
}
PROGRAM(fillOfAnotherStream) {
    int *d = filled(), *out = deviceInts();
    const cudaStream_t first = newStream(cudaStreamDefault), second = newStream(cudaStreamDefault);
    cudaMemsetAsync(d, 0, kBytes, first);  // fill-in-first
    copyElements<<<1, 256, 0, second>>>(d, out, kCount);
}
PROGRAM(nextInputTooEarly) {
    int *h = pinnedInts(), *d = filled(), *out = deviceInts();
    const TwoStreams streams;
    copyElements<<<1, 256, 0, streams.a>>>(d, out, kCount);
    cudaMemcpyAsync(d, h, kBytes, cudaMemcpyHostToDevice, streams.b);  // next-input
}
PROGRAM(fillsTooEarly) {
    int* d = filled();
    const TwoStreams streams;
    writeIndices<<<1, 256, 0, streams.a>>>(d, kCount);
    cudaMemsetAsync(d, 0, kBytes, streams.b);  // fills-too-early
}
PROGRAM(columnsOfAnotherStream) {
    int *h = pinnedInts(), *d = filled(), *out = deviceInts(32);
    const TwoStreams streams;  // 32 rows of 8 elements, of which the second one is copied
    cudaMemcpy2DAsync(d + 1, 32, h, 4, 4, 32, cudaMemcpyHostToDevice, streams.a);  // column
    copyElements<<<1, 1, 0, streams.b>>>(d + 8 * 31 + 1, out, 1);
}
PROGRAM(writesOfStreams) {
    int* d = filled();
    const TwoStreams streams;
    writeOne<<<1, 1, 0, streams.a>>>(d);
    writeTwo<<<1, 1, 0, streams.b>>>(d);
}
PROGRAM(thirdStream) {  // between the first and the second, another one used the same page
    int *d = filled(), *out = deviceInts();
    const cudaStream_t first = newStream(cudaStreamDefault), second = newStream(cudaStreamDefault);
    const cudaStream_t third = newStream(cudaStreamDefault);
    writeIndices<<<1, 64, 0, first>>>(d, 64);
    writeIndices<<<1, 64, 0, third>>>(d + 128, 64);
    copyElements<<<1, 64, 0, second>>>(d, out, 64);
}
PROGRAM(graphBranches) {
    int *d = filled(), *out = deviceInts();
    launchForked([=](TwoStreams& streams) {
        writeIndices<<<1, 256, 0, streams.a>>>(d, kCount);
        copyElements<<<1, 256, 0, streams.b>>>(d, out, kCount);
    });
}
PROGRAM(graphInOrder) {
    int *h = pinnedInts(), *d = filled(), *out = deviceInts();
    launchForked([=](TwoStreams& streams) {
        cudaMemcpyAsync(d, h, kBytes, cudaMemcpyHostToDevice, streams.a);
        writeIndices<<<1, 256, 0, streams.a>>>(d, kCount);
        writeIndices<<<1, 256, 0, streams.b>>>(out, kCount);
        streams.bWaitsForA();
        copyElements<<<1, 256, 0, streams.b>>>(d, out, kCount);
    });
    std::printf("%d\n", h[1] += out != nullptr);
}
PROGRAM(graphInTwoStreams) {  // whose launches wait for one another
    int* d = filled();
    const TwoStreams streams;
    const cudaGraphExec_t exec = executable(graphOf([=](cudaStream_t stream) {
        addOne<<<1, 1, 0, stream>>>(d);
        addOne<<<1, 1, 0, stream>>>(d);
    }));
    cudaGraphLaunch(exec, streams.a);
    cudaGraphLaunch(exec, streams.b);
}
PROGRAM(streamsApart) {  // though they share a page
    int *h = pinnedInts(), *d = filled(), *out = deviceInts();
    const TwoStreams streams;
    const auto work = [&](cudaStream_t stream, int first) {
        cudaMemcpyAsync(d + first, h + first, kBytes / 2, cudaMemcpyHostToDevice, stream);
        copyElements<<<1, 128, 0, stream>>>(d + first, out + first, 128);
        cudaMemcpyAsync(h + first, out + first, kBytes / 2, cudaMemcpyDeviceToHost, stream);
    };
    for (int round = 0; round < 3; ++round) {
        work(streams.a, 0);
        work(streams.b, 128);
    }
    cudaDeviceSynchronize();
    cudaMemcpy2DAsync(d + 1, 32, h, 4, 4, 32, cudaMemcpyHostToDevice, streams.a);
    copyElements<<<1, 1, 0, streams.b>>>(d + 8 * 30 + 2, out, 1);
}
PROGRAM(streamsTogether) {  // read the same, write the same, count by atomics
    int *d = filled(), *flag = filled(), *sum = filled();
    const TwoStreams streams;
    for (cudaStream_t stream : {streams.a, streams.b, streams.a}) {
        copyElements<<<1, 256, 0, stream>>>(d, deviceInts(), kCount);
        writeOne<<<1, 1, 0, stream>>>(flag);
        addAtomically<<<1, 256, 0, stream>>>(sum);
        addFloatByCas<<<1, 32, 0, stream>>>((float*)sum + 1);
    }
}
PROGRAM(streamsHandOver) {
    int *d = filled(), *flag = filled();
    cudaMemset(flag, 0, kBytes);
    cudaDeviceSynchronize();
    const TwoStreams streams;
    produce<<<1, 32, 0, streams.a>>>(d, flag);
    consume<<<1, 32, 0, streams.b>>>(d, flag, deviceInts());
}
PROGRAM(memoryFromThePool) {  // each stream its own, at addresses that the other has used
    const TwoStreams streams;
    for (int i = 0; i < 200; ++i) {
        const cudaStream_t stream = i % 2 == 0 ? streams.a : streams.b;
        int* d = nullptr;
        cudaMallocAsync(&d, kBytes, stream);
        cudaMemsetAsync(d, 0, kBytes, stream);
        writeIndices<<<1, 256, 0, stream>>>(d, kCount);
        cudaFreeAsync(d, stream);
    }
}
PROGRAM(hostWritesThenCopies) {
    int* d = filled();
    std::vector<int> h(kCount);
    addAtomically<<<1, 256>>>(d);
    d[0] = 7;                      // host-writes-first
    addAtomically<<<1, 256>>>(d);  // protects it again
    std::memcpy(h.data(), d, 16);  // host-copies-then
}

// -- errors that nobody looks at
PROGRAM(copyBeyond) {
    int* d = filled();
    std::vector<int> h(2 * kCount);
    addAtomically<<<1, 256>>>(d);
    cudaMemcpy(h.data(), d, 2 * kBytes, cudaMemcpyDeviceToHost);  // copy-beyond
}
PROGRAM(freedTwice) {
    int* d = filled();
    addAtomically<<<1, 256>>>(d);
    cudaFree(d);  // freed-first
    cudaFree(d);  // freed-twice
}
PROGRAM(freedInside) {
    int* d = deviceInts();
    addAtomically<<<1, 256>>>(filled());
    cudaFree(d + 6);  // freed-inside
}
PROGRAM(freedOfTheHost) {
    std::vector<int> h(kCount);
    addAtomically<<<1, 256>>>(filled());
    cudaFree(h.data());  // freed-of-host
}

// -- a kernel and the ones that it launches
PROGRAM(childrenInOrder) {
    int *d = filled(), *out = filled();
    launchesInOrder<<<1, 32>>>(d, out);
    copyElements<<<1, 256>>>(out, d, kCount);
}
PROGRAM(errorsLookedAt) {
    int* d = filled();
    addAtomically<<<1, 2048>>>(d);
    if (cudaGetLastError() == cudaSuccess) std::exit(3);
    cudaFree(d + 1);
    (void)cudaGetLastError();
    const cudaError_t kept = cudaFree(d + 1);
    std::printf("%d\n", kept);
    addAtomically<<<1, 256>>>(d);
    launchesAndLooks<<<1, 1>>>(d);
    cudaFree(d);
}
PROGRAM(errorOfAnotherThread) {
    int* d = filled();
    addAtomically<<<1, 256>>>(d);
    addAtomically<<<1, 2048>>>(d);  // other-thread
    std::thread([] { std::printf("%d\n", cudaGetLastError()); }).join();
}
PROGRAM(errorOfADestructor) {
    static const FreesLater later{filled() + 1};
    addAtomically<<<1, 256>>>(filled());
}

// -- memory that nobody wrote
PROGRAM(bytesForElements) {
    int *in = deviceInts(), *out = deviceInts();
    const std::vector<int> ones(kCount, 1);
    cudaMemcpy(in, ones.data(), kCount, cudaMemcpyHostToDevice);  // a quarter of it
    copyElements<<<1, 256>>>(in, out, kCount);
}
PROGRAM(sumNotCleared) {
    int* sum = deviceInts(1);
    clearThenAdd<<<1, 1>>>(sum + 0);
    int* other = deviceInts(1);
    addAtomically<<<1, 32>>>(other);
}
PROGRAM(copiesUnwritten) {
    int *d = deviceInts(), *unused = deviceInts();
    std::vector<int> h(kCount);
    writeIndices<<<1, 256>>>(unused, kCount);
    cudaMemcpy(h.data(), d, kBytes, cudaMemcpyDeviceToHost);  // copies-unwritten
}
PROGRAM(copyOfUnwritten) {
    int *a = deviceInts(), *b = deviceInts(), *out = deviceInts();
    cudaMemset(a, 0, kBytes / 2);
    cudaMemcpy(b, a, kBytes, cudaMemcpyDeviceToDevice);
    copyElements<<<1, 256>>>(b, out, kCount);
}
PROGRAM(allWritten) {
    int *a = deviceInts(), *b = deviceInts(), *out = deviceInts();
    cudaMemset(a, 0, kBytes / 2);
    cudaMemset(a + kCount / 2, 1, kBytes / 2);
    cudaMemcpy(b, a, kBytes, cudaMemcpyDeviceToDevice);
    copyElements<<<1, 256>>>(b, out, kCount);
    copyElements<<<1, 256>>>(out, b, kCount);
    Padded *structs = nullptr, *copies = nullptr;
    cudaMalloc(&structs, 32 * sizeof(Padded));
    cudaMalloc(&copies, 32 * sizeof(Padded));
    writeMembers<<<1, 32>>>(structs);
    copyStructs<<<1, 32>>>(structs, copies);
    std::vector<int> h(kCount);
    cudaMemcpy(h.data(), b, kBytes, cudaMemcpyDeviceToHost);
    const cudaExtent extent = make_cudaExtent(64, 2, 2);
    cudaPitchedPtr box;
    cudaMalloc3D(&box, extent);
    cudaMemset3D(box, 0, extent);
    int* rows = deviceInts(64);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = box;
    copy.dstPtr = make_cudaPitchedPtr(rows, 64, 64, 2);
    copy.extent = extent;
    copy.kind = cudaMemcpyDeviceToDevice;
    cudaMemcpy3D(&copy);
    copyElements<<<1, 64>>>(rows, out, 64);
}
PROGRAM(structsUnwritten) {
    Padded *structs = nullptr, *copies = nullptr;
    cudaMalloc(&structs, 32 * sizeof(Padded));
    cudaMalloc(&copies, 32 * sizeof(Padded));
    copyStructs<<<1, 32>>>(structs, copies);
}

// -- races in global memory
PROGRAM(twoSteps) {
    int *a = filled(), *out = filled();
    void* arguments[] = {&a, &out};
    if (cudaLaunchCooperativeKernel((void*)twoSteps<true>, 2, 64, arguments) != cudaSuccess) {
        std::exit(3);
    }
}
PROGRAM(launchesInOrder) {
    int* a = filled();
    writeIndices<<<2, 128>>>(a, kCount);
    tree<<<1, 256>>>(a);
    copyElements<<<4, 64>>>(a, deviceInts(), kCount);
}

// -- addresses
PROGRAM(packedValues) {
    Tagged* in = nullptr;
    cudaMalloc(&in, 32 * sizeof(Tagged));
    cudaMemset(in, 1, 32 * sizeof(Tagged));
    readTagged<<<1, 32>>>(in, filled());
}

// -- malloc() in kernels
PROGRAM(heapInHostCode) {
    keepsOnHeap<<<1, 1>>>();
    int* memory = nullptr;
    cudaMemcpyFromSymbol(&memory, keptOnHeap, sizeof(memory));
    if (*memory != 1) std::exit(3);  // host-reads-heap
}

// -- a kernel that does not end
PROGRAM(spins) {
    std::promise<void> ready;
    std::thread([&ready] { launchAndIdle(ready); }).detach();
    ready.get_future().wait();
    int* flag = filled();
    cudaMemset(flag, 0, kBytes);
    spin<<<1, 32>>>(flag);
}

// -- those of one launch

const std::map<std::string, std::function<void()>> kOfOneLaunch = {
    // -- errors that nobody looks at
    {"blockTooLarge", [] { addAtomically<<<1, 2048>>>(filled()); }},  // block-too-large
    {"childRefused", [] { launchesTooMany<<<1, 1>>>(filled()); }},
    // -- a kernel and the ones that it launches
    {"childBeforeBarrier", [] { fillsForChild<false><<<1, 256>>>(filled(), filled()); }},
    {"childBehindBarrier", [] { fillsForChild<true><<<1, 256>>>(filled(), filled()); }},
    {"goesOnBesideChild", [] { goesOnBesideChild<<<1, 32>>>(filled(), filled()); }},
    {"readsFromChild", [] { readsFromChild<<<1, 32>>>(filled(), filled()); }},
    {"childOfOneBlock", [] { firstBlockLaunches<<<2, 1>>>(filled(), filled()); }},
    {"goesOnBesideGrandchild", [] { goesOnBesideGrandchild<<<1, 1>>>(filled(), filled()); }},
    {"childOfTheLastBlock", [] { lastBlockLaunches<<<4, 32>>>(filled(), filled()); }},
    {"nothingLaunched", [] { cudaFree(filled()); }},
    // -- memory that nobody wrote
    {"sharedBinsNotCleared", [] { countInShared<<<1, 64>>>(filled(), filled()); }},
    {"exchangesFresh", [] { setByExchange<<<1, 1>>>(deviceInts(1)); }},
    // -- races in global memory
    {"addOne", [] { addOne<<<1, 256>>>(filled()); }},
    {"addOneInBlocks", [] { addOne<<<4, 1>>>(filled()); }},
    {"addOneToVariable", [] { addOneToVariable<<<1, 64>>>(); }},
    {"addAtomically", [] { addAtomically<<<4, 64>>>(filled()); }},
    {"lastWins", [] { lastWins<<<1, 64>>>(filled()); }},
    {"allAgree", [] { allAgree<<<4, 64>>>(filled()); }},
    {"blocksDisagree", [] { blocksDisagree<<<4, 64>>>(filled()); }},
    {"smooth", [] { smooth<<<1, 256>>>(filled()); }},
    {"smoothInBlocks", [] { smooth<<<8, 32>>>(filled()); }},
    {"tree", [] { tree<<<1, 256>>>(filled()); }},
    {"treeOfWarp", [] { treeOfWarp<<<1, 32>>>(filled()); }},
    {"exchangeInWarp", [] { exchangeInWarp<<<1, 32>>>(filled()); }},
    {"bytesOfNeighbours", [] { bytesOfNeighbours<<<1, 128>>>((char*)filled()); }},
    {"ownBytes", [] { ownBytes<<<2, 128>>>((char*)filled()); }},
    {"addThenRead", [] { addThenRead<<<4, 32>>>(filled(), filled()); }},
    {"addByCas", [] { addByCasBoth<<<4, 64>>>((float*)filled()); }},
    {"looksBeforeUpdate", [] { looksBeforeUpdate<<<4, 64>>>(ascending(), filled()); }},
    {"breaksOutOfCas", [] { breaksOutOfCas<<<4, 64>>>(ascending(), filled()); }},
    {"readsThenAdds", [] { readsThenAdds<<<4, 32>>>(filled(), filled()); }},
    {"readsOldValue", [] { readsOldValue<<<4, 64>>>(filled(), filled()); }},
    {"readsOldValueSaysSo", [] { readsOldValueSaysSo<<<4, 64>>>(filled(), filled()); }},
    {"locksInShared", [] { locksInShared<true><<<1, 128>>>(filled()); }},
    {"locksInSharedWithoutFence", [] { locksInShared<false><<<1, 128>>>(filled()); }},
    {"lastWarp", [] { lastWarpAdds<4><<<2, 128>>>(filled(), filled()); }},
    {"lastWarpWithoutFence", [] { lastWarpAdds<0><<<2, 128>>>(filled(), filled()); }},
    {"lastWarpFewFences", [] { lastWarpAdds<1><<<2, 128>>>(filled(), filled()); }},
    {"fencesWithoutFlag", [] { fencesWithoutFlag<<<1, 64>>>(filled()); }},
    {"countsInShared", [] { countsInShared<<<1, 64>>>(filled(), filled()); }},
    {"clearThenAdd", [] { clearThenAdd<<<1, 64>>>(filled()); }},
    {"lastBlockWithoutFence",
     [] { lastBlockAdds<false><<<8, 32>>>(filled(), filled(), filled()); }},
    {"lastBlock", [] { lastBlockAdds<true><<<8, 32>>>(filled(), filled(), filled()); }},
    {"twoStepsWithoutBarrier", [] { twoSteps<false><<<4, 32>>>(filled(), filled()); }},
    // -- addresses
    {"oddPairs", [] { copyPairs<<<1, 32>>>((float2*)(filled() + 1), (float2*)filled()); }},
    {"evenPairs", [] { copyPairs<<<1, 32>>>((float2*)(filled() + 2), (float2*)filled()); }},
    {"oddQuads", [] { copyQuads<<<1, 32>>>((float4*)filled(), (float4*)(filled() + 2)); }},
    // -- malloc() in kernels
    {"heapOverrun", [] { fillsHeap<<<4, 64>>>(filled(), 65, 0); }},
    {"heapOverrunBefore", [] { fillsHeap<<<4, 64>>>(filled(), 64, -2); }},
    {"heapInBounds", [] { fillsHeap<<<200, 64>>>(filled(), 64, 0); }},
    {"heapEarlyFree", [] { sharesHeap<false><<<4, 64>>>(filled()); }},
    {"heapLateFree", [] { sharesHeap<true><<<400, 64>>>(filled()); }},
    {"heapUnwritten", [] { readsHeap<<<4, 32>>>(filled(), false); }},
    {"heapCleared", [] { readsHeap<<<4, 32>>>(filled(), true); }},
    {"heapRace", [] { shiftsOnHeap<false><<<1, 64>>>(filled()); }},
    {"heapNoRace", [] { shiftsOnHeap<true><<<1, 64>>>(filled()); }},
    {"heapDoubleFree", [] { freesTwice<<<4, 32>>>(); }},
    {"heapHostMemory", [] { freesThis<<<4, 32>>>(new int[4]); }},
    {"heapChild", [] { launchesWithHeap<<<2, 1>>>(filled()); }},
};

// planted NAME... runs these programs one after the other.
int main(int argc, char** argv) {
    programs().insert(kOfOneLaunch.begin(), kOfOneLaunch.end());
    cudaError_t error = cudaSuccess;
    for (int i = 1; i < argc && error == cudaSuccess; ++i) {
        const auto program = programs().find(argv[i]);
        if (program == programs().end()) return 2;
        program->second();
        error = cudaDeviceSynchronize();
        std::printf("%s: %s\n", argv[i], cudaGetErrorName(error));
    }
    return error == cudaSuccess ? 0 : 1;
}
