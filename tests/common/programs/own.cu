// A program of one's own with what common/ has for it, in two source files.
#include <cstdio>
#include <vector>

#include "buffer.cuh"
#include "check.cuh"
#include "timer.cuh"

void doubleAll(lab::DeviceBuffer<int>& numbers);  // ownKernel.cu

int main() {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess) return lab::kExitNoGpu;
    lab::DeviceBuffer<int> numbers(std::vector<int>{1, 2, 3});
    lab::PinnedBuffer<int> doubled(numbers.size());
    const lab::CpuTimer onHost;
    lab::GpuTimer onDevice;
    onDevice.start();
    doubleAll(numbers);
    onDevice.stop();
    CUDA_CHECK(cudaMemcpy(doubled.get(), numbers.get(), numbers.bytes(), cudaMemcpyDeviceToHost));
    const bool timed = onDevice.milliseconds() > 0 && onHost.milliseconds() > 0;
    for (const int number : doubled) std::printf("%d ", number);
    std::printf("%s\n", timed ? "timed" : "not timed");
    lab::quit(lab::kExitFailure, "ends\nhere");
}
