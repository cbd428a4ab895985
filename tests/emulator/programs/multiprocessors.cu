// CUDA_EMULATOR_SMS says how many multiprocessors there are, whatever the cores of the machine:
// here as many as the command line has it, or 3.
#include <cstdlib>

#include "expect.cuh"

__global__ void noteSms(unsigned* highest) {
    atomicMax(highest, emu::smid());
}

int main(int argc, char** argv) {
    const char* const wanted = argc > 1 ? argv[1] : "3";
    setenv("CUDA_EMULATOR_SMS", wanted, 1);
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    EXPECT(device.multiProcessorCount == std::atoi(wanted));

    unsigned* highest;
    CHECK(cudaMalloc(&highest, sizeof(unsigned)));
    CHECK(cudaMemset(highest, 0, sizeof(unsigned)));
    noteSms<<<10000, 32>>>(highest);
    EXPECT(fetch(highest) < static_cast<unsigned>(device.multiProcessorCount));
    return 0;
}
