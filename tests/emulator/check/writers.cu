// For test_writers.py: prints, a line for each case, who wrote a value that the host has.
#include <emu/writer.h>

#include <cstdio>
#include <string>
#include <vector>

constexpr int kThreads = 8, kBlocks = 3, kCount = kThreads * kBlocks;

__global__ void number(int* out) {
    const int i = blockIdx.x * kThreads + threadIdx.y * 4 + threadIdx.x;
    out[i] = 1000 + i;          // store
    if (i == 5) out[i] = 2000;  // second store
}
__global__ void numberOnce(int* out) {
    out[blockIdx.x * kThreads + threadIdx.y * 4 + threadIdx.x] = 3000;  // once
}
__global__ void count(int* out) {
    atomicAdd(out, 1);
}

std::vector<int> copied(const int* device) {
    std::vector<int> host(kCount);
    cudaMemcpy(host.data(), device, kCount * sizeof(int), cudaMemcpyDeviceToHost);
    return host;
}

void show(const char* what, const int& value) {
    printf("%s: %s\n", what, emu::writerOf(&value, sizeof(value)).c_str());
}

int main() {
    int *device = nullptr, *other = nullptr;
    cudaMalloc(&device, kCount * sizeof(int));
    cudaMalloc(&other, kCount * sizeof(int));
    const dim3 block(4, kThreads / 4);
    cudaMemset(device, 0, kCount * sizeof(int));
    number<<<kBlocks, block>>>(device);

    std::vector<int> host = copied(device);
    show("first", host[0]);
    show("last", host[kCount - 1]);
    show("written twice", host[5]);
    const std::vector<int> moved = host;
    show("copied by the host", moved[1]);
    host[1] = 7;
    show("changed by the host", host[1]);

    cudaMemset(device, 0, sizeof(int));
    host = copied(device);
    show("filled since", host[0]);
    show("beside what was filled", host[1]);

    numberOnce<<<kBlocks, block>>>(other);
    host = copied(device);
    show("by a launch before the last", host[1]);
    host = copied(other);
    show("by the last launch", host[1]);
    count<<<1, 1>>>(other);
    host = copied(other);
    show("changed by an atomic", host[0]);
    int* managed = nullptr;
    cudaMallocManaged(&managed, kCount * sizeof(int));
    numberOnce<<<kBlocks, block>>>(managed);
    cudaDeviceSynchronize();
    managed[1] = 9;
    host = copied(managed);
    show("changed by the host where it was", host[1]);

    cudaFree(managed);
    cudaFree(device);
    cudaFree(other);
}
