// The emulated device: what it is, its limits, and its reset.
#include "emu/api/device.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "array.h"
#include "capacity.h"
#include "capture.h"
#include "cuda_profiler_api.h"
#include "emu/limits.h"
#include "engine/device_settings.h"
#include "engine/grid.h"
#include "engine/kernel_heap.h"
#include "engine/kernel_limits.h"
#include "engine/number_text.h"
#include "engine/scheduler.h"
#include "engine/textures.h"
#include "error.h"
#include "event.h"
#include "graph.h"
#include "image_limits.h"
#include "memory.h"
#include "memory_pool.h"
#include "stream.h"

namespace emu {
namespace {

constexpr const char* kPciBusId = "0000:00:00.0";
constexpr size_t kMaxPitch = 2147483647;  // bytes, on all devices

// ---- Settings that are kept to be read again ----------------------------------------------------

// Defaults as on devices of compute capability 9.0 [bytes, but for the number of launches].
struct Settings {
    std::array<size_t, cudaLimitPersistingL2CacheSize + 1> limits{};
    cudaFuncCache cache = cudaFuncCachePreferNone;
    unsigned flags = cudaDeviceMapHost;

    Settings() {
        limits[cudaLimitStackSize] = kDefaultStackSize;
        limits[cudaLimitPrintfFifoSize] = kDefaultPrintfFifo;
        limits[cudaLimitMallocHeapSize] = kDefaultKernelHeap;
        limits[cudaLimitDevRuntimePendingLaunchCount] = kDefaultPendingLaunches;
        limits[cudaLimitMaxL2FetchGranularity] = 64;
    }
};

struct GuardedSettings {
    std::mutex mutex;
    Settings values;
};

GuardedSettings& settings() {
    static GuardedSettings& instance = *new GuardedSettings;
    return instance;
}

template <typename Body>
auto withSettings(Body body) {
    GuardedSettings& guarded = settings();
    const std::lock_guard<std::mutex> lock(guarded.mutex);
    return body(guarded.values);
}

// ---- Description --------------------------------------------------------------------------------

std::string hostCpuModel() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        const size_t colon = line.find(": ");
        if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
            return line.substr(colon + 2);
        }
    }
    return "unknown CPU";
}

// Textures and surfaces.
void describeImages(cudaDeviceProp* p) {
    const auto sides = [](const ImageLimits& limits, int* first, int* second, int* third) {
        *first = static_cast<int>(limits.width);
        if (second != nullptr) *second = static_cast<int>(limits.height);
        if (third != nullptr) *third = static_cast<int>(limits.depth);
    };
    p->textureAlignment = kTextureAlignment;
    p->texturePitchAlignment = kTexturePitchAlignment;
    p->surfaceAlignment = kTextureAlignment;
    p->maxTexture1DLinear = static_cast<int>(kMaxLinearBytes / sizeof(float4));
    sides(kMaxPitchedTexture, &p->maxTexture2DLinear[0], &p->maxTexture2DLinear[1], nullptr);
    p->maxTexture2DLinear[2] = static_cast<int>(kMaxTexturePitch);
    sides(kMaxTexture1D, &p->maxTexture1D, nullptr, nullptr);
    sides(kMaxTexture2D, &p->maxTexture2D[0], &p->maxTexture2D[1], nullptr);
    sides(kMaxTextureGather, &p->maxTexture2DGather[0], &p->maxTexture2DGather[1], nullptr);
    sides(kMaxTexture3D, &p->maxTexture3D[0], &p->maxTexture3D[1], &p->maxTexture3D[2]);
    sides(kMaxTexture3DDeep, &p->maxTexture3DAlt[0], &p->maxTexture3DAlt[1],
          &p->maxTexture3DAlt[2]);
    sides(kMaxTexture1DLayered, &p->maxTexture1DLayered[0], nullptr, &p->maxTexture1DLayered[1]);
    sides(kMaxTexture2DLayered, &p->maxTexture2DLayered[0], &p->maxTexture2DLayered[1],
          &p->maxTexture2DLayered[2]);
    sides(kMaxSurface1D, &p->maxSurface1D, nullptr, nullptr);
    sides(kMaxTexture2D, &p->maxSurface2D[0], &p->maxSurface2D[1], nullptr);
    sides(kMaxTexture3D, &p->maxSurface3D[0], &p->maxSurface3D[1], &p->maxSurface3D[2]);
    sides(kMaxTexture1DLayered, &p->maxSurface1DLayered[0], nullptr, &p->maxSurface1DLayered[1]);
    sides(kMaxTexture2DLayered, &p->maxSurface2DLayered[0], &p->maxSurface2DLayered[1],
          &p->maxSurface2DLayered[2]);
}

