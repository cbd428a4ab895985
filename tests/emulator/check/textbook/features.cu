// For test_textbook.py: right programs as textbooks and courses have them. These show what device
// code can do beyond arithmetic: atomics, groups of threads, objects, its heap, its own launches.
#include <cooperative_groups.h>

#include <algorithm>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <set>
#include <vector>

#include "programs.cuh"

namespace cg = cooperative_groups;

template <typename T>
static std::vector<T> toHostAndFree(T* device, size_t count) {
    const std::vector<T> host = toHost(device, count);
    cudaFree(device);
    return host;
}
static std::vector<int> numbers(int n, int modulus) {
    std::vector<int> result(n);
    for (int i = 0; i < n; i++) result[i] = (i * 31 + 7) % modulus;
    return result;
}

// ---- functions and objects

typedef float (*Operation)(float, float);
__device__ float addition(float a, float b) {
    return a + b;
}
__device__ float product(float a, float b) {
    return a * b;
}
__device__ Operation d_addition = addition;
__device__ Operation d_product = product;
__global__ void combine(Operation operation, const float* a, const float* b, float* out) {
    out[threadIdx.x] = operation(a[threadIdx.x], b[threadIdx.x]);
}
static bool functionPointers() {
    Operation h_addition, h_product;
    cudaMemcpyFromSymbol(&h_addition, d_addition, sizeof(Operation));
    cudaMemcpyFromSymbol(&h_product, d_product, sizeof(Operation));
    float *a = toDevice(std::vector<float>(64, 3)), *b = toDevice(std::vector<float>(64, 4));
    float* out;
    cudaMalloc(&out, 64 * sizeof(float));
    combine<<<1, 64>>>(h_addition, a, b, out);
    combine<<<1, 64>>>(h_product, a, out, b);
    cudaFree(a);
    cudaFree(out);
    return toHostAndFree(b, 64) == std::vector<float>(64, 21);
}

class Shape {
  public:
    __device__ virtual ~Shape() {}
    __device__ virtual float area() const = 0;
};
class Square : public Shape {
  public:
    __device__ explicit Square(float side) : side(side) {}
    __device__ float area() const override { return side * side; }

  private:
    float side;
};
class Rectangle : public Shape {
  public:
    __device__ Rectangle(float w, float h) : w(w), h(h) {}
    __device__ float area() const override { return w * h; }

  private:
    float w, h;
};
__global__ void makeShapes(Shape** shapes, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    if (i % 2)
        shapes[i] = new Square(i);
    else
        shapes[i] = new Rectangle(i, 2);
}
__global__ void areas(Shape** shapes, float* out, int n) {
    if (threadIdx.x < n) out[threadIdx.x] = shapes[threadIdx.x]->area();
}
__global__ void deleteShapes(Shape** shapes, int n) {
    if (threadIdx.x < n) delete shapes[threadIdx.x];
}
static bool virtualFunctions() {
    const int n = 20;
    Shape** shapes;
    float* out;
    cudaMalloc(&shapes, n * sizeof(Shape*));
    cudaMalloc(&out, n * sizeof(float));
    makeShapes<<<1, 32>>>(shapes, n);
    areas<<<1, 32>>>(shapes, out, n);
    deleteShapes<<<1, 32>>>(shapes, n);
    cudaFree(shapes);
    std::vector<float> result = toHostAndFree(out, n);
    for (int i = 0; i < n; i++) {
        if (result[i] != (i % 2 ? i * i : 2 * i)) return false;
    }
    return true;
}

template <typename T, typename F>
__global__ void transform(const T* in, T* out, int n, F function) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = function(in[i]);
}
struct AddConstant {
    int constant;
    __host__ __device__ int operator()(int x) const { return x + constant; }
};
static bool functors() {
    const int n = 300;
    std::vector<int> h_in = numbers(n, 100);
    int *in = toDevice(h_in), *out, factor = 3;
    cudaMalloc(&out, n * sizeof(int));
    transform<<<3, 128>>>(in, out, n, AddConstant{5});
    transform<<<3, 128>>>(out, in, n, [=] __device__(int x) { return factor * x; });
    cudaFree(out);
    std::vector<int> result = toHostAndFree(in, n);
    for (int i = 0; i < n; i++) {
        if (result[i] != 3 * (h_in[i] + 5)) return false;
    }
    return true;
}

