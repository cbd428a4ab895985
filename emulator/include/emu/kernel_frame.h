// Tells the profiler where a kernel begins and ends, in programs that are compiled for it: what
// surrounds the kernel is the engine's.
#pragma once

// No hooks in a function: neither its accesses nor its branches are the kernel's.
#if __has_attribute(disable_sanitizer_instrumentation)
// clang ignores the first of these on a lambda.
#define EMU_NOT_RECORDED                                                     \
    __attribute__((disable_sanitizer_instrumentation, no_sanitize("thread"), \
                   no_sanitize("coverage")))
#elif __has_attribute(no_sanitize_coverage)  // GCC 12
#define EMU_NOT_RECORDED __attribute__((no_sanitize_thread, no_sanitize_coverage))
#else
#define EMU_NOT_RECORDED __attribute__((no_sanitize_thread))
#endif

namespace emu {

// The calling CUDA thread enters a kernel's function, and leaves it.
void kernelBegins();
void kernelEnds();

// Around the call of a kernel.
class KernelFrame {
  public:
    EMU_NOT_RECORDED KernelFrame() noexcept { kernelBegins(); }
    EMU_NOT_RECORDED ~KernelFrame() { kernelEnds(); }
    KernelFrame(const KernelFrame&) = delete;
    KernelFrame& operator=(const KernelFrame&) = delete;
};

}  // namespace emu
