// Starts the profiler or the hazard check before main(), if the environment asks for one.
#include <string>

#include "checker.h"
#include "emu/decisions.h"
#include "emu/division.h"
#include "emu/failed_call.h"
#include "emu/kernel_frame.h"
#include "engine/output_file.h"
#include "engine/sticky_error.h"
#include "engine/watcher.h"
#include "profiler.h"
#include "recorder.h"

namespace emu {

void kernelBegins() {
    if (watcher != nullptr) watcher->kernelBegins(threadRankInBlock());
}
void kernelEnds() {
    if (watcher != nullptr) watcher->kernelEnds(threadRankInBlock());
}

void divisionBranch(bool negative) noexcept {
    if (recorder != nullptr) {
        recorder->division(negative, reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
    }
}

void loopStep() noexcept {
    if (recorder != nullptr) {
        recorder->loopStep(reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
    }
}

void returns() noexcept {
    if (recorder != nullptr) {
        recorder->returns(reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
    }
}

void noteFailedCall(cudaError_t error, const char* before, const char* name, const char* after,
                    const char* errorName, const char* errorText) {
    // (After a kernel has failed, all calls do; that has been told.)
    if (watcher == nullptr || error == cudaErrorNotReady || error == stickyError()) return;
    watcher->callFailed(std::string(before) + name + after + " returned " + errorName + " (" +
                        errorText + ")");
}

namespace {

// The value is the file to write: CSV as of `ncu --csv --page raw`, or the report. Before the
// constructors of the program's own variables, so that it ends after their destructors.
[[gnu::constructor(101)]] void startWatching() {
    if (const char* path = outputPath("CUDA_EMULATOR_PROFILE")) {
        startProfiler(path);
    } else if (const char* path = outputPath("CUDA_EMULATOR_CHECK")) {
        startChecker(path);
    }
}

}  // namespace
}  // namespace emu