template <typename Key, typename Value>
__global__ void swapParts(Key* keys, Value* values) {
    extern __shared__ unsigned char memory[];
    Value* s_values = reinterpret_cast<Value*>(memory);
    Key* s_keys = reinterpret_cast<Key*>(&s_values[blockDim.x]);
    int i = threadIdx.x, other = blockDim.x - 1 - i;
    s_values[i] = values[i];
    s_keys[i] = keys[i];
    __syncthreads();
    values[i] = s_values[other];
    keys[i] = s_keys[other];
}
template <typename Key, typename Value>
static bool swapsParts(int n) {
    std::vector<Key> keys(n);
    std::vector<Value> values(n);
    std::iota(keys.begin(), keys.end(), Key(1));
    std::iota(values.begin(), values.end(), Value(0));
    Key* d_keys = toDevice(keys);
    Value* d_values = toDevice(values);
    swapParts<<<1, n, n * (sizeof(Key) + sizeof(Value))>>>(d_keys, d_values);
    std::reverse(keys.begin(), keys.end());
    std::reverse(values.begin(), values.end());
    return toHostAndFree(d_keys, n) == keys && toHostAndFree(d_values, n) == values;
}
static bool carvedSharedMemory() {
    return swapsParts<int, double>(50) && swapsParts<char, float>(51) && swapsParts<short, int>(64);
}

struct Message {
    int length;
    char text[];
};
__global__ void upperCase(Message* message) {
    int i = threadIdx.x;
    if (i < message->length && message->text[i] >= 'a' && message->text[i] <= 'z')
        message->text[i] -= 'a' - 'A';
}
static bool flexibleArray() {
    const char* text = "hello, world";
    size_t size = sizeof(Message) + strlen(text) + 1;
    Message *message = (Message*)malloc(size), *d_message;
    message->length = (int)strlen(text);
    strcpy(message->text, text);
    cudaMalloc(&d_message, size);
    cudaMemcpy(d_message, message, size, cudaMemcpyHostToDevice);
    upperCase<<<1, 32>>>(d_message);
    cudaMemcpy(message, d_message, size, cudaMemcpyDeviceToHost);
    bool ok = strcmp(message->text, "HELLO, WORLD") == 0;
    cudaFree(d_message);
    free(message);
    return ok;
}

__device__ int ackermann(int depth, int n) {
    return depth == 0 ? n + 1 : ackermann(depth - 1, n) + ackermann(depth - 1, n + 1);
}
__global__ void recurse(int* out) {
    out[threadIdx.x] = ackermann(8, threadIdx.x);
}
static bool recursion() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    recurse<<<1, 32>>>(out);
    std::vector<int> result = toHostAndFree(out, 32);
    for (int i = 0; i < 32; i++) {
        if (result[i] != 256 * (i + 1) + 1024) return false;
    }
    return true;
}

__device__ void sortSmall(int* values, int low, int high) {
    if (low >= high) return;
    int pivot = values[high], place = low;
    for (int i = low; i < high; i++) {
        if (values[i] >= pivot) continue;
        int t = values[i];
        values[i] = values[place];
        values[place++] = t;
    }
    values[high] = values[place];
    values[place] = pivot;
    sortSmall(values, low, place - 1);
    sortSmall(values, place + 1, high);
}
__global__ void medians(const int* in, int* out) {
    int mine[9];
    for (int i = 0; i < 9; i++) mine[i] = in[threadIdx.x * 9 + i];
    sortSmall(mine, 0, 8);
    out[threadIdx.x] = mine[4];
}
static bool localArrays() {
    std::vector<int> values = numbers(64 * 9, 211);
    int *in = toDevice(values), *out;
    cudaMalloc(&out, 64 * sizeof(int));
    medians<<<1, 64>>>(in, out);
    cudaFree(in);
    std::vector<int> result = toHostAndFree(out, 64);
    for (int i = 0; i < 64; i++) {
        std::sort(&values[9 * i], &values[9 * i] + 9);
        if (result[i] != values[9 * i + 4]) return false;
    }
    return true;
}

