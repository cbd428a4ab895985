// What the environment says of the emulated device.
#pragma once

#include <string>

namespace emu {

// What a GPU says of its speed and its caches. The emulation has none of it: it is what programs
// divide by. All else, limits and the number of SMs, is the same whatever the GPU.
struct GpuFigures {
    const char* key;      // as in CUDA_EMULATOR_GPU
    const char* name;     // as cudaGetDeviceProperties() has it
    int clockRate;        // of the SMs, at most [kHz]
    int memoryClockRate;  // [kHz]; two transfers per cycle
    int memoryBusWidth;   // [bits]
    int l2CacheSize;      // [bytes]
    int singleToDouble;   // FP32 operations per cycle for one of FP64
};

struct DeviceSettings {
    int sms;                // CUDA_EMULATOR_SMS, else the cores that the process may use
    const GpuFigures& gpu;  // CUDA_EMULATOR_GPU, else an H200
    bool gpuIsChosen;       // by the environment
    bool freshIsZero;       // CUDA_EMULATOR_FRESH=zero: fresh memory holds zeros, and no pattern
};

// Reads the environment at the first call. A value that is not possible ends the process with
// status 1, and a line that names the variable, the value and what is allowed.
const DeviceSettings& deviceSettings();

// Ends the process in this way.
[[noreturn]] void refuseSetting(const char* variable, const char* value,
                                const std::string& expected);

}  // namespace emu