cudaDeviceProp describe() {
    cudaDeviceProp p = {};
    const DeviceSettings& settings = deviceSettings();
    const std::string figures =
        settings.gpuIsChosen ? std::string("figures of ") + settings.gpu.name + "; " : "";
    std::snprintf(p.name, sizeof(p.name), "CPU emulation of sm_%d%d (%s%s)", kComputeMajor,
                  kComputeMinor, figures.c_str(), hostCpuModel().c_str());
    p.major = kComputeMajor;
    p.minor = kComputeMinor;
    p.multiProcessorCount = settings.sms;
    p.warpSize = kWarpSize;

    p.maxThreadsPerBlock = kMaxThreadsPerBlock;
    std::copy(std::begin(kMaxBlockDim), std::end(kMaxBlockDim), p.maxThreadsDim);
    std::copy(std::begin(kMaxGridDim), std::end(kMaxGridDim), p.maxGridSize);
    p.maxThreadsPerMultiProcessor = kMaxThreadsPerSm;
    p.maxBlocksPerMultiProcessor = kMaxBlocksPerSm;
    p.regsPerBlock = kRegistersPerBlock;
    p.regsPerMultiprocessor = kRegistersPerSm;

    p.totalGlobalMem = totalMemory();
    p.totalConstMem = kConstantMemory;
    p.sharedMemPerBlock = kSharedPerBlock;
    p.sharedMemPerBlockOptin = kSharedPerBlockOptin;
    p.sharedMemPerMultiprocessor = kSharedPerSm;
    p.reservedSharedMemPerBlock = kReservedSharedPerBlock;
    p.memPitch = kMaxPitch;

    // What programs divide by.
    p.clockRate = settings.gpu.clockRate;
    p.memoryClockRate = settings.gpu.memoryClockRate;
    p.memoryBusWidth = settings.gpu.memoryBusWidth;
    p.l2CacheSize = settings.gpu.l2CacheSize;
    p.singleToDoublePrecisionPerfRatio = settings.gpu.singleToDouble;

    // What the API offers. That copies and kernels do not really overlap shows in the times only.
    p.integrated = 1;  // the device's memory is the host's
    p.canMapHostMemory = 1;
    p.unifiedAddressing = 1;
    p.managedMemory = 1;
    p.concurrentManagedAccess = 1;
    p.canUseHostPointerForRegisteredMem = 1;
    p.hostRegisterSupported = 1;
    p.hostRegisterReadOnlySupported = 1;
    p.memoryPoolsSupported = 1;
    p.concurrentKernels = 1;
    p.asyncEngineCount = 1;
    p.deviceOverlap = 1;
    p.streamPrioritiesSupported = 1;
    p.cooperativeLaunch = 1;

    describeImages(&p);
    return p;
}

const cudaDeviceProp& properties() {
    static const cudaDeviceProp instance = describe();
    return instance;
}