__global__ void hello() {
    printf("thread %d of block %d\n", threadIdx.x, blockIdx.x);
}
static bool printing() {
    hello<<<2, 4>>>();
    return cudaDeviceSynchronize() == cudaSuccess;
}

__global__ void mustBePositive(const int* data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) assert(data[i] >= 0);
}
static bool assertions() {
    int* data = toDevice(numbers(200, 50));
    mustBePositive<<<2, 128>>>(data, 200);
    bool ok = cudaDeviceSynchronize() == cudaSuccess;
    cudaFree(data);
    return ok;
}

__global__ void measured(const int* in, int* out, long long* cycles) {
    long long start = clock64();
    int sum = 0;
    for (int i = 0; i < 100; i++) sum += __ldg(&in[(threadIdx.x + i) % blockDim.x]);
    out[threadIdx.x] = sum;
    if (threadIdx.x == 0) *cycles = clock64() - start;
}
static bool clocks() {
    int *in = toDevice(std::vector<int>(64, 2)), *out;
    long long *d_cycles, cycles = -1;
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMalloc(&d_cycles, sizeof(long long));
    measured<<<1, 64>>>(in, out, d_cycles);
    cudaMemcpy(&cycles, d_cycles, sizeof(cycles), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(d_cycles);
    return toHostAndFree(out, 64) == std::vector<int>(64, 200) && cycles >= 0;
}

// ---- the device's heap

__global__ void mallocPerThread(int* out) {
    int* mine = (int*)malloc(10 * sizeof(int));
    if (mine == NULL) return;
    for (int i = 0; i < 10; i++) mine[i] = threadIdx.x + i;
    int sum = 0;
    for (int i = 0; i < 10; i++) sum += mine[i];
    out[threadIdx.x] = sum;
    free(mine);
}
__global__ void mallocPerBlock(int* out) {
    __shared__ int* data;
    if (threadIdx.x == 0) data = (int*)malloc(blockDim.x * sizeof(int));
    __syncthreads();
    if (data == NULL) return;
    data[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = data[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) free(data);
}
__device__ int* kept[4];
__global__ void mallocAndKeep() {
    if (threadIdx.x == 0) {
        kept[blockIdx.x] = (int*)malloc(blockDim.x * sizeof(int));
        memset(kept[blockIdx.x], 0, blockDim.x * sizeof(int));
    }
}
__global__ void useKept() {
    kept[blockIdx.x][threadIdx.x] += threadIdx.x;
}
__global__ void freeKept(int* out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = kept[blockIdx.x][threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) free(kept[blockIdx.x]);
}
static bool deviceHeap() {
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 * 1024 * 1024);
    int *each, *ofBlocks, *ofKept;
    cudaMalloc(&each, 64 * sizeof(int));
    cudaMalloc(&ofBlocks, 128 * sizeof(int));
    cudaMalloc(&ofKept, 128 * sizeof(int));
    mallocPerThread<<<1, 64>>>(each);
    mallocPerBlock<<<4, 32>>>(ofBlocks);
    mallocAndKeep<<<4, 32>>>();
    for (int i = 0; i < 3; i++) useKept<<<4, 32>>>();
    freeKept<<<4, 32>>>(ofKept);
    std::vector<int> a = toHostAndFree(each, 64), b = toHostAndFree(ofBlocks, 128),
                     c = toHostAndFree(ofKept, 128);
    return a[5] == 95 && b[0] == 31 && b[127] == 0 && c[127] == 93;
}

// ---- launches by kernels, and barriers of the grid

__global__ void child(int* data, int parent) {
    data[parent * 32 + threadIdx.x] = parent * 100 + threadIdx.x;
}
__global__ void parent(int* data) {
    child<<<1, 32>>>(data, threadIdx.x);
}
static bool childKernels() {
    int* data;
    cudaMalloc(&data, 4 * 32 * sizeof(int));
    parent<<<1, 4>>>(data);
    std::vector<int> result = toHostAndFree(data, 4 * 32);
    for (int i = 0; i < 4 * 32; i++) {
        if (result[i] != i / 32 * 100 + i % 32) return false;
    }
    return true;
}

__global__ void sortPart(int* data, int left, int right) {
    int l = left, r = right, pivot = data[(left + right) / 2];
    while (l <= r) {
        while (data[l] < pivot) l++;
        while (data[r] > pivot) r--;
        if (l <= r) {
            int t = data[l];
            data[l++] = data[r];
            data[r--] = t;
        }
    }
    cudaStream_t s1, s2;
    if (left < r) {
        cudaStreamCreateWithFlags(&s1, cudaStreamNonBlocking);
        sortPart<<<1, 1, 0, s1>>>(data, left, r);
        cudaStreamDestroy(s1);
    }
    if (l < right) {
        cudaStreamCreateWithFlags(&s2, cudaStreamNonBlocking);
        sortPart<<<1, 1, 0, s2>>>(data, l, right);
        cudaStreamDestroy(s2);
    }
}
static bool quicksortByChildren() {
    std::vector<int> values = numbers(100, 97);
    int* data = toDevice(values);
    sortPart<<<1, 1>>>(data, 0, 99);
    std::sort(values.begin(), values.end());
    return toHostAndFree(data, 100) == values;
}

__global__ void diffuse(float* a, float* b, int n, int steps) {
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank();
    for (int step = 0; step < steps; step++) {
        if (i < n) b[i] = (a[(i + n - 1) % n] + 2 * a[i] + a[(i + 1) % n]) / 4;
        grid.sync();
        float* t = a;
        a = b;
        b = t;
    }
}
static bool gridSync() {
    int n = 200, steps = 4, supported = 0;
    cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0);
    if (!supported) return false;
    std::vector<float> h_a(n, 0.0f), h_b(n);
    h_a[50] = 256;
    float *a = toDevice(h_a), *b;
    cudaMalloc(&b, n * sizeof(float));
    void* arguments[] = {&a, &b, &n, &steps};
    cudaLaunchCooperativeKernel((void*)diffuse, dim3(4), dim3(64), arguments, 0, 0);
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < n; i++)
            h_b[i] = (h_a[(i + n - 1) % n] + 2 * h_a[i] + h_a[(i + 1) % n]) / 4;
        h_a.swap(h_b);
    }
    cudaFree(b);
    return toHostAndFree(a, n) == h_a;
}

