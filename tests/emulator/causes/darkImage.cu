// A weighted histogram of each block in shared memory, of an image that is black for the most part:
// the lanes of a warp add to the same counter.
//
// expect: shared atomics, line 16

#include <cstdio>

using Count = unsigned int;

__global__ void histogram(const unsigned char* image, Count weight, Count* counts, int pixels) {
    __shared__ Count own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pixels; i += step) {
        atomicAdd(own + image[i], weight);
    }
    __syncthreads();
    if (own[threadIdx.x] > 0) atomicAdd(counts + threadIdx.x, own[threadIdx.x]);
}

int main() {
    const int pixels = 132 * 256 * 8;
    unsigned char* image;
    Count* counts;
    cudaMallocManaged(&image, pixels);
    cudaMallocManaged(&counts, 256 * sizeof(Count));
    for (int i = 0; i < pixels; ++i) image[i] = i % 33 ? 0 : 200;
    for (int i = 0; i < 256; ++i) counts[i] = 0;
    histogram<<<132, 256>>>(image, 1, counts, pixels);
    cudaDeviceSynchronize();
    const bool right = counts[200] == pixels / 33 && counts[0] == pixels - pixels / 33;
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
