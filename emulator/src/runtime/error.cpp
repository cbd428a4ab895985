// Errors: the last one of each thread, and the one that a failed kernel leaves for all.
#include <cstdlib>
#include <string>
#include <utility>

#include "emu/api/errors.h"
#include "engine/scheduler.h"
#include "engine/watcher.h"
#include "error.h"

namespace emu {
namespace {

thread_local cudaError_t lastError = cudaSuccess, lastOfHostFunctions = cudaSuccess;
thread_local bool hostFunctionRuns = false;
bool launchesBlock() {
    static const bool block = [] {
        const char* value = std::getenv("CUDA_LAUNCH_BLOCKING");
        return value != nullptr && std::atoi(value) != 0;
    }();
    return block;
}

void tellErrorRead() {
    if (watcher != nullptr) watcher->errorRead();
}

cudaError_t& lastErrorOfCaller() {
    return inDevice() ? deviceThreadError() : lastError;
}

}  // namespace

std::atomic<bool> failureIsKnown{false};

cudaError_t setLastError(cudaError_t error) {
    // cudaErrorNotReady is an answer; CUDA does not record it either.
    if (error != cudaSuccess && error != cudaErrorNotReady) lastErrorOfCaller() = error;
    return error;
}

void clearErrors() {
    clearStickyError();
    failureIsKnown = false;
    lastError = cudaSuccess;
}

cudaError_t waitedFailure() {
    const cudaError_t error = stickyError();
    if (error != cudaSuccess) failureIsKnown = true;
    return error;
}

cudaError_t afterFailure(cudaError_t error) {
    if (error != stickyError()) return error;
    return launchesBlock() ? waitedFailure() : cudaSuccess;
}

cudaError_t noSuchHandle(const char* what) {
    return because(cudaErrorInvalidResourceHandle, [=] {
        return std::string("there is no such ") + what +
               ": it was never created, or destroyed before";
    });
}

cudaError_t hostWaited(cudaError_t error) {
    if (error == cudaSuccess) error = waitedFailure();
    if (error == cudaSuccess && watcher != nullptr) watcher->hostWaited();
    return error;
}

cudaError_t entryError() {
    if (inDevice()) return cudaSuccess;
    if (!hostFunctionRuns) return knownFailure();
    return because(cudaErrorNotPermitted,
                   "a function that runs in a stream cannot call CUDA: let the host do so when it "
                   "has waited for the stream");
}

void requireHost(const char* name) {
    if (!inDevice()) return;
    failKernel(cudaErrorLaunchFailure,
               std::string(name) + "() cannot be called in a kernel: it is a function of the host");
}

bool insideHostFunction() {
    return hostFunctionRuns;
}
HostFunctionScope::HostFunctionScope() {
    hostFunctionRuns = true;
    std::swap(lastError, lastOfHostFunctions);
    if (watcher != nullptr) watcher->hostFunctionRuns(true);
}
HostFunctionScope::~HostFunctionScope() {
    hostFunctionRuns = false;
    std::swap(lastError, lastOfHostFunctions);
    if (watcher != nullptr) watcher->hostFunctionRuns(false);
}

}  // namespace emu

cudaError_t cudaGetLastError() {
    emu::tellErrorRead();
    return std::exchange(emu::lastErrorOfCaller(), cudaSuccess);
}

cudaError_t cudaPeekAtLastError() {
    emu::tellErrorRead();
    return emu::lastErrorOfCaller();
}

const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
#define EMU_NAME(name, value, text) \
    case name:                      \
        return #name;
        EMU_CUDA_ERRORS(EMU_NAME)
#undef EMU_NAME
    }
    return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
    switch (error) {
#define EMU_TEXT(name, value, text) \
    case name:                      \
        return text;
        EMU_CUDA_ERRORS(EMU_TEXT)
#undef EMU_TEXT
    }
    return "unrecognized error code";
}
