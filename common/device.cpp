#include "device.cuh"

#include "check.cuh"

namespace lab {

int fp32LanesPerMultiprocessor(int major, int minor) {
    if (major < 7 || major > 12) return 0;
    return major == 7 || (major == 8 && minor == 0) ? 64 : 128;
}

int tensorLanesPerMultiprocessor(int major, int minor) {
    if (minor != 0) return 0;
    return major == 8 ? 1024 : major == 9 ? 2048 : 0;
}

int schedulersPerMultiprocessor(int major) {
    return major >= 7 && major <= 12 ? 4 : 0;
}

int deviceAttribute(cudaDeviceAttr attribute, int device) {
    int value = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
    return value;
}

DeviceFacts deviceFacts(int device) {
    cudaDeviceProp properties;
    CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
    DeviceFacts facts;
    facts.name = properties.name;
    facts.major = properties.major;
    facts.minor = properties.minor;
    facts.multiprocessors = properties.multiProcessorCount;
    facts.threadsPerMultiprocessor = properties.maxThreadsPerMultiProcessor;
    facts.sharedPerMultiprocessor = properties.sharedMemPerMultiprocessor;
    if (kEmulated) return facts;

    facts.l2Bytes = properties.l2CacheSize;
    // Two transfers per clock of the memory; clocks come in kHz, the width of the bus in bits.
    const double memoryClock = 1e3 * deviceAttribute(cudaDevAttrMemoryClockRate, device);
    const double busBytes = deviceAttribute(cudaDevAttrGlobalMemoryBusWidth, device) / 8.0;
    facts.peakBandwidth = 2 * memoryClock * busBytes;

    // Each lane finishes one fused multiply-add, which is two operations, per clock.
    facts.clock = 1e3 * deviceAttribute(cudaDevAttrClockRate, device);
    facts.fp32Lanes = fp32LanesPerMultiprocessor(facts.major, facts.minor);
    facts.peakFlops = 2.0 * facts.fp32Lanes * facts.multiprocessors * facts.clock;
    facts.peakTensorFlops = 2.0 * tensorLanesPerMultiprocessor(facts.major, facts.minor) *
                            facts.multiprocessors * facts.clock;
    facts.schedulers = schedulersPerMultiprocessor(facts.major);
    facts.overlapsKernels = deviceAttribute(cudaDevAttrConcurrentKernels, device) != 0;
    return facts;
}

}  // namespace lab
