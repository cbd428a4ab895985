// CUDA_EMULATOR_SMS says how many multiprocessors there are, whatever the cores of the machine:
// here as many as the command line has it, or 3.
#include <cstdlib>

#include "expect.cuh"

// Each block waits until all are there, and all of its threads wait for that: so many stacks are
// needed at a time.
__global__ void meet(unsigned* arrived, unsigned* highestSm) {
    if (threadIdx.x == 0) {
        atomicMax(highestSm, emu::smid());
        atomicAdd(arrived, 1u);
        while (atomicAdd(arrived, 0u) < gridDim.x) {
        }
    }
    __syncthreads();
}

int main(int argc, char** argv) {
    const char* const wanted = argc > 1 ? argv[1] : "3";
    setenv("CUDA_EMULATOR_SMS", wanted, 1);
    const auto sms = static_cast<unsigned>(std::atoi(wanted));
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    EXPECT(device.multiProcessorCount == static_cast<int>(sms));

    unsigned* counts;
    CHECK(cudaMalloc(&counts, 2 * sizeof(unsigned)));
    CHECK(cudaMemset(counts, 0, 2 * sizeof(unsigned)));
    meet<<<sms, 1024>>>(counts, counts + 1);
    CHECK(cudaDeviceSynchronize());
    EXPECT(fetch(counts) == sms);
    EXPECT(fetch(counts + 1) < sms);
    return 0;
}
