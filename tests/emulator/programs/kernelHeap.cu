// malloc(), free(), new and delete in kernels: memory that lives across launches, constructors; and
// the host's beside them.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "expect.cuh"

constexpr int kBlocks = 20;

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

int main() {
    int* out;
    CHECK(cudaMallocManaged(&out, 32 * sizeof(int)));
    allocateKept<<<kBlocks, 10>>>();
    for (int i = 0; i < 3; ++i) useKept<<<kBlocks, 10>>>();
    out[0] = 0;
    EXPECT_AFTER(out[0] == 3 * 45 * kBlocks, freeKept<<<kBlocks, 10>>>(out));

    EXPECT(objects() == 17);
    objectsInKernel<<<1, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; ++i) EXPECT(out[i] == 17);

    std::vector<int> onHost(1000, 1);
    void* (*const allocate)(size_t) = malloc;
    free(allocate(10));
    EXPECT(onHost[999] == 1);
    return 0;
}
