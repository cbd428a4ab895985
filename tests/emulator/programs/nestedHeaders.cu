// Kernels and launches in headers that other headers include.
#include <sstream>

#include "expect.cuh"
#include "nested/detail/../detail/kernels.cuh"
#include "nested/launchers.cuh"

__global__ void shift(int* data) {
    data[threadIdx.x] = shifted(data[threadIdx.x]);
}

int main() {
    int host[BLOCK], *device;
    for (int i = 0; i < BLOCK; ++i) host[i] = i;
    CHECK(cudaMalloc(&device, sizeof(host)));
    CHECK(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice));
    launchScale(device, 3, BLOCK);
    launchReverse(device);
    shift<<<1, BLOCK>>>(device);
    CHECK(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < BLOCK; ++i) EXPECT(host[i] == (BLOCK - 1 - i) * 3 + 4);

    std::ostringstream out;
    out << std::vector<int>{1, 2};
    EXPECT(out.str() == "14 24 ");
    return 0;
}
