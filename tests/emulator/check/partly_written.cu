// Memory of which a kernel writes a part, for test_partly_written.py: what the host and kernels do
// with the rest. The argument is a case.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

constexpr unsigned kN = 64;
constexpr size_t kBytes = kN * sizeof(int);

struct Item {  // with a gap between its members
    char kind;
    int value;
};

__global__ void firstHalf(int* a) {
    if (threadIdx.x < kN / 2) a[threadIdx.x] = threadIdx.x;
}
__global__ void everySecond(int* a) {
    if (threadIdx.x % 2 == 0) a[threadIdx.x] = threadIdx.x;
}
__global__ void fillItems(Item* items) {
    items[threadIdx.x].kind = 1;
    items[threadIdx.x].value = 2;
}
__global__ void readAll(const int* a, int* out) {
    out[threadIdx.x] = a[threadIdx.x];  // in-kernel
}

static int sumOf(const int* a, unsigned n) {
    return std::accumulate(a, a + n, 0);
}

int main(int, char** argv) {
    const std::string which = argv[1];
    const auto is = [&](const char* name) { return which == name; };
    int *device, *other, *managed;
    int host[kN];
    int sum = 0;
    cudaMalloc(&device, kBytes);
    cudaMalloc(&other, kBytes);
    cudaMallocManaged(&managed, kBytes);
    cudaMemset(other, 0, kBytes);

    if (is("hostUsesAll")) {
        firstHalf<<<1, kN>>>(device);
        cudaMemcpy(host, device, kBytes, cudaMemcpyDeviceToHost);  // copies-all
        for (unsigned i = 0; i < kN; ++i) sum += host[i];          // uses-all
    } else if (is("hostUsesGaps")) {
        everySecond<<<1, kN>>>(device);
        cudaMemcpy(host, device, kBytes, cudaMemcpyDeviceToHost);  // copies-gaps
        for (const int value : host) sum += value;                 // uses-gaps
    } else if (is("hostUsesWritten")) {
        firstHalf<<<1, kN>>>(device);
        cudaMemcpy(host, device, kBytes, cudaMemcpyDeviceToHost);
        sum = sumOf(host, kN / 2);
    } else if (is("hostFillsTheRest")) {
        firstHalf<<<1, kN>>>(device);
        cudaMemcpy(host, device, kBytes, cudaMemcpyDeviceToHost);
        for (unsigned i = kN / 2; i < kN; ++i) host[i] = 7;
        sum = sumOf(host, kN);
    } else if (is("copiedAgain")) {
        firstHalf<<<1, kN>>>(device);
        cudaMemcpy(host, device, kBytes, cudaMemcpyDeviceToHost);
        cudaMemset(device, 0, kBytes);
        cudaMemcpy(host, device, kBytes, cudaMemcpyDeviceToHost);
        sum = sumOf(host, kN);
    } else if (is("middleCopiedAgain")) {
        firstHalf<<<1, kN>>>(device);
        cudaMemcpy(host, device, kBytes, cudaMemcpyDeviceToHost);  // copies-around
        cudaMemcpy(host + 40, other, 32, cudaMemcpyDeviceToHost);
        for (unsigned i = 32; i < kN; ++i) sum += host[i];  // uses-around
    } else if (is("overTheDevice")) {
        firstHalf<<<1, kN>>>(device);
        cudaMemcpy(other, device, kBytes, cudaMemcpyDeviceToDevice);
        cudaMemcpy(host, other, kBytes, cudaMemcpyDeviceToHost);  // copies-copied
        sum = host[40];                                           // uses-copied
    } else if (is("rows")) {  // of 8 elements, of a matrix with 16 in a row: the last two are
                              // unwritten
        firstHalf<<<1, kN>>>(device);
        cudaMemcpy2D(host, 32, device, 64, 32, 4, cudaMemcpyDeviceToHost);  // copies-rows
        for (unsigned i = 0; i < 32; ++i) sum += host[i];                   // uses-rows
    } else if (is("memcpyAndUse")) {
        int again[kN];
        firstHalf<<<1, kN>>>(device);
        cudaMemcpy(host, device, kBytes, cudaMemcpyDeviceToHost);  // copies-on
        std::memcpy(again, host, kBytes);
        for (const int value : again) sum += value;  // uses-on
    } else if (is("memcpyAndUseWritten")) {
        firstHalf<<<1, kN>>>(device);
        cudaMemcpy(host, device, kBytes, cudaMemcpyDeviceToHost);
        const std::vector<int> again(host, host + kN);
        sum = sumOf(again.data(), kN / 2);
    } else if (is("compares")) {
        int expected[kN] = {};
        for (unsigned i = 0; i < kN / 2; ++i) expected[i] = static_cast<int>(i);
        firstHalf<<<1, kN>>>(device);
        cudaMemcpy(host, device, kBytes, cudaMemcpyDeviceToHost);  // copies-compared
        sum = std::memcmp(host, expected, kBytes);                 // uses-compared
    } else if (is("structs")) {
        Item* items;
        std::vector<Item> copies(kN);
        cudaMalloc(&items, kN * sizeof(Item));
        fillItems<<<1, kN>>>(items);
        cudaMemcpy(copies.data(), items, kN * sizeof(Item), cudaMemcpyDeviceToHost);
        for (const Item item : copies) sum += item.kind + item.value;
    } else if (is("managedRead")) {
        firstHalf<<<1, kN>>>(managed);
        cudaDeviceSynchronize();
        for (unsigned i = 0; i < kN; ++i) sum += managed[i];  // reads-managed
    } else if (is("managedFilled")) {
        for (unsigned i = kN / 2; i < kN; ++i) managed[i] = static_cast<int>(i);
        firstHalf<<<1, kN>>>(managed);
        cudaDeviceSynchronize();
        for (unsigned i = 0; i < kN; ++i) sum += managed[i];
    } else if (is("managedInKernel")) {
        for (unsigned i = 0; i < kN - 4; ++i) managed[i] = static_cast<int>(i);
        readAll<<<1, kN>>>(managed, other);
        cudaDeviceSynchronize();
    } else if (is("managedByLibrary")) {
        std::memset(managed, 0, kBytes / 2);
        std::fill(managed + kN / 2, managed + kN, 5);
        readAll<<<1, kN>>>(managed, other);
        cudaDeviceSynchronize();
        sum = sumOf(managed, kN);
    }
    std::printf("%d\n", sum);
}
