// The entry of every API function, and the last error that each leaves behind.
#pragma once

#include <atomic>
#include <new>
#include <utility>

#include "emu/runtime_types.h"
#include "engine/reason.h"
#include "engine/sticky_error.h"

namespace emu {

// Records `error` for cudaGetLastError() of the calling host thread (or CUDA thread) unless it is
// cudaSuccess; returns it.
cudaError_t setLastError(cudaError_t error);

// Why no call can succeed now: an earlier kernel failed, and the host has waited for it, or the
// caller is a host function that runs in stream order, where CUDA forbids its API. Else
// cudaSuccess.
cudaError_t entryError();

// A kernel runs beside the host: that it has failed, a call tells only when the host has waited.
// (A GPU may tell it earlier, in any call but cudaGetLastError(), which programs cannot rely on.)
//
// The error of a kernel that has failed, as far as the host has waited; else cudaSuccess.
extern std::atomic<bool> failureIsKnown;
inline cudaError_t knownFailure() {
    return failureIsKnown.load(std::memory_order_relaxed) ? stickyError() : cudaSuccess;
}
// The same, at a point where the host waits.
cudaError_t waitedFailure();
// What a call returns whose work in a stream has ended with `error`. It waits for a kernel only if
// the environment says CUDA_LAUNCH_BLOCKING=1.
cudaError_t afterFailure(cudaError_t error);
inline cudaError_t asynchronous(cudaError_t error) {
    return error == cudaSuccess ? error : afterFailure(error);
}

// The caller is a host function that runs in stream order.
bool insideHostFunction();

// Ends the kernel with a message if the caller is a CUDA thread: `name` exists for host code only.
void requireHost(const char* name);

// At the end of a call in which the host waits for the device: tells who watches, unless there is
// an `error` or a kernel has failed, and returns that.
cudaError_t hostWaited(cudaError_t error);

// cudaErrorInvalidDevice unless there is a device with the number.
cudaError_t checkDevice(int device);

// Fails a call that was given the handle of a "stream", an "event" ... that is none.
cudaError_t noSuchHandle(const char* what);

// The body of an API function that kernels may call too.
template <typename Body>
cudaError_t api(Body&& body) {
    forgetReason();
    cudaError_t error = entryError();
    if (error == cudaSuccess) {
        try {
            error = body();
        } catch (const std::bad_alloc&) {
            error = cudaErrorMemoryAllocation;
        }
    }
    return setLastError(error);
}

// The body of an API function of the host; `name` is __func__.
template <typename Body>
cudaError_t hostApi(const char* name, Body&& body) {
    requireHost(name);
    return api(std::forward<Body>(body));
}

// The body of an API function that needs no working device: it works after a kernel failed, too.
template <typename Body>
cudaError_t query(Body&& body) {
    forgetReason();
    return setLastError(insideHostFunction() ? cudaErrorNotPermitted : body());
}

// The body of such a function of the host.
template <typename Body>
cudaError_t hostQuery(const char* name, Body&& body) {
    requireHost(name);
    return query(std::forward<Body>(body));
}

// While it lives, the calling thread runs a host function in stream order. CUDA has a thread for
// these, with a last error of its own.
class HostFunctionScope {
  public:
    HostFunctionScope();
    ~HostFunctionScope();
    HostFunctionScope(const HostFunctionScope&) = delete;
    HostFunctionScope& operator=(const HostFunctionScope&) = delete;
};
// cudaDeviceReset() for the last error of the calling thread and the sticky error.
void clearErrors();

}  // namespace emu
