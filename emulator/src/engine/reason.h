// Why a call of CUDA's API fails: a sentence with the numbers, for the hazard check. An error's
// code alone does not tell which of many arguments is wrong.
#pragma once

#include <string>

#include "emu/runtime_types.h"
#include "watcher.h"

namespace emu {

// Keeps the reason until the next call of this OS thread begins, or somebody takes it.
void keepReason(cudaError_t error, std::string reason);
inline void forgetReason() {
    if (watcher != nullptr) keepReason(cudaSuccess, {});
}
// That of `error`; empty if it has none.
std::string takeReason(cudaError_t error);

// Fails a call: returns `error`. `reason()` makes the sentence; only where somebody watches. (Not
// in line: calls that succeed are not to pay for it.)
template <typename Reason>
__attribute__((noinline, cold)) cudaError_t because(cudaError_t error, Reason reason) {
    if (watcher != nullptr) keepReason(error, reason());
    return error;
}
inline cudaError_t because(cudaError_t error, const char* reason) {
    return because(error, [=] { return std::string(reason); });
}

}  // namespace emu
