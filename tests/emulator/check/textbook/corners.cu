// For test_textbook.py: right programs as textbooks and courses have them. Each does something that
// looks like a mistake, and is none.

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <numeric>
#include <string>
#include <vector>

#include "programs.cuh"

static std::vector<int> upTo(int n) {
    std::vector<int> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

// ---- barriers

__global__ void sortUntilSorted(int* data, int n) {
    __shared__ int s[128];
    __shared__ bool swapped;
    int t = threadIdx.x;
    if (t < n) s[t] = data[t];
    do {
        __syncthreads();
        if (t == 0) swapped = false;
        __syncthreads();
        for (int phase = 0; phase < 2; phase++) {
            int i = 2 * t + phase;
            if (i + 1 < n && s[i] > s[i + 1]) {
                int temp = s[i];
                s[i] = s[i + 1];
                s[i + 1] = temp;
                swapped = true;
            }
            __syncthreads();
        }
    } while (swapped);
    if (t < n) data[t] = s[t];
}
static bool loopUntilUnchanged() {
    std::vector<int> values(90);
    for (int i = 0; i < 90; i++) values[i] = i * 37 % 91;
    int* data = toDevice(values);
    sortUntilSorted<<<1, 128>>>(data, 90);
    std::vector<int> result = toHost(data, 90);
    cudaFree(data);
    return std::is_sorted(result.begin(), result.end());
}

__global__ void countAndVote(const int* in, int* out) {
    int small = __syncthreads_count(in[threadIdx.x] < 50);
    int any = __syncthreads_or(in[threadIdx.x] == 70),
        all = __syncthreads_and(in[threadIdx.x] >= 0);
    if (threadIdx.x == 0) out[0] = small + 1000 * (any != 0) + 2000 * (all != 0);
}
static bool barriersThatCount() {
    int *in = toDevice(upTo(96)), *out;
    cudaMalloc(&out, sizeof(int));
    countAndVote<<<1, 96>>>(in, out);
    int result = toHost(out, 1)[0];
    cudaFree(in);
    cudaFree(out);
    return result == 3050;
}

// All threads of a block take the same way.
__global__ void oneBlockSums(int* data) {
    __shared__ int s[64];
    if (blockIdx.x == 1) {
        s[threadIdx.x] = data[64 + threadIdx.x];
        __syncthreads();
        for (int k = 32; k > 0; k /= 2) {
            if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
            __syncthreads();
        }
        data[64 + threadIdx.x] = s[0];
    } else {
        data[blockIdx.x * 64 + threadIdx.x] *= 2;
    }
}
static bool barrierInUniformBranch() {
    int* data = toDevice(upTo(192));
    oneBlockSums<<<3, 64>>>(data);
    std::vector<int> result = toHost(data, 192);
    cudaFree(data);
    return result[5] == 10 && result[64] == 64 * 95 + 32 && result[191] == 382;
}

// The first 16 lanes work together, and then the others.
__global__ void halvesOfWarps(const int* in, int* out) {
    __shared__ int s[32];
    int lane = threadIdx.x, value = in[lane];
    unsigned mask = lane < 16 ? 0xffff : 0xffff0000;
    s[lane] = value;
    if (lane < 16) {
        __syncwarp(mask);
        value += s[15 - lane];
        for (int k = 8; k > 0; k /= 2) value += __shfl_xor_sync(mask, value, k);
    } else {
        __syncwarp(mask);
        value -= s[47 - lane];
        value = __shfl_sync(mask, value, 31);
    }
    out[lane] = value;
}
static bool masks() {
    int *in = toDevice(upTo(32)), *out;
    cudaMalloc(&out, 32 * sizeof(int));
    halvesOfWarps<<<1, 32>>>(in, out);
    std::vector<int> result = toHost(out, 32);
    cudaFree(in);
    cudaFree(out);
    return result[0] == 240 && result[15] == 240 && result[16] == 15 && result[31] == 15;
}

// ---- what arrays hold

// Each kernel's tile begins at a multiple of 16 bytes, whatever the arrays of other kernels are.
// (Kernels of their own: the shared memory of each begins anew.)
template <int kKernel>
__global__ void tileOfQuads(const float* in, float* out) {
    __shared__ float tile[129];
    reinterpret_cast<float4*>(tile)[threadIdx.x] = reinterpret_cast<const float4*>(in)[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[127 - threadIdx.x];
}
static bool quadsInShared() {
    float *in = toDevice(std::vector<float>(128, 3)), *out;
    cudaMalloc(&out, 32 * sizeof(float));
    tileOfQuads<1><<<1, 32>>>(in, out);
    tileOfQuads<2><<<1, 32>>>(in, out);
    tileOfQuads<3><<<1, 32>>>(in, out);
    std::vector<float> result = toHost(out, 32);
    cudaFree(in);
    cudaFree(out);
    return result == std::vector<float>(32, 3);
}

// All of a tile by one index.
__global__ void fillFlat(float* out) {
    __shared__ float tile[8][9];
    float* flat = &tile[0][0];
    for (int i = threadIdx.x; i < 8 * 9; i += blockDim.x) flat[i] = i;
    __syncthreads();
    const float(*rows)[9] = tile;
    const float* end = tile[7] + 9;
    float sum = 0;
    for (const float* p = rows[threadIdx.x % 8]; p != end; p++) sum += *p;
    out[threadIdx.x] = sum;
}
static bool flatTiles() {
    float* out;
    cudaMalloc(&out, 32 * sizeof(float));
    fillFlat<<<1, 32>>>(out);
    std::vector<float> result = toHost(out, 32);
    cudaFree(out);
    return result[0] == 71 * 36 && result[7] == 9 * 67;
}

// Only three of the four numbers are ever written, but all four are loaded and stored.
__global__ void setPositions(float4* p) {
    int i = threadIdx.x;
    p[i].x = i;
    p[i].y = 2 * i;
    p[i].z = 3 * i;
}
__global__ void movePositions(float4* p) {
    float4 mine = p[threadIdx.x];
    mine.x += 1;
    mine.y += 1;
    mine.z += 1;
    p[threadIdx.x] = mine;
}
static bool threeOfFour() {
    float4* p;
    cudaMalloc(&p, 64 * sizeof(float4));
    setPositions<<<1, 64>>>(p);
    movePositions<<<1, 64>>>(p);
    std::vector<float4> result = toHost(p, 64);
    cudaFree(p);
    return result[10].x == 11 && result[10].y == 21 && result[10].z == 31;
}

struct Cell {
    unsigned char kind : 3, colour : 5;
    short weight;
    double energy;
};
__global__ void ageCells(const Cell* in, Cell* out) {
    __shared__ Cell cells[64];
    cells[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    Cell cell = cells[63 - threadIdx.x];
    cell.kind++;
    cell.colour += 2;
    cell.energy *= 2;
    out[threadIdx.x] = cell;
}
__global__ void makeCells(Cell* cells) {
    Cell& cell = cells[threadIdx.x];
    cell.kind = threadIdx.x % 4;
    cell.colour = threadIdx.x % 16;
    cell.weight = -1;
    cell.energy = threadIdx.x;
}
static bool bitFields() {
    // Behind a number that says how many there are: a cell must lie at a multiple of 8, not of 16.
    double* counted;
    Cell* out;
    cudaMalloc(&counted, sizeof(double) + 64 * sizeof(Cell));
    cudaMalloc(&out, 64 * sizeof(Cell));
    cudaMemset(counted, 0, sizeof(double) + 64 * sizeof(Cell));
    Cell* in = reinterpret_cast<Cell*>(counted + 1);
    makeCells<<<1, 64>>>(in);
    ageCells<<<1, 64>>>(in, out);
    std::vector<Cell> result = toHost(out, 64);
    cudaFree(counted);
    cudaFree(out);
    return result[0].kind == 4 && result[0].colour == 17 && result[0].energy == 126 &&
           result[0].weight == -1;
}

__global__ void reverseBytes(char* text, int n) {
    __shared__ char s[256];
    if (threadIdx.x < n) s[threadIdx.x] = text[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < n) text[threadIdx.x] = s[n - 1 - threadIdx.x];
}
static bool bytes() {
    std::string text = "a man, a plan: panama", reversed(text.rbegin(), text.rend());
    char* device = toDevice(std::vector<char>(text.begin(), text.end()));
    reverseBytes<<<1, 256>>>(device, (int)text.size());
    std::vector<char> result = toHost(device, text.size());
    cudaFree(device);
    return std::string(result.begin(), result.end()) == reversed;
}

// The same dynamic shared memory, first as numbers, then as points.
__global__ void twoUses(const int* in, float2* out) {
    extern __shared__ char raw[];
    int* numbers = (int*)raw;
    numbers[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    int other = numbers[(threadIdx.x + 1) % blockDim.x];
    __syncthreads();
    float2* points = (float2*)raw;
    points[threadIdx.x] = make_float2(other, -other);
    __syncthreads();
    out[threadIdx.x] = points[blockDim.x - 1 - threadIdx.x];
}
static bool sharedMemoryUsedTwice() {
    int* in = toDevice(upTo(32));
    float2* out;
    cudaMalloc(&out, 32 * sizeof(float2));
    twoUses<<<1, 32, 32 * sizeof(float2)>>>(in, out);
    std::vector<float2> result = toHost(out, 32);
    cudaFree(in);
    cudaFree(out);
    return result[0].x == 0 && result[31].x == 1 && result[1].y == -31;
}

__global__ void copyRows(const int* in, int* out, int length) {
    int mine[16];
    memcpy(mine, in + threadIdx.x * length, length * sizeof(int));
    for (int i = 0; i < length; i++) mine[i] *= 2;
    memset(out + threadIdx.x * 16, 0, 16 * sizeof(int));
    memcpy(out + threadIdx.x * 16, mine, length * sizeof(int));
}
static bool memoryFunctions() {
    int *in = toDevice(upTo(80)), *out;
    cudaMalloc(&out, 8 * 16 * sizeof(int));
    copyRows<<<1, 8>>>(in, out, 10);
    std::vector<int> result = toHost(out, 8 * 16);
    cudaFree(in);
    cudaFree(out);
    return result[0] == 0 && result[7 * 16 + 9] == 158 && result[7 * 16 + 10] == 0;
}

// The new buffer is larger than what there is to copy, and the old one was never full.
static bool growingArray() {
    int capacity = 4, size = 0, *data;
    cudaMalloc(&data, capacity * sizeof(int));
    for (int i = 0; i < 50; i++) {
        if (size == capacity) {
            int* larger;
            cudaMalloc(&larger, 2 * capacity * sizeof(int));
            cudaMemcpy(larger, data, capacity * sizeof(int), cudaMemcpyDeviceToDevice);
            cudaFree(data);
            data = larger;
            capacity *= 2;
        }
        cudaMemcpy(data + size++, &i, sizeof(int), cudaMemcpyHostToDevice);
    }
    int* copy;
    cudaMalloc(&copy, capacity * sizeof(int));
    cudaMemcpy(copy, data, capacity * sizeof(int), cudaMemcpyDeviceToDevice);
    bool ok = toHost(copy, size) == upTo(50);
    cudaFree(copy);
    cudaFree(data);
    return ok;
}

// ---- pointers

__device__ int* d_table;
__device__ int d_matrix[4][8];
__global__ void useTable() {
    d_matrix[threadIdx.y][threadIdx.x] = d_table[threadIdx.y * 8 + threadIdx.x] + 1;
}
static bool pointerInSymbol() {
    int *table = toDevice(upTo(32)), matrix[4][8];
    cudaMemcpyToSymbol(d_table, &table, sizeof(table));
    useTable<<<1, dim3(8, 4)>>>();
    cudaMemcpyFromSymbol(matrix, d_matrix, sizeof(matrix));
    int third[8];
    cudaMemcpyFromSymbol(third, d_matrix, sizeof(third), 2 * sizeof(third));
    cudaFree(table);
    return matrix[3][7] == 32 && third[1] == 18;
}

struct Network {
    int layers;
    float* weights[3];
    const char* name;  // the host's
};
__global__ void sumWeights(const Network* network, const float* bias, float* out) {
    float sum = bias ? *bias : 0;
    for (int i = 0; i < network->layers; i++) sum += network->weights[i][threadIdx.x];
    out[threadIdx.x] = sum;
}
static bool pointersInStructs() {
    Network network = {3, {}, "small"}, *d_network;
    for (int i = 0; i < 3; i++) network.weights[i] = toDevice(std::vector<float>(32, i + 1));
    cudaMalloc(&d_network, sizeof(Network));
    cudaMemcpy(d_network, &network, sizeof(Network), cudaMemcpyHostToDevice);
    // The address of a member of what the host cannot read.
    float* other = toDevice(std::vector<float>(32, 10));
    cudaMemcpy(&d_network->weights[1], &other, sizeof(other), cudaMemcpyHostToDevice);
    float* out;
    cudaMalloc(&out, 32 * sizeof(float));
    sumWeights<<<1, 32>>>(d_network, nullptr, out);
    std::vector<float> result = toHost(out, 32);
    for (float* weights : network.weights) cudaFree(weights);
    cudaFree(other);
    cudaFree(out);
    cudaFree(d_network);
    return result == std::vector<float>(32, 14);
}

__global__ void places(int* out) {
    alignas(8) char memory[16];
    int2* point = new (memory) int2{(int)threadIdx.x, 7};
    int* numbers = new int[point->y];
    for (int i = 0; i < point->y; i++) numbers[i] = point->x;
    int sum = 0;
    for (int i = 0; i < point->y; i++) sum += numbers[i];
    delete[] numbers;
    out[threadIdx.x] = sum;
}
static bool newInKernels() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    places<<<1, 32>>>(out);
    std::vector<int> result = toHost(out, 32);
    cudaFree(out);
    return result[31] == 217;
}

// ---- the host

__global__ void increment(int* data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i]++;
}

template <typename T>
struct ManagedAllocator {
    using value_type = T;
    ManagedAllocator() = default;
    template <typename U>
    ManagedAllocator(const ManagedAllocator<U>&) {}
    T* allocate(size_t count) {
        void* memory = nullptr;
        if (cudaMallocManaged(&memory, count * sizeof(T)) != cudaSuccess) throw std::bad_alloc();
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, size_t) { cudaFree(memory); }
    bool operator==(const ManagedAllocator&) const { return true; }
    bool operator!=(const ManagedAllocator&) const { return false; }
};
static bool managedVectors() {
    std::vector<int, ManagedAllocator<int>> data;
    for (int i = 0; i < 200; i++) data.push_back(i);
    increment<<<1, 256>>>(data.data(), 200);
    cudaDeviceSynchronize();
    data.insert(data.begin(), 0);
    std::vector<int> copy(data.begin(), data.end());
    return copy == upTo(201);
}

// While the device works on one array, the host works on another.
static bool hostWorksBeside() {
    int *a, *b;
    cudaMallocManaged(&a, 512 * sizeof(int));
    cudaMallocManaged(&b, 512 * sizeof(int));
    memset(a, 0, 512 * sizeof(int));
    increment<<<2, 256>>>(a, 512);
    for (int i = 0; i < 512; i++) b[i] = i;
    int sum = std::accumulate(b, b + 512, 0);
    cudaDeviceSynchronize();
    bool ok = std::count(a, a + 512, 1) == 512 && sum == 256 * 511;
    increment<<<2, 256>>>(b, 512);
    cudaMemcpy(a, b, 512 * sizeof(int), cudaMemcpyDefault);
    ok = ok && a[511] == 512;
    cudaFree(a);
    cudaFree(b);
    return ok;
}

// The legacy default stream waits for the others, and they for it.
static bool defaultStreamWaits() {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    std::vector<int> host = upTo(512);
    int* data = toDevice(host);
    increment<<<2, 256, 0, stream>>>(data, 512);
    increment<<<2, 256>>>(data, 512);
    increment<<<2, 256, 0, stream>>>(data, 512);
    bool ok = toHost(data, 512)[511] == 514;
    cudaStreamDestroy(stream);
    cudaFree(data);
    return ok;
}

// Memory that is not page-locked is read before the call returns.
static bool reusedPageable() {
    int chunk[128], *data;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMalloc(&data, 4 * sizeof(chunk));
    for (int k = 0; k < 4; k++) {
        std::fill(chunk, chunk + 128, k);
        cudaMemcpyAsync(data + k * 128, chunk, sizeof(chunk), cudaMemcpyHostToDevice, stream);
    }
    increment<<<2, 256, 0, stream>>>(data, 512);
    cudaStreamSynchronize(stream);
    std::vector<int> result = toHost(data, 512);
    cudaStreamDestroy(stream);
    cudaFree(data);
    return result[0] == 1 && result[511] == 4;
}

static bool allDevices() {
    int devices = 0;
    cudaGetDeviceCount(&devices);
    bool ok = devices > 0;
    std::vector<int*> data(devices);
    for (int d = 0; d < devices; d++) {
        cudaSetDevice(d);
        data[d] = toDevice(upTo(100));
        increment<<<1, 128>>>(data[d], 100);
    }
    for (int d = 0; d < devices; d++) {
        cudaSetDevice(d);
        cudaDeviceSynchronize();
        ok = ok && toHost(data[d], 100)[99] == 100;
        cudaFree(data[d]);
    }
    return ok;
}

static bool looksAtPointers() {
    int *device, *pinned;
    cudaMalloc(&device, sizeof(int));
    cudaMallocHost(&pinned, sizeof(int));
    cudaPointerAttributes ofDevice, ofPinned;
    cudaPointerGetAttributes(&ofDevice, device);
    cudaPointerGetAttributes(&ofPinned, pinned);
    size_t freeBytes, allBytes;
    cudaMemGetInfo(&freeBytes, &allBytes);
    printf("device memory at %p\n", (void*)device);
    cudaMemset(device, 0, sizeof(int));
    increment<<<1, 1>>>(device, 1);
    cudaMemcpy(pinned, device, sizeof(int), cudaMemcpyDeviceToHost);
    bool ok = device != nullptr && *pinned == 1 && ofDevice.type == cudaMemoryTypeDevice &&
              ofPinned.type == cudaMemoryTypeHost && freeBytes <= allBytes;
    cudaFree(device);
    cudaFreeHost(pinned);
    return ok;
}

// A stream of its own for each stage, and events between them, round after round.
static bool pipelineOfEvents() {
    const int rounds = 6, n = 256;
    cudaStream_t copies, work;
    cudaEvent_t filled[2], emptied[2];
    int *host, *device[2];
    cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking);
    cudaMallocHost(&host, rounds * n * sizeof(int));
    std::iota(host, host + rounds * n, 0);
    for (int b = 0; b < 2; b++) {
        cudaMalloc(&device[b], n * sizeof(int));
        cudaEventCreate(&filled[b]);
        cudaEventCreate(&emptied[b]);
    }
    for (int r = 0; r < rounds; r++) {
        int b = r % 2;
        cudaStreamWaitEvent(copies, emptied[b], 0);
        cudaMemcpyAsync(device[b], host + r * n, n * sizeof(int), cudaMemcpyHostToDevice, copies);
        cudaEventRecord(filled[b], copies);
        cudaStreamWaitEvent(work, filled[b], 0);
        increment<<<1, n, 0, work>>>(device[b], n);
        cudaMemcpyAsync(host + r * n, device[b], n * sizeof(int), cudaMemcpyDeviceToHost, work);
        cudaEventRecord(emptied[b], work);
    }
    cudaStreamSynchronize(work);
    bool ok = true;
    for (int i = 0; i < rounds * n; i++) ok = ok && host[i] == i + 1;
    for (int b = 0; b < 2; b++) {
        cudaFree(device[b]);
        cudaEventDestroy(filled[b]);
        cudaEventDestroy(emptied[b]);
    }
    cudaFreeHost(host);
    cudaStreamDestroy(copies);
    cudaStreamDestroy(work);
    return ok;
}

// ---- atomics of other kinds

__global__ void manyAtomics(int* words, unsigned long long* wide, float* real) {
    __shared__ unsigned long long s_wide;
    int t = threadIdx.x;
    if (t == 0) s_wide = 0;
    __syncthreads();
    atomicAdd(&s_wide, 1ull << 33);
    atomicOr(&words[0], 1 << (t % 32));
    atomicXor(&words[1], 1 << (t % 32));
    atomicAnd(&words[2], ~(1 << (t % 32)));
    atomicSub(&words[3], 2);
    atomicInc((unsigned*)&words[4], 9);
    atomicMax(wide, (unsigned long long)t << 40);
    if (t == 5) atomicExch(real, 2.5f);
    __syncthreads();
    if (t == 0) atomicAdd(wide, s_wide);
}
static bool atomics() {
    int* words = toDevice(std::vector<int>{0, 0, -1, 0, 0});
    unsigned long long* wide = toDevice(std::vector<unsigned long long>(1, 0));
    float* real = toDevice(std::vector<float>(1, 0));
    manyAtomics<<<1, 64>>>(words, wide, real);
    bool ok = toHost(words, 5) == std::vector<int>{-1, 0, 0, -128, 4} &&
              toHost(wide, 1)[0] == (63ull << 40) + (64ull << 33) && toHost(real, 1)[0] == 2.5f;
    cudaFree(words);
    cudaFree(wide);
    cudaFree(real);
    return ok;
}

// Some lanes have no element: the mask says which have one.
__global__ void sumOfTail(const int* in, int* sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mask = __ballot_sync(0xffffffff, i < n);
    if (i < n) {
        int active = __popc(mask), lane = threadIdx.x % 32, value = in[i];
        for (int offset = 16; offset > 0; offset /= 2) {
            int other = __shfl_down_sync(mask, value, offset);
            if (lane + offset < active) value += other;
        }
        if (lane == 0) atomicAdd(sum, value);
    }
}
static bool partOfAWarp() {
    int *in = toDevice(upTo(75)), *sum = toDevice(std::vector<int>(1, 0));
    sumOfTail<<<2, 64>>>(in, sum, 75);
    int result = toHost(sum, 1)[0];
    cudaFree(in);
    cudaFree(sum);
    return result == 75 * 37;
}

int main(int argc, char** argv) {
    return runProgram(argc, argv,
                      {{"loopUntilUnchanged", loopUntilUnchanged},
                       {"barriersThatCount", barriersThatCount},
                       {"barrierInUniformBranch", barrierInUniformBranch},
                       {"masks", masks},
                       {"quadsInShared", quadsInShared},
                       {"flatTiles", flatTiles},
                       {"threeOfFour", threeOfFour},
                       {"bitFields", bitFields},
                       {"bytes", bytes},
                       {"sharedMemoryUsedTwice", sharedMemoryUsedTwice},
                       {"memoryFunctions", memoryFunctions},
                       {"growingArray", growingArray},
                       {"pointerInSymbol", pointerInSymbol},
                       {"pointersInStructs", pointersInStructs},
                       {"newInKernels", newInKernels},
                       {"managedVectors", managedVectors},
                       {"hostWorksBeside", hostWorksBeside},
                       {"defaultStreamWaits", defaultStreamWaits},
                       {"reusedPageable", reusedPageable},
                       {"allDevices", allDevices},
                       {"looksAtPointers", looksAtPointers},
                       {"pipelineOfEvents", pipelineOfEvents},
                       {"atomics", atomics},
                       {"partOfAWarp", partOfAWarp}});
}
