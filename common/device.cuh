#pragma once
// Facts about the device in use.

#include <cuda_runtime.h>

#include <cstddef>
#include <string>

#include "check.cuh"

namespace lab {

// On the cpu back end, the same sources run on an emulated device.
#ifdef __CUDA_EMULATOR__
inline constexpr bool kEmulated = true;
#else
inline constexpr bool kEmulated = false;
#endif

struct DeviceFacts {
    std::string name;
    int major = 0, minor = 0;  // compute capability
    int multiprocessors = 0;
    int threadsPerMultiprocessor = 0;  // resident at a time: 2048, on smaller GPUs 1024 or 1536
    std::size_t sharedPerMultiprocessor = 0;  // bytes of shared memory
    std::size_t l2Bytes = 0;
    double clock = 0;          // cycles per second of the multiprocessors, at most
    double peakBandwidth = 0;  // bytes per second of device memory; 0 where unknown
    double peakFlops = 0;      // FP32 operations per second; 0 where unknown
    // Of a multiprocessor; 0 where unknown, and in an emulation, which has no such units.
    int fp32Lanes = 0, schedulers = 0;
    bool overlapsKernels = false;  // those of different streams; an emulation runs them in turn

    // Blocks of so many threads that the whole GPU holds at a time, if threads are all that limits.
    unsigned residentBlocks(unsigned block) const {
        return static_cast<unsigned>(multiprocessors) * (threadsPerMultiprocessor / block);
    }
};

// FP32 results per clock and multiprocessor: CUDA C++ Programming Guide, table "Throughput of
// Native Arithmetic Instructions". 0 for what the table does not list.
inline int fp32LanesPerMultiprocessor(int major, int minor) {
    switch (major) {
        case 7:
            return 64;
        case 8:
            return minor == 0 ? 64 : 128;
        case 9:
        case 10:
        case 11:
        case 12:
            return 128;
        default:
            return 0;
    }
}

// Warp schedulers of a multiprocessor: CUDA C++ Programming Guide, "Compute Capabilities". Each
// issues at most one instruction per clock. 0 for what the guide does not list.
inline int schedulersPerMultiprocessor(int major) {
    return major >= 7 && major <= 12 ? 4 : 0;
}

inline int deviceAttribute(cudaDeviceAttr attribute, int device) {
    int value = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
    return value;
}

inline DeviceFacts deviceFacts(int device) {
    cudaDeviceProp properties;
    CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
    DeviceFacts facts;
    facts.name = properties.name;
    facts.major = properties.major;
    facts.minor = properties.minor;
    facts.multiprocessors = properties.multiProcessorCount;
    facts.threadsPerMultiprocessor = properties.maxThreadsPerMultiProcessor;
    facts.sharedPerMultiprocessor = properties.sharedMemPerMultiprocessor;
    facts.l2Bytes = properties.l2CacheSize;

    // Two transfers per clock of the memory; clocks come in kHz, the width of the bus in bits.
    const double memoryClock = 1e3 * deviceAttribute(cudaDevAttrMemoryClockRate, device);
    const double busBytes = deviceAttribute(cudaDevAttrGlobalMemoryBusWidth, device) / 8.0;
    facts.peakBandwidth = 2 * memoryClock * busBytes;

    // Each lane finishes one fused multiply-add, which is two operations, per clock.
    facts.clock = 1e3 * deviceAttribute(cudaDevAttrClockRate, device);
    const int lanes = fp32LanesPerMultiprocessor(facts.major, facts.minor);
    facts.peakFlops = 2.0 * lanes * facts.multiprocessors * facts.clock;
    if (!kEmulated) {
        facts.fp32Lanes = lanes;
        facts.schedulers = schedulersPerMultiprocessor(facts.major);
        facts.overlapsKernels = deviceAttribute(cudaDevAttrConcurrentKernels, device) != 0;
    }
    return facts;
}

}  // namespace lab
