// Launches: what CUDA refuses, and whose turn it is.
#include "emu/api/launch.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>

#include "emu/limits.h"
#include "engine/fault.h"
#include "engine/grid.h"
#include "engine/kernel_registers.h"
#include "engine/multiprocessors.h"
#include "engine/number_text.h"
#include "engine/occupancy.h"
#include "engine/out_of_memory.h"
#include "engine/program_symbols.h"
#include "engine/scheduler.h"
#include "engine/watchdog.h"
#include "engine/watcher.h"
#include "error.h"
#include "function.h"
#include "stream.h"
#include "trace.h"

namespace emu {
namespace {

// "33 x 32", without the dimensions at the end that are 1.
std::string product(const dim3& size) {
    std::string text = number(size.x);
    if (size.y != 1 || size.z != 1) text += " x " + number(size.y);
    if (size.z != 1) text += " x " + number(size.z);
    return text;
}

bool inside(unsigned value, int limit) {
    return value >= 1 && value <= static_cast<unsigned>(limit);
}

bool fits(const dim3& size, const int (&limits)[3]) {
    return inside(size.x, limits[0]) && inside(size.y, limits[1]) && inside(size.z, limits[2]);
}

// Which dimension of a "grid" or "block" does not fit.
std::string wrongDimension(const std::string& what, const dim3& size, const int (&limits)[3]) {
    const unsigned values[] = {size.x, size.y, size.z};
    size_t axis = 0;
    while (axis < 2 && inside(values[axis], limits[axis])) ++axis;
    const std::string text = what + "." + "xyz"[axis] + " is ";
    const auto asSigned = static_cast<int64_t>(static_cast<int>(values[axis]));
    if (asSigned < 0) {
        return text + "-" + number(static_cast<uint64_t>(-asSigned)) + ": a negative number";
    }
    if (asSigned == 0) {
        return text + "0" +
               (what == "grid" ? ": where n / size rounds down to 0, (n + size - 1) / size does not"
                               : ": a block has at least 1 thread");
    }
    return text + number(values[axis]) + "; it may be up to " +
           number(static_cast<uint64_t>(limits[axis]));
}

cudaError_t checkSizes(const dim3& grid, const dim3& block) {
    constexpr unsigned kSane = 1 << 20;  // the product of three of these has 64 bits
    const uint64_t threads = uint64_t{block.x} * block.y * block.z;
    const bool gridFits = fits(grid, kMaxGridDim);
    if (gridFits && fits(block, kMaxBlockDim) && threads <= kMaxThreadsPerBlock) return cudaSuccess;
    return because(cudaErrorInvalidConfiguration, [=] {
        if (!gridFits) return wrongDimension("grid", grid, kMaxGridDim);
        const bool isProduct =
            threads > kMaxThreadsPerBlock && std::max({block.x, block.y, block.z}) <= kSane;
        if (!isProduct) return wrongDimension("block", block, kMaxBlockDim);
        const std::string count = number(threads), text = product(block);
        return text + (text == count ? "" : " = " + count) + " threads; a block may have " +
               number(kMaxThreadsPerBlock);
    });
}

cudaError_t checkDynamicShared(size_t bytes, const void* kernel) {
    const size_t most = maxDynamicShared(kernel);
    if (bytes <= most) return cudaSuccess;
    return because(cudaErrorInvalidValue, [&] {
        const size_t staticBytes = kernel == nullptr ? 0 : staticSharedOf(kernel);
        const size_t ever = kSharedPerBlockOptin - std::min(kSharedPerBlockOptin, staticBytes);
        std::string text = emu::bytes(bytes) + " of dynamic shared memory; this kernel may have ";
        text += bytes > ever ? number(ever) + " at most" : number(most);
        if (staticBytes > 0) text += ", beside " + emu::bytes(staticBytes) + " of its own";
        if (bytes > ever) return text;
        return text +
               ": more takes a call before the launch, cudaFuncSetAttribute(kernel, "
               "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)";
    });
}

cudaError_t checkCooperative(const LaunchConfig& config, int threads) {
    const dim3& grid = config.grid;
    const auto perSm = static_cast<uint64_t>(maxBlocksPerSm(threads, config.dynamicShared));
    const auto sms = static_cast<uint64_t>(smCount());
    const uint64_t blocks = uint64_t{grid.x} * grid.y * grid.z;
    if (blocks <= perSm * sms) return cudaSuccess;
    return because(cudaErrorCooperativeLaunchTooLarge, [&] {
        return number(blocks) + " blocks, which must all be on the device at a time; " +
               number(perSm * sms) + " fit: " + number(perSm) + " of this size on each of its " +
               number(sms) + " SMs (cudaOccupancyMaxActiveBlocksPerMultiprocessor() tells)";
    });
}

cudaError_t checkBounds(int threads, const KernelCall& call) {
    const int bounds = launchBoundsOf(call.id, call.name);
    if (threads <= bounds) return cudaSuccess;
    return because(cudaErrorInvalidValue, [&] {
        return number(static_cast<uint64_t>(threads)) +
               " threads; the kernel was compiled for blocks of up to " +
               number(static_cast<uint64_t>(bounds)) + ", as its __launch_bounds__(" +
               std::to_string(bounds) + ") says";
    });
}

cudaError_t checkRegisters(int threads, const KernelCall& call) {
    const int each = registersOf(call.id, call.name);
    if (registersOfBlock(threads, each) <= kRegistersPerSm) return cudaSuccess;
    return because(cudaErrorLaunchOutOfResources, [&] {
        return number(static_cast<uint64_t>(threads)) + " threads with " + std::to_string(each) +
               " registers each, as nvcc compiles the kernel; an SM has " +
               number(kRegistersPerSm) + ": launch fewer threads, or let __launch_bounds__(" +
               std::to_string(threads) + ") tell nvcc to take fewer";
    });
}

cudaError_t validate(const LaunchConfig& config, const KernelCall& call) {
    const dim3& block = config.block;
    cudaError_t error = checkSizes(config.grid, block);
    if (error != cudaSuccess) return error;
    const int threads = static_cast<int>(block.x * block.y * block.z);
    if (&emuHasLaunchBounds != nullptr) error = checkBounds(threads, call);
    if (error == cudaSuccess && registersAreKnown) error = checkRegisters(threads, call);
    if (error != cudaSuccess) return error;
    if (config.dynamicShared > 0) error = checkDynamicShared(config.dynamicShared, call.id);
    if (error == cudaSuccess && config.cooperative) error = checkCooperative(config, threads);
    return error;
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
    if (error == cudaSuccess && !isKernelsStream(config.stream)) {
        error = because(cudaErrorInvalidValue, "a kernel cannot use a stream of the host");
    }
    if (error != cudaSuccess) return deviceThreadError() = error;
    auto child = std::make_unique<Grid>(config, std::move(call));
    const Grid& launched = *child;
    if (!runAfterGrid(std::move(child), tail)) {
        return deviceThreadError() = because(cudaErrorLaunchPendingCountExceeded,
                                             "too many launches are pending: raise "
                                             "cudaLimitDevRuntimePendingLaunchCount with "
                                             "cudaDeviceSetLimit()");
    }
    if (watcher != nullptr) watcher->childLaunched(launched, tail);
    return cudaSuccess;
}

void prepareOnce() {
    [[maybe_unused]] static const bool isPrepared = [] {
        installFaultHandlers();
        installMemoryHandler();
        startWatchdog();
        return true;
    }();
}

}  // namespace

cudaError_t launch(const LaunchConfig& config, KernelCall call) {
    forgetReason();
    if (inDevice()) return launchFromKernel(config, std::move(call));
    cudaError_t error = knownFailure();
    if (error == cudaSuccess) error = validate(config, call);
    if (error == cudaSuccess) {
        prepareOnce();
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
