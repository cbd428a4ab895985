// Attributes of kernels, and the occupancy that follows from the limits of the emulated device.
#include "emu/api/functions.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "emu/limits.h"
#include "engine/multiprocessors.h"
#include "engine/number_text.h"
#include "engine/occupancy.h"
#include "engine/program_symbols.h"
#include "engine/scheduler.h"
#include "error.h"
#include "function.h"

namespace emu {
namespace {

struct KernelSettings {
    size_t staticShared = 0;  // bytes
    size_t maxDynamicShared = kSharedPerBlock;
    int carveout = cudaSharedmemCarveoutDefault;
};

struct Kernels {
    std::mutex mutex;
    std::unordered_map<const void*, KernelSettings> settings;
    size_t largestMaxDynamic = kSharedPerBlock;
};

Kernels& kernels() {
    static Kernels& instance = *new Kernels;
    return instance;
}

// The settings of a kernel, with their defaults at the first time. Needs the lock.
KernelSettings& settingsOf(Kernels& known, const void* kernel) {
    const auto [entry, isNew] = known.settings.try_emplace(kernel);
    KernelSettings& settings = entry->second;
    if (isNew) {
        settings.staticShared = staticSharedOf(kernel);
        settings.maxDynamicShared =
            kSharedPerBlock - std::min(kSharedPerBlock, settings.staticShared);
    }
    return settings;
}

KernelSettings settingsOf(const void* kernel) {
    Kernels& known = kernels();
    const std::lock_guard<std::mutex> lock(known.mutex);
    return settingsOf(known, kernel);
}

cudaError_t checkKernel(const void* kernel) {
    if (imagePartOf(kernel) == ImagePart::Code) return cudaSuccess;
    return because(cudaErrorInvalidDeviceFunction, "what it is given is no kernel");
}

cudaError_t setMaxDynamicShared(const void* kernel, int bytes) {
    Kernels& known = kernels();
    const std::lock_guard<std::mutex> lock(known.mutex);
    KernelSettings& settings = settingsOf(known, kernel);
    const size_t room =
        kSharedPerBlockOptin - std::min(kSharedPerBlockOptin, settings.staticShared);
    if (bytes < 0 || static_cast<size_t>(bytes) > room) {
        return because(cudaErrorInvalidValue, [&] {
            return std::to_string(bytes) +
                   " bytes of dynamic shared memory; this kernel may have " + number(room) +
                   " at most";
        });
    }
    settings.maxDynamicShared = static_cast<size_t>(bytes);
    known.largestMaxDynamic = std::max(known.largestMaxDynamic, settings.maxDynamicShared);
    return cudaSuccess;
}

cudaError_t setCarveout(const void* kernel, int percent) {
    if (percent < cudaSharedmemCarveoutDefault || percent > cudaSharedmemCarveoutMaxShared) {
        return cudaErrorInvalidValue;
    }
    Kernels& known = kernels();
    const std::lock_guard<std::mutex> lock(known.mutex);
    settingsOf(known, kernel).carveout = percent;
    return cudaSuccess;
}

int residentBlocks(const void* kernel, int blockSize, size_t dynamicShared) {
    const KernelSettings settings = settingsOf(kernel);
    // A limit below the default holds for launches, not for what would fit.
    const size_t limit =
        std::max(settings.maxDynamicShared,
                 kSharedPerBlock - std::min(kSharedPerBlock, settings.staticShared));
    if (dynamicShared > limit) return 0;
    return maxBlocksPerSm(blockSize, settings.staticShared + dynamicShared);
}

cudaError_t checkOccupancyArguments(const void* kernel, int blockSize, unsigned flags) {
    if (blockSize <= 0 || (flags & ~cudaOccupancyDisableCachingOverride) != 0) {
        return cudaErrorInvalidValue;
    }
    return checkKernel(kernel);
}

cudaError_t availableDynamicShared(size_t* bytes, const void* kernel, int blocks, int blockSize) {
    if (bytes == nullptr || blocks <= 0) return cudaErrorInvalidValue;
    const cudaError_t error = checkOccupancyArguments(kernel, blockSize, cudaOccupancyDefault);
    if (error != cudaSuccess) return error;
    if (blockSize > kMaxThreadsPerBlock || blocks > maxBlocksByThreads(blockSize)) {
        return cudaErrorInvalidValue;
    }
    const KernelSettings settings = settingsOf(kernel);
    const size_t share = kSharedPerSm / static_cast<size_t>(blocks) / kSharedUnit * kSharedUnit;
    const size_t taken = kReservedSharedPerBlock + settings.staticShared;
    if (share < taken) return cudaErrorInvalidValue;
    *bytes = std::min(share - taken, settings.maxDynamicShared);
    return cudaSuccess;
}

}  // namespace

size_t maxDynamicShared(const void* kernel) {
    Kernels& known = kernels();
    const std::lock_guard<std::mutex> lock(known.mutex);
    return kernel == nullptr ? known.largestMaxDynamic : settingsOf(known, kernel).maxDynamicShared;
}

// The largest product of block size and resident blocks; of equal ones the largest block.
cudaError_t maxPotentialBlockSize(int* minGridSize, int* blockSize, const void* kernel,
                                  size_t (*sharedOf)(const void* context, int blockSize),
                                  const void* context, int blockSizeLimit, unsigned int flags) {
    return hostApi("cudaOccupancyMaxPotentialBlockSize", [&] {
        if (minGridSize == nullptr || blockSize == nullptr) return cudaErrorInvalidValue;
        const cudaError_t error = checkOccupancyArguments(kernel, 1, flags);
        if (error != cudaSuccess) return error;
        const int most = launchBoundsOf(kernel, "");
        const int limit = blockSizeLimit > 0 ? std::min(blockSizeLimit, most) : most;
        int mostThreads = 0;
        *minGridSize = *blockSize = 0;
        for (int warps = (limit + kWarpSize - 1) / kWarpSize; warps > 0; --warps) {
            const int size = std::min(limit, warps * kWarpSize);
            const int blocks = residentBlocks(kernel, size, sharedOf(context, size));
            if (blocks * size <= mostThreads) continue;
            mostThreads = blocks * size;
            *blockSize = size;
            *minGridSize = blocks * smCount();
        }
        return cudaSuccess;
    });
}

}  // namespace emu

