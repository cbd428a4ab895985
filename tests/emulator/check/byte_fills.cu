// For test_byte_fills.py: cudaMemset() with values that are meant for numbers, and right uses of
// it.
#include <cstdio>
#include <string>

constexpr int kN = 64;

template <class T>
__global__ void increase(T* data) {
    data[threadIdx.x] += 1;  // reads
}
__global__ void count(unsigned* data) {
    atomicAdd(data, 1u);  // counts
}
template <class T>
__global__ void write(T* data) {
    data[threadIdx.x] = 7;
}

int main(int, char** arguments) {
    const std::string what = arguments[1];
    const auto is = [&](const char* name) { return what == name; };
    int host[kN] = {};
    void* data;
    cudaMalloc(&data, kN * sizeof(double));
    cudaMemset(data, 0, kN * sizeof(double));
    if (is("ints")) {
        cudaMemset(data, 1, kN * sizeof(int));  // fills-ints
        increase<<<1, kN>>>(static_cast<int*>(data));
    } else if (is("doubles")) {
        cudaMemset2D(data, 64, 2, 64, kN / 8);  // fills-doubles
        increase<<<1, kN>>>(static_cast<double*>(data));
    } else if (is("counter")) {
        cudaMemsetAsync(data, 9, sizeof(int));  // fills-counter
        count<<<1, kN>>>(static_cast<unsigned*>(data));
    } else if (is("zeros")) {
        increase<<<1, kN>>>(static_cast<int*>(data));
    } else if (is("minusOnes")) {
        cudaMemset(data, 0xff, kN * sizeof(int));
        increase<<<1, kN>>>(static_cast<int*>(data));
    } else if (is("characters")) {
        cudaMemset(data, 1, kN);
        increase<<<1, kN>>>(static_cast<char*>(data));
    } else if (is("large")) {
        cudaMemset(data, 0x3f, kN * sizeof(int));  // a number above all others
        increase<<<1, kN>>>(static_cast<int*>(data));
    } else if (is("writtenFirst")) {
        cudaMemset(data, 1, kN * sizeof(int));
        write<<<1, kN>>>(static_cast<int*>(data));
        increase<<<1, kN>>>(static_cast<int*>(data));
    } else if (is("copiedFirst")) {
        for (int i = 0; i < kN; ++i) host[i] = 0x01010101;
        cudaMemset(data, 1, kN * sizeof(int));
        cudaMemcpy(data, host, sizeof(host), cudaMemcpyHostToDevice);
        increase<<<1, kN>>>(static_cast<int*>(data));
    }
    cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost);
    std::printf("%d\n", host[0]);
    cudaFree(data);
}