// The sums of blocks, which one of them adds up behind a barrier of the grid.
__global__ void gridSum(const int* in, int* sums, int n) {
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    extern __shared__ int temp[];
    int sum = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += in[i];
    temp[block.thread_rank()] = sum;
    cg::sync(block);
    for (int s = block.size() / 2; s > 0; s /= 2) {
        if (block.thread_rank() < s) temp[block.thread_rank()] += temp[block.thread_rank() + s];
        cg::sync(block);
    }
    if (block.thread_rank() == 0) sums[blockIdx.x] = temp[0];
    cg::sync(grid);
    if (grid.thread_rank() == 0) {
        for (int b = 1; b < gridDim.x; b++) sums[0] += sums[b];
    }
}
static bool gridReduction() {
    int n = 2000, *sums;
    std::vector<int> values = numbers(n, 113);
    int* in = toDevice(values);
    cudaMalloc(&sums, 4 * sizeof(int));
    void* arguments[] = {&in, &sums, &n};
    cudaLaunchCooperativeKernel((void*)gridSum, 4, 64, arguments, 64 * sizeof(int), 0);
    cudaFree(in);
    return toHostAndFree(sums, 4)[0] == std::accumulate(values.begin(), values.end(), 0);
}

// ---- warps

__global__ void keepLarge(const int* in, int* out, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, base = 0;
    bool keep = i < n && in[i] > 40;
    unsigned mask = __ballot_sync(0xffffffff, keep);
    if (lane == 0 && mask != 0) base = atomicAdd(count, __popc(mask));
    base = __shfl_sync(0xffffffff, base, 0);
    if (keep) out[base + __popc(mask & ((1u << lane) - 1))] = in[i];
}
static bool ballotCompaction() {
    const int n = 1000;
    std::vector<int> values = numbers(n, 97), expected;
    for (int value : values) {
        if (value > 40) expected.push_back(value);
    }
    int *in = toDevice(values), *out, *d_count, count = 0;
    cudaMalloc(&out, n * sizeof(int));
    d_count = toDevice(std::vector<int>(1, 0));
    keepLarge<<<(n + 127) / 128, 128>>>(in, out, d_count, n);
    cudaMemcpy(&count, d_count, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(d_count);
    std::vector<int> result = toHostAndFree(out, n);
    result.resize(count);
    std::sort(result.begin(), result.end());
    std::sort(expected.begin(), expected.end());
    return result == expected;
}

__global__ void votes(const int* in, int* out) {
    int i = threadIdx.x, value = in[i];
    int all = __all_sync(0xffffffff, value < 90), any = __any_sync(0xffffffff, value == 7);
    unsigned same = __match_any_sync(0xffffffff, value / 30);
    out[i] = all + 2 * any + 4 * __popc(same);
}
static bool warpVotes() {
    std::vector<int> values = numbers(128, 101), result;
    int *in = toDevice(values), *out;
    cudaMalloc(&out, 128 * sizeof(int));
    votes<<<1, 128>>>(in, out);
    cudaFree(in);
    result = toHostAndFree(out, 128);
    for (int i = 0; i < 128; i++) {
        int all = 1, any = 0, same = 0;
        for (int k = i / 32 * 32; k < i / 32 * 32 + 32; k++) {
            all = all && values[k] < 90;
            any = any || values[k] == 7;
            same += values[k] / 30 == values[i] / 30;
        }
        if (result[i] != all + 2 * any + 4 * same) return false;
    }
    return true;
}

__global__ void scanByWarps(const int* in, int* out) {
    __shared__ int ofWarps[8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, value = in[threadIdx.x];
    for (int offset = 1; offset < 32; offset *= 2) {
        int other = __shfl_up_sync(0xffffffff, value, offset);
        if (lane >= offset) value += other;
    }
    if (lane == 31) ofWarps[warp] = value;
    __syncthreads();
    for (int w = 0; w < warp; w++) value += ofWarps[w];
    out[threadIdx.x] = value;
}
static bool warpScan() {
    std::vector<int> values = numbers(256, 19);
    int *in = toDevice(values), *out;
    cudaMalloc(&out, 256 * sizeof(int));
    scanByWarps<<<1, 256>>>(in, out);
    cudaFree(in);
    std::partial_sum(values.begin(), values.end(), values.begin());
    return toHostAndFree(out, 256) == values;
}

__device__ int aggregatedAdd(int* counter) {
    cg::coalesced_group active = cg::coalesced_threads();
    int before = 0;
    if (active.thread_rank() == 0) before = atomicAdd(counter, active.size());
    return active.shfl(before, 0) + active.thread_rank();
}
__global__ void filterOdd(const int* in, int* out, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] % 2) out[aggregatedAdd(count)] = in[i];
}
static bool aggregatedAtomics() {
    std::vector<int> values = numbers(500, 50);
    int *in = toDevice(values), *out, *count = toDevice(std::vector<int>(1, 0));
    cudaMalloc(&out, 500 * sizeof(int));
    filterOdd<<<4, 128>>>(in, out, count, 500);
    cudaFree(in);
    std::vector<int> result = toHostAndFree(out, 500);
    result.resize(toHostAndFree(count, 1)[0]);
    return std::accumulate(result.begin(), result.end(), 0) ==
           std::accumulate(values.begin(), values.end(), 0,
                           [](int sum, int v) { return v % 2 ? sum + v : sum; });
}

