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
    int i = 0, x = 7;
    unsigned char byte = 255;
    out[i++] = 1 << n;
    out[i++] = -5 >> n;
    out[i++] = 1 << -n;
    x <<= n;
    out[i++] = x;
    x = -7;
    x >>= n;
    out[i++] = x;
    out[i++] = byte << 24 >> n;
    out[i++] = bit<int, 3>(1);
    out[i++] = n > 3 && (x << n) == 0 ? 16 : -1;
    volatile int* lanes = out;
    lanes[i++] = lanes[6] << n;
    lanes[6] <<= n;
    unsignedOut[0] = ~0u >> n;
    unsignedOut[1] = 1u << threadIdx.x << n;
    unsignedOut[2] = (~0u - n) >> 40;
    wide[4] = static_cast<long long>(n) << 40;
    wide[0] = 1ll << n;
    wide[1] = 1ll << 2 * n;
    wide[2] = -1ll >> 2 * n;
    wide[3] = static_cast<long long>((Wide{3} << 2 * n).bits);
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
    out[i++] = (int)f;
    out[i++] = static_cast<int>(-d) + 1;
    out[i++] = ~(int)f;
    out[i++] = int(f / 1e9f) < (int)3 ? 1 : ~(int)2.5f;
    out[i++] = (short)(f / 1e4f);
    out[i++] = (unsigned char)(d / 1e8f);
    out[i++] = (int)(f * 1e30f * 0.0f);
    unsignedOut[0] = (unsigned)f;
    unsignedOut[1] = (unsigned)-f;
    wide[0] = (long long)f;
    wide[1] = (long long)(f * 1e20f);
    wide[2] = static_cast<long long>((size_t)(d * 1e20) == ULLONG_MAX);
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
    const int shifted[] = {0, -1, 0, 0, -1, -1, 0, 16, 0};
    for (int i = 0; i < 9; ++i) EXPECT(fetch(out + i) == shifted[i]);
    for (int i = 0; i < 3; ++i) EXPECT(fetch(unsignedOut + i) == 0);
    const long long shiftedWide[] = {1ll << 33, 0, -1, 1, 33ll << 40};
    for (int i = 0; i < 5; ++i) EXPECT(fetch(wide + i) == shiftedWide[i]);

    placesOfShifts<<<1, 1>>>(unsignedOut, 5, -5, 32);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 6; ++i) EXPECT(fetch(unsignedOut + i) == 0);

    casts<<<1, 1>>>(out, unsignedOut, wide, 3e9f, 1e11);
    CHECK(cudaDeviceSynchronize());
    const int cast[] = {INT_MAX, INT_MIN + 1, INT_MIN, ~2, 300000 % 65536 - 65536, 1000 % 256, 0};
    for (int i = 0; i < 7; ++i) EXPECT(fetch(out + i) == cast[i]);
    EXPECT(fetch(unsignedOut) == 3000000000u);
    EXPECT(fetch(unsignedOut + 1) == 0);
    EXPECT(fetch(wide) == 3000000000);
    EXPECT(fetch(wide + 1) == LLONG_MAX);
    EXPECT(fetch(wide + 2) == 1);
}
