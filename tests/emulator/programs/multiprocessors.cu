// CUDA_EMULATOR_SMS says how many multiprocessors there are, whatever the cores of the machine:
// here as many as the command line has it, or 3. With `old` behind it Linux is taken to be older
// than 6.13, which guards only what lies between two mappings; with `unguarded`, to have no
// mapping left.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>

#include "expect.cuh"

bool oldKernel, noMappings;

extern "C" int madvise(void* address, size_t size, int advice) noexcept {
    constexpr int kGuardInstall = 102;
    if (advice != kGuardInstall || !oldKernel) {
        return static_cast<int>(syscall(SYS_madvise, address, size, advice));
    }
    errno = EINVAL;
    return -1;
}

extern "C" int mprotect(void* address, size_t size, int protection) noexcept {
    if (!noMappings) {
        return static_cast<int>(syscall(SYS_mprotect, address, size, protection));
    }
    errno = ENOMEM;
    return -1;
}

// Each block waits until all are there, and all of its threads wait for that: so many stacks are
// needed at a time.
__device__ void waitForAll(unsigned* arrived) {
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1u);
        while (atomicAdd(arrived, 0u) < gridDim.x) {
        }
    }
    __syncthreads();
}

__global__ void meet(unsigned* arrived, unsigned* highestSm) {
    if (threadIdx.x == 0) atomicMax(highestSm, emu::smid());
    waitForAll(arrived);
}

__device__ int recursion(int depth) {
    volatile char frame[1000];
    frame[depth % 1000] = static_cast<char>(depth);
    return depth == 0 ? frame[0] : recursion(depth - 1) + frame[depth % 1000];
}

// A little more than a stack has, in one thread of each block but the first: the others wait.
__global__ void overflow(unsigned* arrived, int* out) {
    waitForAll(arrived);
    if (blockIdx.x > 0 && threadIdx.x == blockIdx.x * 7 % blockDim.x) *out = recursion(270);
    __syncthreads();
}

size_t mappings() {
    std::ifstream file("/proc/self/maps");
    size_t count = 0;
    for (std::string line; std::getline(file, line);) ++count;
    return count;
}

size_t mostMappings() {
    std::ifstream file("/proc/sys/vm/max_map_count");
    size_t count = 0;
    file >> count;
    return count;
}

int main(int argc, char** argv) {
    const char* const wanted = argc > 1 ? argv[1] : "3";
    oldKernel = argc > 2;
    noMappings = argc > 2 && std::string(argv[2]) == "unguarded";
    setenv("CUDA_EMULATOR_SMS", wanted, 1);
    const auto sms = static_cast<unsigned>(std::atoi(wanted));
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    EXPECT(device.multiProcessorCount == static_cast<int>(sms));

    unsigned* counts;
    CHECK(cudaMalloc(&counts, 3 * sizeof(unsigned)));
    CHECK(cudaMemset(counts, 0, 3 * sizeof(unsigned)));
    EXPECT_AFTER(fetch(counts) == sms, meet<<<sms, 1024>>>(counts, counts + 1));
    EXPECT(fetch(counts + 1) < sms);
    if (argc == 1) return 0;

    // The stacks are kept for the next grid. The OS threads need some mappings of their own.
    EXPECT(mappings() < mostMappings() / 5 * 4 + 5 * sms);

    int* out;
    CHECK(cudaMalloc(&out, sizeof(int)));
    overflow<<<sms, 1024>>>(counts + 2, out);
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);  // and stderr says why
    return 0;
}
