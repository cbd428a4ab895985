#include "reason.h"

#include <utility>

namespace emu {
namespace {

struct Reason {
    cudaError_t error = cudaSuccess;
    std::string text;
};

Reason& known() {
    thread_local Reason reason;
    return reason;
}

}  // namespace

void keepReason(cudaError_t error, std::string reason) {
    known() = {error, std::move(reason)};
}

std::string takeReason(cudaError_t error) {
    Reason reason = std::exchange(known(), {});
    return reason.error == error ? std::move(reason.text) : std::string();
}

}  // namespace emu
