// A template whose threads count in global memory what they find, letter by letter, in place of a
// register.
//
// expect: global accumulator, line 13

#include <cstdio>

template <typename T>
__global__ void countMatches(const T* text, T wanted, unsigned* counts, int perThread,
                             int threads) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < perThread; ++k) {
        if (text[k * threads + t] == wanted) ++counts[t];
    }
}

int main() {
    const int threads = 132 * 128, perThread = 24;
    int* text;
    unsigned* counts;
    cudaMallocManaged(&text, threads * perThread * sizeof(int));
    cudaMallocManaged(&counts, threads * sizeof(unsigned));
    for (int i = 0; i < threads * perThread; ++i) text[i] = 7;
    cudaMemset(counts, 0, threads * sizeof(unsigned));
    countMatches<int><<<132, 128>>>(text, 7, counts, perThread, threads);
    cudaDeviceSynchronize();
    bool right = true;
    for (int i = 0; i < threads; ++i) right = right && counts[i] == perThread;
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
