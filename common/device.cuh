#pragma once
// Facts about the device in use.

#include <cuda_runtime.h>

#include <cstddef>
#include <string>

namespace lab {

// On the cpu back end, the same sources run on an emulated device. Known when a program is linked:
// for tests of what programs print on a GPU, the same objects are linked with another one.
extern const bool kEmulated;

struct DeviceFacts {
    std::string name;
    int major = 0, minor = 0;  // compute capability
    int multiprocessors = 0;
    int threadsPerMultiprocessor = 0;  // resident at a time: 2048, on smaller GPUs 1024 or 1536
    std::size_t sharedPerMultiprocessor = 0;  // bytes of shared memory
    // How fast it is: 0 where unknown, and in an emulation, which has no such units, whatever GPU's
    // clock rates its device has.
    std::size_t l2Bytes = 0;
    double clock = 0;                   // cycles per second of the multiprocessors, at most
    double peakBandwidth = 0;           // bytes per second of device memory
    double peakFlops = 0;               // FP32 operations per second
    double peakTensorFlops = 0;         // the same of tensor cores: BF16 with FP32 sums, dense
    int fp32Lanes = 0, schedulers = 0;  // of a multiprocessor
    bool overlapsKernels = false;  // those of different streams; an emulation runs them in turn

    // Blocks of so many threads that the whole GPU holds at a time, if threads are all that limits.
    unsigned residentBlocks(unsigned block) const {
        return static_cast<unsigned>(multiprocessors) * (threadsPerMultiprocessor / block);
    }
};

// FP32 results per clock and multiprocessor: CUDA C++ Programming Guide, table "Throughput of
// Native Arithmetic Instructions". 0 for what the table does not list.
int fp32LanesPerMultiprocessor(int major, int minor);

// Multiply-adds of BF16 with FP32 sums that the tensor cores of a multiprocessor do in a clock,
// with dense matrices: NVIDIA's white papers "A100 Tensor Core GPU Architecture" and "H100 Tensor
// Core GPU Architecture". 0 where there are none, and for the generations whose products differ in
// it.
int tensorLanesPerMultiprocessor(int major, int minor);

// Warp schedulers of a multiprocessor: CUDA C++ Programming Guide, "Compute Capabilities". Each
// issues at most one instruction per clock. 0 for what the guide does not list.
int schedulersPerMultiprocessor(int major);

int deviceAttribute(cudaDeviceAttr attribute, int device);

DeviceFacts deviceFacts(int device);

}  // namespace lab
