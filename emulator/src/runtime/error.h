// The entry of every API function, and the last error that each leaves behind.
#pragma once

#include <new>
#include <utility>

#include "emu/runtime_types.h"

namespace emu {

// Records `error` for cudaGetLastError() of the calling host thread (or CUDA thread) unless it is
// cudaSuccess; returns it.
cudaError_t setLastError(cudaError_t error);

// Why no call can succeed now: an earlier kernel failed, or the caller is a host function that runs
// in stream order, where CUDA forbids its API. Else cudaSuccess.
cudaError_t entryError();

// The caller is a host function that runs in stream order.
bool insideHostFunction();

// Ends the kernel with a message if the caller is a CUDA thread: `name` exists for host code only.
void requireHost(const char* name);

// At the end of a call in which the host waits for the device: tells who watches, unless there is
// an `error`, and returns that.
cudaError_t hostWaited(cudaError_t error);

// The body of an API function that kernels may call too.
template <typename Body>
cudaError_t api(Body&& body) {
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