// Attributes that concern what is not there are 0.
int attributeValue(cudaDeviceAttr attribute) {
    const cudaDeviceProp& p = properties();
    switch (attribute) {
        case cudaDevAttrMaxThreadsPerBlock:
            return p.maxThreadsPerBlock;
        case cudaDevAttrMaxBlockDimX:
            return p.maxThreadsDim[0];
        case cudaDevAttrMaxBlockDimY:
            return p.maxThreadsDim[1];
        case cudaDevAttrMaxBlockDimZ:
            return p.maxThreadsDim[2];
        case cudaDevAttrMaxGridDimX:
            return p.maxGridSize[0];
        case cudaDevAttrMaxGridDimY:
            return p.maxGridSize[1];
        case cudaDevAttrMaxGridDimZ:
            return p.maxGridSize[2];
        case cudaDevAttrMaxSharedMemoryPerBlock:
            return static_cast<int>(p.sharedMemPerBlock);
        case cudaDevAttrMaxSharedMemoryPerBlockOptin:
            return static_cast<int>(p.sharedMemPerBlockOptin);
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
            return static_cast<int>(p.sharedMemPerMultiprocessor);
        case cudaDevAttrReservedSharedMemoryPerBlock:
            return static_cast<int>(p.reservedSharedMemPerBlock);
        case cudaDevAttrTotalConstantMemory:
            return static_cast<int>(p.totalConstMem);
        case cudaDevAttrWarpSize:
            return p.warpSize;
        case cudaDevAttrMaxPitch:
            return static_cast<int>(p.memPitch);
        case cudaDevAttrMaxRegistersPerBlock:
            return p.regsPerBlock;
        case cudaDevAttrMaxRegistersPerMultiprocessor:
            return p.regsPerMultiprocessor;
        case cudaDevAttrClockRate:
            return p.clockRate;
        case cudaDevAttrMemoryClockRate:
            return p.memoryClockRate;
        case cudaDevAttrGlobalMemoryBusWidth:
            return p.memoryBusWidth;
        case cudaDevAttrL2CacheSize:
            return p.l2CacheSize;
        case cudaDevAttrSingleToDoublePrecisionPerfRatio:
            return p.singleToDoublePrecisionPerfRatio;
        case cudaDevAttrTextureAlignment:
            return static_cast<int>(p.textureAlignment);
        case cudaDevAttrTexturePitchAlignment:
            return static_cast<int>(p.texturePitchAlignment);
        case cudaDevAttrSurfaceAlignment:
            return static_cast<int>(p.surfaceAlignment);
        case cudaDevAttrMaxTexture1DWidth:
            return p.maxTexture1D;
        case cudaDevAttrMaxTexture2DWidth:
            return p.maxTexture2D[0];
        case cudaDevAttrMaxTexture2DHeight:
            return p.maxTexture2D[1];
        case cudaDevAttrMaxTexture3DWidth:
            return p.maxTexture3D[0];
        case cudaDevAttrMaxTexture3DHeight:
            return p.maxTexture3D[1];
        case cudaDevAttrMaxTexture3DDepth:
            return p.maxTexture3D[2];
        case cudaDevAttrMaxTexture3DWidthAlt:
            return p.maxTexture3DAlt[0];
        case cudaDevAttrMaxTexture3DHeightAlt:
            return p.maxTexture3DAlt[1];
        case cudaDevAttrMaxTexture3DDepthAlt:
            return p.maxTexture3DAlt[2];
        case cudaDevAttrMaxTexture1DLayeredWidth:
            return p.maxTexture1DLayered[0];
        case cudaDevAttrMaxTexture1DLayeredLayers:
            return p.maxTexture1DLayered[1];
        case cudaDevAttrMaxTexture2DLayeredWidth:
            return p.maxTexture2DLayered[0];
        case cudaDevAttrMaxTexture2DLayeredHeight:
            return p.maxTexture2DLayered[1];
        case cudaDevAttrMaxTexture2DLayeredLayers:
            return p.maxTexture2DLayered[2];
        case cudaDevAttrMaxTexture2DGatherWidth:
            return p.maxTexture2DGather[0];
        case cudaDevAttrMaxTexture2DGatherHeight:
            return p.maxTexture2DGather[1];
        case cudaDevAttrMaxTexture1DLinearWidth:
            return p.maxTexture1DLinear;
        case cudaDevAttrMaxTexture2DLinearWidth:
            return p.maxTexture2DLinear[0];
        case cudaDevAttrMaxTexture2DLinearHeight:
            return p.maxTexture2DLinear[1];
        case cudaDevAttrMaxTexture2DLinearPitch:
            return p.maxTexture2DLinear[2];
        case cudaDevAttrMaxSurface1DWidth:
            return p.maxSurface1D;
        case cudaDevAttrMaxSurface2DWidth:
            return p.maxSurface2D[0];
        case cudaDevAttrMaxSurface2DHeight:
            return p.maxSurface2D[1];
        case cudaDevAttrMaxSurface3DWidth:
            return p.maxSurface3D[0];
        case cudaDevAttrMaxSurface3DHeight:
            return p.maxSurface3D[1];
        case cudaDevAttrMaxSurface3DDepth:
            return p.maxSurface3D[2];
        case cudaDevAttrMaxSurface1DLayeredWidth:
            return p.maxSurface1DLayered[0];
        case cudaDevAttrMaxSurface1DLayeredLayers:
            return p.maxSurface1DLayered[1];
        case cudaDevAttrMaxSurface2DLayeredWidth:
            return p.maxSurface2DLayered[0];
        case cudaDevAttrMaxSurface2DLayeredHeight:
            return p.maxSurface2DLayered[1];
        case cudaDevAttrMaxSurface2DLayeredLayers:
            return p.maxSurface2DLayered[2];
        case cudaDevAttrGpuOverlap:
            return p.deviceOverlap;
        case cudaDevAttrMultiProcessorCount:
            return p.multiProcessorCount;
        case cudaDevAttrIntegrated:
            return p.integrated;
        case cudaDevAttrCanMapHostMemory:
            return p.canMapHostMemory;
        case cudaDevAttrConcurrentKernels:
            return p.concurrentKernels;
        case cudaDevAttrMaxThreadsPerMultiProcessor:
            return p.maxThreadsPerMultiProcessor;
        case cudaDevAttrMaxBlocksPerMultiprocessor:
            return p.maxBlocksPerMultiProcessor;
        case cudaDevAttrAsyncEngineCount:
            return p.asyncEngineCount;
        case cudaDevAttrUnifiedAddressing:
            return p.unifiedAddressing;
        case cudaDevAttrComputeCapabilityMajor:
            return p.major;
        case cudaDevAttrComputeCapabilityMinor:
            return p.minor;
        case cudaDevAttrStreamPrioritiesSupported:
            return p.streamPrioritiesSupported;
        case cudaDevAttrManagedMemory:
            return p.managedMemory;
        case cudaDevAttrConcurrentManagedAccess:
            return p.concurrentManagedAccess;
        case cudaDevAttrCanUseHostPointerForRegisteredMem:
            return p.canUseHostPointerForRegisteredMem;
        case cudaDevAttrHostRegisterSupported:
            return p.hostRegisterSupported;
        case cudaDevAttrHostRegisterReadOnlySupported:
            return p.hostRegisterReadOnlySupported;
        case cudaDevAttrMemoryPoolsSupported:
            return p.memoryPoolsSupported;
        case cudaDevAttrCooperativeLaunch:
            return p.cooperativeLaunch;
        default:
            return 0;
    }
}