// Each tile of 8 threads sorts its numbers.
__global__ void sortTiles(int* data) {
    __shared__ int s[64];
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::this_thread_block());
    int* mine = s + threadIdx.x / 8 * 8;
    int rank = tile.thread_rank();
    mine[rank] = data[threadIdx.x];
    tile.sync();
    for (int phase = 0; phase < 8; phase++) {
        if (rank % 2 == phase % 2 && rank < 7 && mine[rank] > mine[rank + 1]) {
            int t = mine[rank];
            mine[rank] = mine[rank + 1];
            mine[rank + 1] = t;
        }
        tile.sync();
    }
    data[threadIdx.x] = mine[rank];
}
static bool tiles() {
    std::vector<int> values = numbers(64, 59);
    int* data = toDevice(values);
    sortTiles<<<1, 64>>>(data);
    for (int i = 0; i < 64; i += 8) std::sort(values.begin() + i, values.begin() + i + 8);
    return toHostAndFree(data, 64) == values;
}

// ---- atomics between blocks

__device__ unsigned int finished = 0;
__global__ void sumOfAll(const float* in, int n, volatile float* partial, float* result) {
    __shared__ float s[128];
    __shared__ bool isLast;
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += in[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int k = 64; k > 0; k /= 2) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        unsigned int before = atomicInc(&finished, gridDim.x);
        isLast = before == gridDim.x - 1;
    }
    __syncthreads();
    if (isLast && threadIdx.x == 0) {
        sum = 0;
        for (int b = 0; b < gridDim.x; b++) sum += partial[b];
        *result = sum;
        finished = 0;
    }
}
static bool lastBlockSums() {
    std::vector<int> values = numbers(3000, 64);
    std::vector<float> floats(values.begin(), values.end());
    float *in = toDevice(floats), *partial, *result;
    cudaMalloc(&partial, 10 * sizeof(float));
    cudaMalloc(&result, sizeof(float));
    bool ok = true;
    for (int i = 0; i < 2; i++) {
        float sum = 0;
        sumOfAll<<<10, 128>>>(in, 3000, partial, result);
        cudaMemcpy(&sum, result, sizeof(float), cudaMemcpyDeviceToHost);
        ok = ok && sum == std::accumulate(values.begin(), values.end(), 0);
    }
    cudaFree(in);
    cudaFree(partial);
    cudaFree(result);
    return ok;
}

