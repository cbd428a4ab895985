// For test_stream_pairs.py: a kernel writes in one stream, then another one reads in another
// stream.
//
//   stream_pairs FIRST SECOND   each a letter: 0 stream 0, L legacy, T of the thread, B and b
//   blocking,
//                               N and n non-blocking; c: cudaMemcpy() and the like, which take none
//
// Built twice: with the legacy default stream, and with that of the thread.
#include <cstdio>
#include <cstring>
#include <map>

constexpr int kCount = 256;

__global__ void write(int* d) {
    d[threadIdx.x] = 1;
}
__global__ void read(const int* d, int* out) {
    out[threadIdx.x] = d[threadIdx.x];
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    std::map<char, cudaStream_t> streams = {
        {'0', nullptr}, {'L', cudaStreamLegacy}, {'T', cudaStreamPerThread}};
    for (const char blocking : {'B', 'b'}) cudaStreamCreate(&streams[blocking]);
    for (const char nonBlocking : {'N', 'n'})
        cudaStreamCreateWithFlags(&streams[nonBlocking], cudaStreamNonBlocking);
    int *d = nullptr, *out = nullptr;
    cudaMalloc(&d, kCount * sizeof(int));
    cudaMalloc(&out, kCount * sizeof(int));
    const char first = *argv[1], second = *argv[2];
    if (first == 'c') {
        cudaMemset(d, 0, kCount * sizeof(int));
    } else {
        write<<<1, kCount, 0, streams.at(first)>>>(d);
    }
    if (second == 'c') {
        cudaMemcpy(out, d, kCount * sizeof(int), cudaMemcpyDeviceToDevice);
    } else {
        read<<<1, kCount, 0, streams.at(second)>>>(d, out);
    }
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
