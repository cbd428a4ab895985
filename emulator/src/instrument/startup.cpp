// Starts the profiler or the hazard check before main(), if the environment asks for one.
#include <cstdlib>

#include "checker.h"
#include "emu/decisions.h"
#include "emu/division.h"
#include "emu/kernel_frame.h"
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

namespace {

// The value is the file to write: CSV as of `ncu --csv --page raw`, or the report.
[[gnu::constructor]] void startWatching() {
    if (const char* path = std::getenv("CUDA_EMULATOR_PROFILE")) {
        startProfiler(path);
    } else if (const char* path = std::getenv("CUDA_EMULATOR_CHECK")) {
        startChecker(path);
    }
}

}  // namespace
}  // namespace emu