using namespace emu;

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
    return api([&] {
        if (attributes == nullptr) return cudaErrorInvalidValue;
        const cudaError_t error = checkKernel(kernel);
        if (error != cudaSuccess) return error;
        const KernelSettings settings = settingsOf(kernel);
        *attributes = {};
        attributes->sharedSizeBytes = settings.staticShared;
        attributes->maxThreadsPerBlock = launchBoundsOf(kernel, "");
        attributes->ptxVersion = attributes->binaryVersion = 10 * kComputeMajor + kComputeMinor;
        attributes->maxDynamicSharedSizeBytes = static_cast<int>(settings.maxDynamicShared);
        attributes->preferredShmemCarveout = settings.carveout;
        return cudaSuccess;
    });
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
    return hostApi(__func__, [&] {
        const cudaError_t error = checkKernel(kernel);
        if (error != cudaSuccess) return error;
        switch (attribute) {
            case cudaFuncAttributeMaxDynamicSharedMemorySize:
                return setMaxDynamicShared(kernel, value);
            case cudaFuncAttributePreferredSharedMemoryCarveout:
                return setCarveout(kernel, value);
        }
        return cudaErrorInvalidValue;
    });
}

cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache config) {
    return hostApi(__func__, [&] {
        if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual) {
            return cudaErrorInvalidValue;
        }
        return checkKernel(kernel);
    });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel,
                                                                   int blockSize,
                                                                   size_t dynamicShared,
                                                                   unsigned int flags) {
    return api([&] {
        if (blocks == nullptr) return cudaErrorInvalidValue;
        const cudaError_t error = checkOccupancyArguments(kernel, blockSize, flags);
        if (error == cudaSuccess) *blocks = residentBlocks(kernel, blockSize, dynamicShared);
        return error;
    });
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicShared, const void* kernel,
                                                      int blocks, int blockSize) {
    return hostApi(
        __func__, [&] { return availableDynamicShared(dynamicShared, kernel, blocks, blockSize); });
}
