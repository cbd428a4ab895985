// malloc(), free(), new and delete in kernels: lists, buffers of blocks and of threads, memory that
// lives across launches, an exhausted heap, constructors; and the host's beside them.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "expect.cuh"

constexpr size_t kHeapBytes = size_t{4} << 20;
constexpr int kBlocks = 20, kThreads = 64;

struct Node {
    int value;
    Node* next;
};

__global__ void lists(int* out) {
    Node* head = nullptr;
    for (int i = 0; i < 10; ++i) head = new Node{i, head};
    int sum = 0;
    while (head != nullptr) {
        sum += head->value;
        Node* const first = head;
        head = head->next;
        delete first;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Many more blocks than stay apart: what one has freed, another one gets.
__global__ void buffersOfBlocks(int* out) {
    __shared__ int* data;
    if (threadIdx.x == 0) data = static_cast<int*>(malloc(blockDim.x * sizeof(int)));
    __syncthreads();
    data[threadIdx.x] = blockIdx.x + threadIdx.x;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = data[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) free(data);
}

__device__ int* kept[kBlocks];

__global__ void allocateKept() {
    if (threadIdx.x == 0) {
        kept[blockIdx.x] = static_cast<int*>(std::malloc(blockDim.x * sizeof(int)));
    }
    __syncthreads();
    kept[blockIdx.x][threadIdx.x] = 0;
}
__global__ void useKept() {
    kept[blockIdx.x][threadIdx.x] += threadIdx.x;
}
__global__ void freeKept(int* sum) {
    atomicAdd(sum, kept[blockIdx.x][threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) ::free(kept[blockIdx.x]);
}

// Takes all there is, and gives it back; then there is as much again.
__global__ void exhaust(int* blocks) {
    struct Link {
        Link* next;
        char rest[65536 - 16 - sizeof(Link*)];
    };
    for (int round = 0; round < 2; ++round) {
        Link* last = nullptr;
        for (;;) {
            Link* link = round == 0 ? static_cast<Link*>(malloc(sizeof(Link))) : new Link;
            if (link == nullptr) break;
            link->next = last;
            last = link;
            ++blocks[round];
        }
        while (last != nullptr) {
            Link* const next = last->next;
            if (round == 0) {
                free(last);
            } else {
                delete last;
            }
            last = next;
        }
    }
    // (volatile: clang++ takes memory that nobody uses for granted.)
    char* volatile tooLarge = static_cast<char*>(malloc(2 * kHeapBytes));
    blocks[2] = tooLarge == nullptr;
    tooLarge = new char[2 * kHeapBytes];
    blocks[3] = tooLarge == nullptr;
    free(nullptr);
    delete static_cast<int*>(nullptr);
}

struct Counted {
    int value;
    int* destroyed;
    __host__ __device__ Counted(int v, int* d) : value(v), destroyed(d) {}
    __host__ __device__ ~Counted() { ++*destroyed; }
};
struct alignas(64) Line {
    int values[16];
};
struct Zeros {
    int values[4] = {};
};
#define MAKE(T, ...) new T(__VA_ARGS__)

// Returns 17, on either side.
__host__ __device__ int objects() {
    int destroyed = 0;
    Counted* const one = MAKE(Counted, 7, &destroyed);
    int sum = one->value;
    delete one;
    Line* const line = new Line;
    sum += reinterpret_cast<size_t>(line) % alignof(Line) == 0 ? 1 : 100;
    line->values[15] = 1;
    sum += line->values[15];
    delete line;
    Zeros* const zeros = new Zeros[5];
    for (int i = 0; i < 5; ++i) sum += zeros[i].values[i % 4];
    delete[] zeros;
    alignas(Counted) unsigned char place[sizeof(Counted)];
    Counted* const placed = new (place) Counted(7, &destroyed);
    sum += placed->value;
    placed->~Counted();
    int* const none = new int[0];
    delete[] none;
    char* const text = static_cast<char*>(malloc(100));
    memset(text, 0, 100);
    sum += text[99] + destroyed - 1;
    free(text);
    return sum;
}
__global__ void objectsInKernel(int* out) {
    out[threadIdx.x] = objects();
}

__global__ void child(int* data, int a, int b, int c) {
    data[threadIdx.x] += a + b + c;
}
__global__ void parent(int** data) {
    *data = new int[kThreads];
    for (int i = 0; i < kThreads; ++i) (*data)[i] = i;
    child<<<1, kThreads>>>(*data, 1, 2, 3);
}
__global__ void sumAndFree(int** data, int* sum) {
    *sum = 0;
    for (int i = 0; i < kThreads; ++i) *sum += (*data)[i];
    delete[] *data;
}

int* filled(int count) {
    int* out;
    CHECK(cudaMallocManaged(&out, count * sizeof(int)));
    for (int i = 0; i < count; ++i) out[i] = 0;
    return out;
}

int main() {
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, kHeapBytes));
    int* out = filled(500 * kThreads);
    lists<<<2, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; ++i) EXPECT(out[i] == 45);

    buffersOfBlocks<<<500, kThreads>>>(out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 500 * kThreads; ++i) {
        EXPECT(out[i] == i / kThreads + kThreads - 1 - i % kThreads);
    }

    allocateKept<<<kBlocks, 10>>>();
    for (int i = 0; i < 3; ++i) useKept<<<kBlocks, 10>>>();
    int* first;
    CHECK(cudaMemcpyFromSymbol(&first, kept, sizeof(first)));
    int value;
    EXPECT(cudaMemcpy(&value, first, sizeof(value), cudaMemcpyDeviceToHost) ==
           cudaErrorInvalidValue);
    EXPECT(cudaFree(first) == cudaErrorInvalidValue);
    cudaGetLastError();
    out[0] = 0;
    freeKept<<<kBlocks, 10>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[0] == 3 * 45 * kBlocks);

    int* blocks = filled(4);
    exhaust<<<1, 1>>>(blocks);
    CHECK(cudaDeviceSynchronize());
    const int most = kHeapBytes / 65536;
    EXPECT(blocks[0] > most / 2 && blocks[0] <= most);
    EXPECT(blocks[1] == blocks[0]);
    EXPECT(blocks[2] && blocks[3]);

    EXPECT(objects() == 17);
    objectsInKernel<<<1, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; ++i) EXPECT(out[i] == 17);

    int** data;
    CHECK(cudaMallocManaged(&data, sizeof(int*)));
    parent<<<1, 1>>>(data);
    sumAndFree<<<1, 1>>>(data, out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[0] == kThreads * (kThreads - 1) / 2 + 6 * kThreads);

    EXPECT(cudaDeviceSetLimit(cudaLimitMallocHeapSize, kHeapBytes) == cudaErrorInvalidValue);
    cudaGetLastError();
    size_t limit = 0;
    CHECK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    EXPECT(limit >= kHeapBytes);

    std::vector<int> onHost(1000, 1);
    void* (*const allocate)(size_t) = malloc;
    free(allocate(10));
    EXPECT(onHost[999] == 1);
    return 0;
}
