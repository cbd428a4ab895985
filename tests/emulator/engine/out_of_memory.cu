// Kernels that get no memory end the program, and say so.
#include <unistd.h>

#include "fixture.h"

namespace {

constexpr size_t kTooMuch = size_t{1} << 60;

__device__ int stage;
__device__ void* volatile memory;

__device__ void waitFor(int wanted) {
    while (atomicAdd(&stage, 0) != wanted) {
    }
}

// The first block runs out of memory while the second one does, and with a lock that this one needs
// to bring out what was printed.
__global__ void exhaustWithLock(size_t bytes) {
    if (blockIdx.x == 0) {
        flockfile(stdout);
        atomicExch(&stage, 1);
        waitFor(2);
        usleep(100000);  // in which the other one comes to where it needs the lock
    } else {
        waitFor(1);
        atomicExch(&stage, 2);
    }
    memory = ::operator new(bytes);
}

void exhaustInTwoBlocks() {
    alarm(30);  // an OS thread that waits for ever
    size_t bytes = kTooMuch;
    void* arguments[] = {&bytes};
    cudaLaunchCooperativeKernel((void*)exhaustWithLock, dim3(2), dim3(1), arguments);
}

TEST(OutOfMemoryDeathTest, InSeveralBlocks) {
    EXPECT_EXIT(exhaustInTwoBlocks(), ::testing::ExitedWithCode(1), "cannot allocate memory; ");
}

}  // namespace