struct Lock {
    int* mutex;
    Lock() {
        cudaMalloc(&mutex, sizeof(int));
        cudaMemset(mutex, 0, sizeof(int));
    }
    __device__ void lock() {
        while (atomicCAS(mutex, 0, 1) != 0) {
        }
        __threadfence();
    }
    __device__ void unlock() {
        __threadfence();
        atomicExch(mutex, 0);
    }
};
__global__ void lockedSum(Lock lock, const int* in, int* sum, int* updates) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    atomicAdd(&s, in[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        lock.lock();
        *sum += s;
        *updates += 1;
        lock.unlock();
    }
}
static bool spinLock() {
    std::vector<int> values = numbers(20 * 64, 77);
    int *in = toDevice(values), *sums = toDevice(std::vector<int>(2, 0));
    Lock lock;
    lockedSum<<<20, 64>>>(lock, in, &sums[0], &sums[1]);
    std::vector<int> result = toHostAndFree(sums, 2);
    cudaFree(in);
    cudaFree(lock.mutex);
    return result[0] == std::accumulate(values.begin(), values.end(), 0) && result[1] == 20;
}

__device__ float atomicMaxFloat(float* address, float value) {
    int* bits = (int*)address;
    int old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
    } while (assumed != old);
    return __int_as_float(old);
}
__global__ void maximum(const float* in, float* result, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMaxFloat(result, in[i]);
}
static bool casLoopMaximum() {
    std::vector<float> values(1000);
    for (int i = 0; i < 1000; i++) values[i] = sinf(i);
    float *in = toDevice(values), *result = toDevice(std::vector<float>(1, -FLT_MAX));
    maximum<<<4, 256>>>(in, result, 1000);
    cudaFree(in);
    return toHostAndFree(result, 1)[0] == *std::max_element(values.begin(), values.end());
}

