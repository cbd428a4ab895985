#include "device_settings.h"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace emu {
namespace {

// The H200 and the H100: cudaDeviceGetAttribute() on one of each, driver 580.159.04. The others:
// NVIDIA's white papers "A100 Tensor Core GPU Architecture" (40 GB), "Tesla V100 GPU Architecture"
// (SXM2) and "Turing GPU Architecture" (T4), whose data rates of memory are twice these clocks.
// The last column: CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions".
constexpr GpuFigures kGpus[] = {
    {"h200", "NVIDIA H200", 1980000, 3201000, 6016, 62914560, 2},
    {"h100", "NVIDIA H100 80GB HBM3", 1980000, 2619000, 5120, 52428800, 2},
    {"a100", "NVIDIA A100-SXM4-40GB", 1410000, 1215000, 5120, 41943040, 2},
    {"v100", "Tesla V100-SXM2-16GB", 1530000, 877000, 4096, 6291456, 2},
    {"t4", "Tesla T4", 1590000, 5001000, 256, 4194304, 32},
};

int coresAllowed() {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) return CPU_COUNT(&allowed);
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

int wantedSms() {
    constexpr const char* kVariable = "CUDA_EMULATOR_SMS";
    constexpr long kMost = 256;  // each is an OS thread
    const char* const text = std::getenv(kVariable);
    if (text == nullptr) return coresAllowed();
    char* end = nullptr;
    const long count = std::strtol(text, &end, 10);
    if (end != text && *end == '\0' && count >= 1 && count <= kMost) return static_cast<int>(count);
    refuseSetting(kVariable, text, "a whole number from 1 to " + std::to_string(kMost));
}

const GpuFigures& wantedGpu(const char* text) {
    if (text == nullptr) return kGpus[0];
    std::string known;
    for (const GpuFigures& gpu : kGpus) {
        if (text == std::string(gpu.key)) return gpu;
        known += (known.empty() ? "" : ", ") + std::string(gpu.key);
    }
    refuseSetting("CUDA_EMULATOR_GPU", text, "one of " + known);
}

bool freshIsZero() {
    constexpr const char *kVariable = "CUDA_EMULATOR_FRESH", *kZero = "zero";
    const char* const text = std::getenv(kVariable);
    if (text != nullptr && text != std::string(kZero)) refuseSetting(kVariable, text, kZero);
    return text != nullptr;
}

DeviceSettings read() {
    const char* const gpu = std::getenv("CUDA_EMULATOR_GPU");
    return {wantedSms(), wantedGpu(gpu), gpu != nullptr, freshIsZero()};
}

}  // namespace

void refuseSetting(const char* variable, const char* value, const std::string& expected) {
    std::fprintf(stderr, "emulator: %s=%s: expected %s\n", variable, value, expected.c_str());
    std::exit(1);
}

const DeviceSettings& deviceSettings() {
    static const DeviceSettings settings = read();
    return settings;
}

}  // namespace emu
