// Faults of kernels: illegal addresses, stack overflow, division by zero and failed assertions end
// the kernel with CUDA's error instead of the process.
#pragma once

#include <cstddef>

namespace emu {

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
