// The seam between the engine (which runs kernels) and the runtime API (which manages memory,
// streams and errors).
#pragma once

#include <cstddef>
#include <functional>

#include "emu/runtime_types.h"

namespace emu {

// ---- error.cpp

// Records `error` for cudaGetLastError() of the calling host thread (or CUDA thread) unless it is
// cudaSuccess; returns it.
cudaError_t setLastError(cudaError_t error);

// A kernel failed while running (deadlock, illegal address, failed assertion, trap). As on a GPU
// the context is lost: every later call returns this error until cudaDeviceReset(). The first such
// error wins. Thread-safe.
void setStickyError(cudaError_t error);
cudaError_t stickyError();

// ---- stream.cpp

// Runs `work` now, or records it in the graph if `stream` is capturing. Returns
// cudaErrorInvalidResourceHandle for a stream that does not exist, else what `work` returned. Does
// not call setLastError().
cudaError_t submit(cudaStream_t stream, std::function<cudaError_t()> work);

// ---- function.cpp

// Most dynamic shared memory [bytes] that `kernel` may be launched with: 48 KiB unless
// cudaFuncSetAttribute() raised it. nullptr (a kernel whose address the translator could not take):
// the largest limit that was set for any kernel.
size_t maxDynamicShared(const void* kernel);

// Resident blocks per SM for this block size [threads] and dynamic shared memory [bytes]; 0 if one
// block does not fit.
int maxBlocksPerSm(int blockSize, size_t dynamicShared);

// ---- engine.cpp

// The caller is a CUDA thread, that is, code of a kernel.
bool inDevice();

// The last error of the calling CUDA thread; valid while inDevice().
cudaError_t& deviceThreadError();

// SMs of the emulated device: the cores that this process may use.
int smCount();

// Runs `work` when the grid of the calling CUDA thread has ended, in the order of its child
// launches: what a device-side stream does. Only while inDevice().
void runAfterGrid(std::function<cudaError_t()> work);

// Prints `message` with the kernel, block and thread that is running, and ends the kernel with
// `error` (sticky). Only while inDevice(); does not return.
[[noreturn]] void failKernel(cudaError_t error, const char* message);

// ---- fault.cpp

// Turns faults of kernels into CUDA errors from now on. Idempotent.
void installFaultHandlers();

// The stack that signal handlers of an OS thread run on: a CUDA thread's own may have overflowed.
class SignalStack {
  public:
    SignalStack();
    ~SignalStack();
    SignalStack(const SignalStack&) = delete;
    SignalStack& operator=(const SignalStack&) = delete;

  private:
    static constexpr size_t kSize = 64 * 1024;
    void* memory_ = nullptr;
};

}  // namespace emu