// Stores `value` for an API function that answers a question.
template <typename T>
cudaError_t answer(T* result, const T& value) {
    if (result == nullptr) return cudaErrorInvalidValue;
    *result = value;
    return cudaSuccess;
}

// ---- Limits -------------------------------------------------------------------------------------

cudaError_t checkLimit(cudaLimit limit) {
    if (limit < cudaLimitStackSize || limit > cudaLimitPersistingL2CacheSize) {
        return cudaErrorInvalidValue;
    }
    // Gone with device-side synchronisation, that is, since compute capability 9.0.
    return limit == cudaLimitDevRuntimeSyncDepth ? cudaErrorUnsupportedLimit : cudaSuccess;
}

cudaError_t setLimit(cudaLimit limit, size_t value) {
    constexpr size_t kMaxStack = size_t{512} << 10;  // local memory of a thread
    constexpr size_t kStackUnit = 16;
    constexpr size_t kMaxFetchGranularity = 128;
    const cudaError_t error = checkLimit(limit);
    if (error != cudaSuccess) return error;
    if (limit == cudaLimitStackSize) {
        if (value > kMaxStack) {
            return because(cudaErrorInvalidValue, [=] {
                return bytes(value) + " of stack; a thread may have " + number(kMaxStack);
            });
        }
        value = (value + kStackUnit - 1) / kStackUnit * kStackUnit;
        stackSizeLimit = value;
    }
    if (limit == cudaLimitPrintfFifoSize) printfFifoLimit = value;
    if (limit == cudaLimitMaxL2FetchGranularity && value > kMaxFetchGranularity) {
        return cudaErrorInvalidValue;
    }
    if (limit == cudaLimitPersistingL2CacheSize) value = 0;  // there is none to set aside
    if (limit == cudaLimitMallocHeapSize) {
        if (value > freeMemory(0)) return cudaErrorMemoryAllocation;
        if (!setKernelHeapSize(value)) {
            return because(cudaErrorInvalidValue,
                           "the heap of kernels cannot change once a kernel has used it");
        }
    }
    if (limit == cudaLimitDevRuntimePendingLaunchCount) setMostPendingLaunches(value);
    return withSettings([&](Settings& s) {
        s.limits[static_cast<size_t>(limit)] = value;
        return cudaSuccess;
    });
}

