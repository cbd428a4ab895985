// Shifts and casts out of range, for which a GPU has results.
#include <climits>

#include "expect.cuh"

struct Wide {
    unsigned long long bits;
    __host__ __device__ Wide operator<<(int n) const { return {n < 64 ? bits << n : 1}; }
};

template <class T, int N>
__device__ T bit(T one) {
    __shared__ int table[1 << N];
    table[0] = 3;
    return (one << N) + table[0];
}

__global__ void shifts(int* out, unsigned* unsignedOut, long long* wide, int n) {
    int i = 0, x = -7;
    x >>= n;
    out[i++] = x;
    out[i++] = bit<int, 3>(1);
    out[i++] = n > 3 && (x << n) == 0 ? 16 : -1;
    volatile int* lanes = out;
    lanes[i++] = lanes[0] << n;
    lanes[0] <<= n;
    unsignedOut[0] = 1u << threadIdx.x << n;
    unsignedOut[1] = (~0u - n) >> 40;
    wide[0] = static_cast<long long>(n) << 40;
    wide[1] = 1ll << n;
    wide[2] = static_cast<long long>((Wide{3} << 2 * n).bits);
}

template <class... Values>
__device__ unsigned last(const char*, Values... values) {
    unsigned result = 0;
    ((result = static_cast<unsigned>(values)), ...);
    return result;
}

struct Parts {
    unsigned whole, halves[2], low : 4, high : 28;
    __device__ Parts(unsigned a, int n) : whole(a << n), halves{a << n, a >> n}, low(1), high(2) {}
};

// Arguments beside a string, members, what a constructor begins with, text that is indexed.
__global__ void placesOfShifts(unsigned* out, unsigned a, int b, int n) {
    printf("%x %x\n", a << n, b >> n);
    out[0] = last("a string", b >> n, a << n);
    Parts parts(a, n), *pointer = &parts;
    out[1] = parts.whole + parts.halves[0] + parts.halves[1];
    parts.whole = pointer->halves[0] = a;
    parts.whole <<= n;
    pointer->halves[0] >>= n;
    out[2] = parts.whole + parts.halves[0];
    parts.high <<= n - 31;
    out[3] = parts.high - 4;
    out[4] = static_cast<unsigned>("text"[1] << n);
    const char* size = (a << n) == 0 ? "small" : "large";
    out[5] = size[0] - 's';
}

__global__ void casts(int* out, unsigned* unsignedOut, long long* wide, float f, double d) {
    int i = 0;
    out[i++] = static_cast<int>(-d) + 1;
    out[i++] = ~(int)f;
    out[i++] = int(f / 1e9f) < (int)3 ? 1 : ~(int)2.5f;
    out[i++] = (short)(f / 1e4f);
    unsignedOut[0] = (unsigned)-f;
    wide[0] = static_cast<long long>((size_t)(d * 1e20) == ULLONG_MAX);
}

int main() {
    int* out;
    unsigned* unsignedOut;
    long long* wide;
    CHECK(cudaMalloc(&out, 16 * sizeof(int)));
    CHECK(cudaMalloc(&unsignedOut, 16 * sizeof(unsigned)));
    CHECK(cudaMalloc(&wide, 16 * sizeof(long long)));

    shifts<<<1, 1>>>(out, unsignedOut, wide, 33);
    CHECK(cudaDeviceSynchronize());
    const int shifted[] = {0, 11, 16, 0};
    for (int i = 0; i < 4; ++i) EXPECT(fetch(out + i) == shifted[i]);
    for (int i = 0; i < 2; ++i) EXPECT(fetch(unsignedOut + i) == 0);
    const long long shiftedWide[] = {33ll << 40, 1ll << 33, 1};
    for (int i = 0; i < 3; ++i) EXPECT(fetch(wide + i) == shiftedWide[i]);

    placesOfShifts<<<1, 1>>>(unsignedOut, 5, -5, 32);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 6; ++i) EXPECT(fetch(unsignedOut + i) == 0);

    casts<<<1, 1>>>(out, unsignedOut, wide, 3e9f, 1e11);
    CHECK(cudaDeviceSynchronize());
    const int cast[] = {INT_MIN + 1, INT_MIN, ~2, 300000 % 65536 - 65536};
    for (int i = 0; i < 4; ++i) EXPECT(fetch(out + i) == cast[i]);
    EXPECT(fetch(unsignedOut) == 0);
    EXPECT(fetch(wide) == 1);
}
