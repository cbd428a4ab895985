// Copies to and from device symbols.
#include <numeric>
#include <vector>

#include "fixture.h"

__device__ float values[100];
__constant__ int coefficients[4];
static __device__ double scalar;
__device__ float* pointerSymbol;
__device__ const int fixedSymbol[2] = {3, 4};
__device__ float untouched[4];
__device__ double namedByItsFirstElement[8];

namespace {

using SymbolTest = RuntimeTest;

TEST_F(SymbolTest, RoundTripWithOffsets) {
    std::vector<float> in(100), out(100);
    std::iota(in.begin(), in.end(), 1.0f);
    EXPECT_OK(cudaMemcpyToSymbol(values, in.data(), 400));
    EXPECT_OK(cudaMemcpyFromSymbol(out.data(), values, 400));
    EXPECT_EQ(in, out);
    const float seven = 7;
    float back = 0;
    EXPECT_OK(cudaMemcpyToSymbol(values, &seven, 4, 396));
    EXPECT_OK(cudaMemcpyFromSymbol(&back, values, 4, 396));
    EXPECT_EQ(7, back);
    EXPECT_EQ(7, values[99]);
    EXPECT_EQ(99, values[98]);

    const double half = 0.5;
    EXPECT_OK(cudaMemcpyToSymbol(scalar, &half, sizeof(half)));
    EXPECT_EQ(0.5, scalar);
    float* device = deviceArray<float>(1);
    EXPECT_OK(cudaMemcpyToSymbol(pointerSymbol, &device, sizeof(device)));
    EXPECT_EQ(device, pointerSymbol);
    const int four[4] = {1, 2, 3, 4};
    EXPECT_OK(cudaMemcpyToSymbolAsync(coefficients, four, sizeof(four), 0, cudaMemcpyHostToDevice,
                                      cudaStreamPerThread));
    EXPECT_EQ(4, coefficients[3]);
}

TEST_F(SymbolTest, SizesBoundTheCopy) {
    float host[200] = {};
    EXPECT_INVALID(cudaMemcpyToSymbol(values, host, 404));
    EXPECT_INVALID(cudaMemcpyToSymbol(values, host, 8, 396));
    EXPECT_INVALID(cudaMemcpyToSymbol(values, host, 4, SIZE_MAX));
    EXPECT_INVALID(cudaMemcpyFromSymbol(host, values, 404));
    EXPECT_INVALID(cudaMemcpyToSymbol(values, nullptr, 4));
    EXPECT_INVALID(cudaMemcpyFromSymbol(nullptr, values, 4));
    EXPECT_INVALID(cudaMemcpyToSymbolAsync(values, host, 404, 0, cudaMemcpyHostToDevice));
    EXPECT_OK(cudaMemcpyToSymbol(values, host, 0, 404));
}

TEST_F(SymbolTest, Directions) {
    float host[4] = {}, *device = deviceArray<float>(4);
    ASSERT_OK(cudaMemset(device, 0, 16));
    const auto to = [&](const void* src, cudaMemcpyKind kind) {
        return cudaMemcpyToSymbol(values, src, 4, 0, kind);
    };
    EXPECT_FAILS(cudaErrorInvalidMemcpyDirection, to(host, cudaMemcpyDeviceToHost));
    EXPECT_FAILS(cudaErrorInvalidMemcpyDirection, to(host, cudaMemcpyHostToHost));
    EXPECT_FAILS(cudaErrorInvalidMemcpyDirection, to(host, static_cast<cudaMemcpyKind>(9)));
    EXPECT_INVALID(to(host, cudaMemcpyDeviceToDevice));
    EXPECT_OK(to(device, cudaMemcpyDeviceToDevice));
    EXPECT_OK(to(host, cudaMemcpyDefault));
    EXPECT_FAILS(cudaErrorInvalidMemcpyDirection,
                 cudaMemcpyFromSymbol(host, values, 4, 0, cudaMemcpyHostToDevice));
    EXPECT_OK(cudaMemcpyFromSymbol(device, values, 4, 0, cudaMemcpyDeviceToDevice));
    EXPECT_OK(cudaMemcpyFromSymbol(host, values, 4, 0, cudaMemcpyDefault));
}

TEST_F(SymbolTest, AddressAndSize) {
    void* address = nullptr;
    size_t size = 0;
    float host[100] = {2}, *device = deviceArray<float>(100);
    EXPECT_OK(cudaGetSymbolAddress(&address, values));
    EXPECT_EQ(values, address);
    EXPECT_OK(cudaGetSymbolSize(&size, values));
    EXPECT_EQ(400u, size);
    EXPECT_OK(cudaGetSymbolSize(&size, scalar));
    EXPECT_EQ(sizeof(double), size);
    // Through its address a symbol is device memory like any other, but for freeing it.
    EXPECT_OK(cudaMemcpy(address, host, 400, cudaMemcpyHostToDevice));
    EXPECT_EQ(2, values[0]);
    EXPECT_INVALID(cudaMemcpy(address, host, 404, cudaMemcpyHostToDevice));
    EXPECT_OK(cudaMemcpy(device, address, 400, cudaMemcpyDeviceToDevice));
    EXPECT_OK(cudaMemset(address, 0, 400));
    EXPECT_EQ(0, values[0]);
    EXPECT_INVALID(cudaFree(address));
    EXPECT_INVALID(cudaGetSymbolAddress(nullptr, values));
}

TEST_F(SymbolTest, SymbolByItsAddress) {
    const float three = 3;
    size_t size = 0;
    const void* untyped = values;
    EXPECT_OK(cudaMemcpyToSymbol(untyped, &three, 4, 4));
    EXPECT_EQ(3, values[1]);
    EXPECT_INVALID(cudaMemcpyToSymbol(untyped, &three, 4, 400));
    EXPECT_OK(cudaGetSymbolSize(&size, untyped));
    EXPECT_EQ(400u, size);
    // The first element stands for the whole variable (another one stands for nothing).
    EXPECT_OK(cudaGetSymbolSize(&size, namedByItsFirstElement[0]));
    EXPECT_EQ(64u, size);
}

TEST_F(SymbolTest, WhatIsNoSymbol) {
    float host[4] = {}, *device = deviceArray<float>(4);
    void* address = nullptr;
    EXPECT_FAILS(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(host, host, 4));
    EXPECT_FAILS(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(*device, host, 4));
    EXPECT_FAILS(cudaErrorInvalidSymbol, cudaMemcpyFromSymbol(host, &values, 4));  // a temporary
    EXPECT_FAILS(cudaErrorInvalidSymbol,
                 cudaMemcpyToSymbol(static_cast<const void*>(nullptr), host, 4));
    EXPECT_FAILS(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&address, host));
    EXPECT_FAILS(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&address, values[2]));
}

// The classic mistake: a symbol's name where a device pointer is needed.
TEST(SymbolAsPointerTest, SymbolIsNoDevicePointer) {
    const float host[4] = {};
    EXPECT_INVALID(cudaMemcpy(untouched, host, 16, cudaMemcpyHostToDevice));
    EXPECT_INVALID(cudaMemset(untouched, 0, 16));
}

TEST_F(SymbolTest, ConstantsCannotBeChanged) {
    int two[2] = {};
    EXPECT_OK(cudaMemcpyFromSymbol(two, fixedSymbol, sizeof(two)));
    EXPECT_EQ(4, two[1]);
    EXPECT_FAILS(cudaErrorNotSupported, cudaMemcpyToSymbol(fixedSymbol, two, sizeof(two)));
}

}  // namespace
