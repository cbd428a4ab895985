// Every way to declare shared memory.
#include <cstdint>

#include "expect.cuh"

// For templates: one name cannot have two types.
template <class T>
struct SharedMemory {
    __device__ operator T*() {
        extern __shared__ int memory[];
        return reinterpret_cast<T*>(memory);
    }
};
template <>
struct SharedMemory<double> {
    __device__ operator double*() {
        extern __shared__ double memoryOfDoubles[];
        return memoryOfDoubles;
    }
};

template <class T>
__global__ void reverse(T* data) {
    T* s = SharedMemory<T>();
    s[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

struct Tile {
    float data[8][8 + 1];
    __device__ float& at(int y, int x) { return data[y][x]; }
};
__global__ void kinds(int* out) {
    __shared__ int a, b[4], *p;
    __shared__ double cube[3][4][5];
    __shared__ float2 pairs[64];
    __shared__ bool done;
    __shared__ alignas(16) char raw[64];
    __shared__ Tile tile;
    __shared__ struct {
        int x;
        union {
            float f;
            int bits;
        } u;
    } s;
    const int t = threadIdx.x;
    if (t == 0) {
        a = 3;
        b[1] = 4;
        p = &b[1];
        cube[2][3][4] = 2.5;
        done = false;
        raw[5] = 6;
        s.x = 1;
        s.u.f = 1.0f;
    }
    pairs[t] = make_float2(t, -t);
    tile.at(t / 8, t % 8) = t;
    __syncthreads();
    if (t == 63) done = true;
    __syncthreads();
    const bool sound = a == 3 && *p == 4 && cube[2][3][4] == 2.5 && done && raw[5] == 6 &&
                       s.x == 1 && s.u.bits == 0x3f800000 &&
                       reinterpret_cast<uintptr_t>(raw) % 16 == 0;
    out[t] = sound ? static_cast<int>(pairs[63 - t].x + tile.at(t % 8, t / 8)) : -1;
}

extern __shared__ float ofTheFile[];
__device__ void doubleOwn() {
    ofTheFile[threadIdx.x] *= 2;
}
__global__ void fileScope(int* out) {
    ofTheFile[threadIdx.x] = threadIdx.x;
    doubleOwn();
    __syncthreads();
    out[threadIdx.x] = static_cast<int>(ofTheFile[(threadIdx.x + 1) % blockDim.x]);
}

__global__ void castsOfVolatile(int* out) {
    __shared__ int values[64];
    volatile int* v = values;
    v[threadIdx.x] = threadIdx.x;
    const int* plain = (int*)&v[threadIdx.x];
    const bool same = plain == v + threadIdx.x && plain == (int*)v + threadIdx.x;
    out[threadIdx.x] = same ? *plain : -1;
}

// Unrolled, the loop names rows far outside of the tile, of which g++ warns; nobody asks for them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
__global__ void rowsAbove(int* out, unsigned wanted) {
    __shared__ int tile[8][9];
    tile[threadIdx.x / 8][threadIdx.x % 8] = threadIdx.x;
    __syncthreads();
    int sum = 0;
    for (unsigned y = 0; y < 4; ++y) {
        if (wanted >> y & 1) sum += tile[y - 2][threadIdx.x % 8];
    }
    out[threadIdx.x] = sum;
}
#pragma GCC diagnostic pop

template <class T>
void expectReversed(T* data, void (*kernel)(T*)) {
    for (int i = 0; i < 64; ++i) data[i] = T(i);
    kernel<<<1, 64, 64 * sizeof(T)>>>(data);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; ++i) EXPECT(data[i] == T(63 - i));
}

int main(int count, char**) {
    int* out;
    CHECK(cudaMallocManaged(&out, 64 * sizeof(double)));
    expectReversed(out, reverse<int>);
    expectReversed(reinterpret_cast<double*>(out), reverse<double>);

    const auto run = [&](auto launch, auto expected) {
        launch();
        CHECK(cudaDeviceSynchronize());
        for (int t = 0; t < 64; ++t) EXPECT(out[t] == expected(t));
    };
    run([&] { kinds<<<3, 64>>>(out); }, [](int t) { return 63 - t + t % 8 * 8 + t / 8; });
    run([&] { fileScope<<<1, 64, 64 * sizeof(float)>>>(out); },
        [](int t) { return 2 * ((t + 1) % 64); });
    run([&] { castsOfVolatile<<<1, 64>>>(out); }, [](int t) { return t; });
    run([&] { rowsAbove<<<1, 64>>>(out, 12 * count); },  // of 2 and 3
        [](int t) { return t % 8 + (8 + t % 8); });
    return 0;
}