cudaError_t setFlags(unsigned flags) {
    const unsigned schedule = flags & cudaDeviceScheduleMask;
    const bool oneSchedule = (schedule & (schedule - 1)) == 0;
    if ((flags & ~cudaDeviceMask) != 0 || !oneSchedule) return cudaErrorInvalidValue;
    return withSettings([&](Settings& s) {
        s.flags = flags | cudaDeviceMapHost;
        return cudaSuccess;
    });
}

void resetSettings() {
    setMostPendingLaunches(kDefaultPendingLaunches);
    stackSizeLimit = kDefaultStackSize;
    printfFifoLimit = kDefaultPrintfFifo;
    withSettings([](Settings& s) {
        s = Settings();
        return 0;
    });
}

}  // namespace

cudaError_t checkDevice(int device) {
    if (device == 0) return cudaSuccess;
    return because(cudaErrorInvalidDevice, [=] {
        return "device " + std::to_string(device) + " is asked for; there is one, number 0";
    });
}

}  // namespace emu

using namespace emu;

// ---- Choice of the device -----------------------------------------------------------------------

cudaError_t cudaGetDeviceCount(int* count) {
    return query([&] { return answer(count, 1); });
}

cudaError_t cudaGetDevice(int* device) {
    return query([&] { return answer(device, 0); });
}

cudaError_t cudaSetDevice(int device) {
    return hostQuery(__func__, [&] { return checkDevice(device); });
}

cudaError_t cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags) {
    return hostApi(__func__, [&] {
        const cudaError_t error = checkDevice(device);
        const bool flagsAreValid = (flags & cudaInitDeviceFlagsAreValid) != 0;
        return error == cudaSuccess && flagsAreValid ? setFlags(deviceFlags) : error;
    });
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
    return hostQuery(__func__, [&] {
        if (devices == nullptr || count < 1) return cudaErrorInvalidValue;
        const bool allValid = std::all_of(devices, devices + count, [](int d) { return d == 0; });
        return allValid ? cudaSuccess : cudaErrorInvalidDevice;
    });
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* prop) {
    return hostQuery(__func__,
                     [&] { return prop == nullptr ? cudaErrorInvalidValue : answer(device, 0); });
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
    return hostQuery(__func__, [&] { return setFlags(flags); });
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
    return hostQuery(__func__, [&] {
        return answer(flags, withSettings([](const Settings& s) { return s.flags; }));
    });
}

// ---- Questions ----------------------------------------------------------------------------------

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
    return hostQuery(__func__, [&] {
        const cudaError_t error = checkDevice(device);
        return prop == nullptr || error == cudaSuccess ? answer(prop, properties()) : error;
    });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    return query([&] {
        if (attribute < 1 || attribute >= cudaDevAttrMax) return cudaErrorInvalidValue;
        const cudaError_t error = checkDevice(device);
        return error != cudaSuccess ? error : answer(value, attributeValue(attribute));
    });
}

