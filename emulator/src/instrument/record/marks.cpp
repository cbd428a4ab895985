// What the translator's marks in instrumented code call: where a kernel's function begins and ends,
// and what the compilers' hooks do not tell.
#include <string>

#include "emu/decisions.h"
#include "emu/division.h"
#include "emu/failed_call.h"
#include "emu/kernel_arguments.h"
#include "emu/kernel_frame.h"
#include "engine/program_symbols.h"
#include "engine/reason.h"
#include "engine/sticky_error.h"
#include "engine/watcher.h"
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

void noteArguments(const char* name, const void* id, const KernelArgument* arguments,
                   size_t count) noexcept {
    if (watcher != nullptr) watcher->argumentsGiven(kernelName(name, id), arguments, count);
}

void noteFailedCall(cudaError_t error, const char* before, const char* name, const char* after,
                    const char* errorName, const char* errorText) {
    // (After a kernel has failed, all calls do; that has been told.)
    if (watcher == nullptr || error == cudaErrorNotReady || error == stickyError()) return;
    watcher->callFailed(
        std::string(before) + name + after + " returned " + errorName + " (" + errorText + ")",
        takeReason(error));
}

}  // namespace emu