__device__ double addDouble(double* address, double value) {
    unsigned long long int* bits = (unsigned long long int*)address;
    unsigned long long int old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}
__global__ void sumDoubles(const int* in, double* sum) {
    addDouble(sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
}
static bool casLoopSum() {
    std::vector<int> values = numbers(512, 91);
    int* in = toDevice(values);
    double* sum = toDevice(std::vector<double>(1, 0));
    sumDoubles<<<4, 128>>>(in, sum);
    cudaFree(in);
    return toHostAndFree(sum, 1)[0] == std::accumulate(values.begin(), values.end(), 0);
}

#define EMPTY -1
__global__ void insertKeys(int* keys, int* counts, const int* in, int capacity, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int slot = in[i] * 17 % capacity;
    while (true) {
        int before = atomicCAS(&keys[slot], EMPTY, in[i]);
        if (before == EMPTY || before == in[i]) {
            atomicAdd(&counts[slot], 1);
            return;
        }
        slot = (slot + 1) % capacity;
    }
}
static bool hashTable() {
    const int capacity = 128, n = 600;
    std::vector<int> values = numbers(n, 83);
    int *in = toDevice(values), *keys, *counts;
    cudaMalloc(&keys, capacity * sizeof(int));
    cudaMalloc(&counts, capacity * sizeof(int));
    cudaMemset(keys, 0xff, capacity * sizeof(int));
    cudaMemset(counts, 0, capacity * sizeof(int));
    insertKeys<<<5, 128>>>(keys, counts, in, capacity, n);
    cudaFree(in);
    std::vector<int> h_keys = toHostAndFree(keys, capacity),
                     h_counts = toHostAndFree(counts, capacity);
    std::set<int> distinct(values.begin(), values.end());
    size_t found = 0;
    for (int slot = 0; slot < capacity; slot++) {
        if (h_keys[slot] == EMPTY) continue;
        found++;
        if (std::count(values.begin(), values.end(), h_keys[slot]) != h_counts[slot]) return false;
    }
    return found == distinct.size();
}

// Lists of what falls into a bucket, by atomicExch() of their heads.
__global__ void pushIntoBuckets(const int* in, int* heads, int* next, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) next[i] = atomicExch(&heads[in[i] % 16], i);
}
static bool bucketLists() {
    const int n = 400;
    std::vector<int> values = numbers(n, 199);
    int *in = toDevice(values), *heads = toDevice(std::vector<int>(16, -1)), *next;
    cudaMalloc(&next, n * sizeof(int));
    pushIntoBuckets<<<4, 128>>>(in, heads, next, n);
    cudaFree(in);
    std::vector<int> h_heads = toHostAndFree(heads, 16), h_next = toHostAndFree(next, n);
    int found = 0;
    for (int bucket = 0; bucket < 16; bucket++) {
        for (int i = h_heads[bucket]; i >= 0; i = h_next[i]) {
            if (values[i] % 16 != bucket) return false;
            found++;
        }
    }
    return found == n;
}