cudaError_t cudaDeviceGetPCIBusId(char* busId, int length, int device) {
    return hostQuery(__func__, [&] {
        if (busId == nullptr || length < 1) return cudaErrorInvalidValue;
        const cudaError_t error = checkDevice(device);
        if (error != cudaSuccess) return error;
        const int needed = std::snprintf(busId, static_cast<size_t>(length), "%s", kPciBusId);
        return needed < length ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* busId) {
    return hostQuery(__func__, [&] {
        unsigned domain = 0, bus = 0, slot = 0, function = 0;
        if (device == nullptr || busId == nullptr ||
            std::sscanf(busId, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
            return cudaErrorInvalidValue;
        }
        const bool ours = domain == 0 && bus == 0 && slot == 0 && function == 0;
        return ours ? answer(device, 0) : cudaErrorInvalidDevice;
    });
}

cudaError_t cudaDriverGetVersion(int* version) {
    return hostQuery(__func__, [&] { return answer(version, CUDART_VERSION); });
}

cudaError_t cudaRuntimeGetVersion(int* version) {
    return setLastError(answer(version, CUDART_VERSION));
}

// ---- Synchronisation and reset ------------------------------------------------------------------

cudaError_t cudaDeviceSynchronize() {
    if (inDevice()) {
        failKernel(cudaErrorNotSupported,
                   "cudaDeviceSynchronize() was called in a kernel. CUDA 12 removed it from device "
                   "code, and devices of compute capability 9.0 cannot do it. Child grids finish "
                   "before their parent counts as finished; to go on after them, launch the rest "
                   "as a kernel into cudaStreamTailLaunch.");
    }
    return api([] {
        if (!anyCapture()) return hostWaited(cudaSuccess);
        const std::lock_guard<std::mutex> lock(handleMutex());
        return hostWaited(refuseDeviceSync());
    });
}

cudaError_t cudaDeviceReset() {
    requireHost(__func__);
    if (insideHostFunction()) return setLastError(cudaErrorNotPermitted);
    destroyGraphs();
    destroyEvents();
    destroyStreams();
    removeImageObjects();
    forgetArrays();
    freeAllMemory();
    resetKernelHeap();
    resetMemoryPool();
    resetSettings();
    clearErrors();
    return hostWaited(cudaSuccess);
}

// ---- Limits and configuration -------------------------------------------------------------------

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    return hostApi(__func__, [&] { return setLimit(limit, value); });
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
    return api([&] {
        const cudaError_t error = checkLimit(limit);
        if (error != cudaSuccess) return error;
        return answer(value, withSettings([&](const Settings& s) {
                          return s.limits[static_cast<size_t>(limit)];
                      }));
    });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
    return hostApi(__func__, [&] {
        if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual) {
            return cudaErrorInvalidValue;
        }
        return withSettings([&](Settings& s) {
            s.cache = config;
            return cudaSuccess;
        });
    });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
    return api(
        [&] { return answer(config, withSettings([](const Settings& s) { return s.cache; })); });
}

// Banks have been four bytes wide since compute capability 5.0; others are accepted and ignored.
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
    return hostApi(__func__, [&] {
        const bool known =
            config >= cudaSharedMemBankSizeDefault && config <= cudaSharedMemBankSizeEightByte;
        return known ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
    return api([&] { return answer(config, cudaSharedMemBankSizeFourByte); });
}

// ---- Peers --------------------------------------------------------------------------------------

cudaError_t cudaDeviceCanAccessPeer(int* canAccess, int device, int peer) {
    return hostApi(__func__, [&] {
        if (canAccess == nullptr) return cudaErrorInvalidValue;
        if (device != 0 || peer != 0) return cudaErrorInvalidDevice;
        return answer(canAccess, 0);
    });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
    return hostApi(__func__, [&] {
        if (flags != 0) return cudaErrorInvalidValue;
        return peer == 0 ? cudaErrorPeerAccessUnsupported : cudaErrorInvalidDevice;
    });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    return hostApi(__func__, [&] {
        return peer == 0 ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice;
    });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int, int) {
    return hostApi(__func__, [&] {
        return value == nullptr ? cudaErrorInvalidValue : cudaErrorInvalidDevice;
    });
}

// ---- Profiler -----------------------------------------------------------------------------------

cudaError_t cudaProfilerStart() {
    return hostApi(__func__, [] { return cudaSuccess; });
}

cudaError_t cudaProfilerStop() {
    return hostApi(__func__, [] { return cudaSuccess; });
}
