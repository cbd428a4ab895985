#include "sticky_error.h"

#include <atomic>

namespace emu {
namespace {

std::atomic<cudaError_t> failedKernel{cudaSuccess};

}  // namespace

void setStickyError(cudaError_t error) {
    cudaError_t none = cudaSuccess;
    failedKernel.compare_exchange_strong(none, error);
}

void clearStickyError() {
    failedKernel = cudaSuccess;
}

cudaError_t stickyError() {
    return failedKernel.load(std::memory_order_relaxed);
}

}  // namespace emu
