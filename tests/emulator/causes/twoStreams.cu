// Copies in two streams, which shall overlap with kernels, but of memory out of std::vector.
//
// expect: pageable copies, line 26

#include <cstdio>
#include <vector>

__global__ void square(float* data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= data[i];
}

int main() {
    const int n = 132 * 512, parts = 2, bytes = n * sizeof(float);
    std::vector<float> host(parts * n, 3.0f);
    float* device[parts];
    cudaStream_t streams[parts];
    for (int p = 0; p < parts; ++p) {
        cudaMalloc(&device[p], bytes);
        cudaStreamCreate(&streams[p]);
    }
    for (int p = 0; p < parts; ++p) {
        float* part = &host[p * n];
        cudaMemcpyAsync(device[p], part, bytes, cudaMemcpyHostToDevice, streams[p]);
        square<<<132, 512, 0, streams[p]>>>(device[p], n);
        cudaMemcpyAsync(part, device[p], bytes, cudaMemcpyDeviceToHost, streams[p]);
    }
    cudaDeviceSynchronize();
    bool right = true;
    for (float value : host) right = right && value == 9;
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
