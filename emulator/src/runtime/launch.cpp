// Launches: what CUDA refuses, and whose turn it is.
#include "emu/api/launch.h"

#include <memory>
#include <mutex>

#include "emu/limits.h"
#include "engine/fault.h"
#include "engine/grid.h"
#include "engine/multiprocessors.h"
#include "engine/occupancy.h"
#include "engine/out_of_memory.h"
#include "engine/scheduler.h"
#include "engine/sticky_error.h"
#include "engine/watchdog.h"
#include "engine/watcher.h"
#include "error.h"
#include "function.h"
#include "stream.h"
#include "trace.h"

namespace emu {
namespace {

cudaError_t validate(const LaunchConfig& config, const KernelCall& call) {
    const dim3 &grid = config.grid, &block = config.block;
    const auto inside = [](unsigned value, int limit) {
        return value >= 1 && value <= static_cast<unsigned>(limit);
    };
    const bool blockFits =
        inside(block.x, kMaxBlockDim[0]) && inside(block.y, kMaxBlockDim[1]) &&
        inside(block.z, kMaxBlockDim[2]) &&
        uint64_t{block.x} * block.y * block.z <= static_cast<uint64_t>(kMaxThreadsPerBlock);
    const bool gridFits = inside(grid.x, kMaxGridDim[0]) && inside(grid.y, kMaxGridDim[1]) &&
                          inside(grid.z, kMaxGridDim[2]);
    if (!blockFits || !gridFits) return cudaErrorInvalidConfiguration;
    if (config.dynamicShared > 0 && config.dynamicShared > maxDynamicShared(call.id)) {
        return cudaErrorInvalidValue;
    }
    if (config.cooperative) {
        const int blockSize = static_cast<int>(block.x * block.y * block.z);
        const auto resident =
            static_cast<uint64_t>(maxBlocksPerSm(blockSize, config.dynamicShared)) *
            static_cast<uint64_t>(smCount());
        if (uint64_t{grid.x} * grid.y * grid.z > resident)
            return cudaErrorCooperativeLaunchTooLarge;
    }
    return cudaSuccess;
}

// Not one of the host, nor one that was destroyed. (An H200 still takes these.)
bool isKernelsStream(cudaStream_t handle) {
    if (handle == nullptr) return true;
    const std::lock_guard<std::mutex> lock(handleMutex());
    return findStream(handle) != nullptr;
}

cudaError_t launchFromKernel(const LaunchConfig& config, KernelCall call) {
    if (gridIsCooperative()) {  // on a GPU its own launch is refused
        call = KernelCall();    // the thread does not return: nobody would destroy it
        failKernel(
            cudaErrorNotSupported,
            "a kernel that cudaLaunchCooperativeKernel() has launched cannot launch kernels");
    }
    const bool tail = config.stream == cudaStreamTailLaunch;
    cudaError_t error = validate(config, call);
    if (config.cooperative) error = cudaErrorNotSupported;
    if (error == cudaSuccess && !isKernelsStream(config.stream)) error = cudaErrorInvalidValue;
    if (error != cudaSuccess) return deviceThreadError() = error;
    auto child = std::make_unique<Grid>(config, std::move(call));
    const Grid& launched = *child;
    if (!runAfterGrid(std::move(child), tail)) {
        return deviceThreadError() = cudaErrorLaunchPendingCountExceeded;
    }
    if (watcher != nullptr) watcher->childLaunched(launched, tail);
    return cudaSuccess;
}

}  // namespace

cudaError_t launch(const LaunchConfig& config, KernelCall call) {
    if (inDevice()) return launchFromKernel(config, std::move(call));
    cudaError_t error = stickyError();
    if (error == cudaSuccess) error = validate(config, call);
    if (error == cudaSuccess) {
        installFaultHandlers();
        installMemoryHandler();
        startWatchdog();
        error = submit(config.stream, [config, call = std::move(call)] {
            Grid grid(config, call);
            const std::lock_guard<std::mutex> turn(deviceMutex());
            const TracedWork traced(call);
            return runWithChildren(grid);
        });
    }
    return setLastError(error);
}

cudaError_t readConfig(const cudaLaunchConfig_t* config, LaunchConfig* known) {
    return api([&] {
        if (config == nullptr || (config->attrs == nullptr && config->numAttrs > 0)) {
            return cudaErrorInvalidValue;
        }
        *known = {config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream};
        for (unsigned i = 0; i < config->numAttrs; ++i) {
            const cudaLaunchAttribute& attribute = config->attrs[i];
            switch (attribute.id) {
                case cudaLaunchAttributeCooperative:
                    known->cooperative = attribute.val.cooperative != 0;
                    break;
                case cudaLaunchAttributeIgnore:
                case cudaLaunchAttributeProgrammaticStreamSerialization:
                case cudaLaunchAttributePriority:
                    break;
                default:
                    return cudaErrorNotSupported;
            }
        }
        return cudaSuccess;
    });
}

}  // namespace emu