__device__ int nextJob;
__global__ void takeJobs(int* done, int jobs) {
    __shared__ int job;
    while (true) {
        if (threadIdx.x == 0) job = atomicAdd(&nextJob, 1);
        __syncthreads();
        if (job >= jobs) return;
        done[job * blockDim.x + threadIdx.x] += job + 1;
        __syncthreads();
    }
}
static bool workQueue() {
    const int jobs = 30, threads = 64, zero = 0;
    cudaMemcpyToSymbol(nextJob, &zero, sizeof(int));
    int* done = toDevice(std::vector<int>(jobs * threads, 0));
    takeJobs<<<4, threads>>>(done, jobs);
    std::vector<int> result = toHostAndFree(done, jobs * threads);
    for (int i = 0; i < jobs * threads; i++) {
        if (result[i] != i / threads + 1) return false;
    }
    return true;
}

__global__ void extremes(const int* in, int n, int* least, int* most) {
    __shared__ int s_least, s_most;
    if (threadIdx.x == 0) {
        s_least = INT_MAX;
        s_most = INT_MIN;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicMin(&s_least, in[i]);
        atomicMax(&s_most, in[i]);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicMin(least, s_least);
        atomicMax(most, s_most);
    }
}
static bool minimumAndMaximum() {
    std::vector<int> values = numbers(900, 1009);
    int* in = toDevice(values);
    int *least = toDevice(std::vector<int>(1, INT_MAX)),
        *most = toDevice(std::vector<int>(1, INT_MIN));
    extremes<<<8, 128>>>(in, 900, least, most);
    cudaFree(in);
    return toHostAndFree(least, 1)[0] == *std::min_element(values.begin(), values.end()) &&
           toHostAndFree(most, 1)[0] == *std::max_element(values.begin(), values.end());
}

// Each block takes a ticket, and waits for its turn.
__device__ unsigned tickets, turn;
__global__ void inTurn(int* log) {
    __shared__ unsigned mine;
    if (threadIdx.x == 0) {
        mine = atomicAdd(&tickets, 1u);
        while (atomicAdd(&turn, 0u) != mine) {
        }
        __threadfence();
        log[mine] = mine == 0 ? 1 : log[mine - 1] + (int)mine;
        __threadfence();
        atomicAdd(&turn, 1u);
    }
}
static bool ticketLock() {
    const int blocks = 12;
    unsigned zero = 0;
    cudaMemcpyToSymbol(tickets, &zero, sizeof(zero));
    cudaMemcpyToSymbol(turn, &zero, sizeof(zero));
    int* log;
    cudaMalloc(&log, blocks * sizeof(int));
    inTurn<<<blocks, 32>>>(log);
    return toHostAndFree(log, blocks)[blocks - 1] == 1 + 66;
}

int main(int argc, char** argv) {
    return runProgram(argc, argv,
                      {{"functionPointers", functionPointers},
                       {"virtualFunctions", virtualFunctions},
                       {"functors", functors},
                       {"carvedSharedMemory", carvedSharedMemory},
                       {"flexibleArray", flexibleArray},
                       {"recursion", recursion},
                       {"localArrays", localArrays},
                       {"printing", printing},
                       {"assertions", assertions},
                       {"clocks", clocks},
                       {"deviceHeap", deviceHeap},
                       {"childKernels", childKernels},
                       {"quicksortByChildren", quicksortByChildren},
                       {"gridSync", gridSync},
                       {"gridReduction", gridReduction},
                       {"ballotCompaction", ballotCompaction},
                       {"warpVotes", warpVotes},
                       {"warpScan", warpScan},
                       {"aggregatedAtomics", aggregatedAtomics},
                       {"tiles", tiles},
                       {"lastBlockSums", lastBlockSums},
                       {"spinLock", spinLock},
                       {"casLoopMaximum", casLoopMaximum},
                       {"casLoopSum", casLoopSum},
                       {"hashTable", hashTable},
                       {"bucketLists", bucketLists},
                       {"workQueue", workQueue},
                       {"minimumAndMaximum", minimumAndMaximum},
                       {"ticketLock", ticketLock}});
}
