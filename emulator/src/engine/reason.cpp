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

std::string grouped(uint64_t number) {
    std::string text = std::to_string(number);
    for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
    return text;
}

std::string groupedBytes(uint64_t count) {
    return grouped(count) + (count == 1 ? " byte" : " bytes");
}

}  // namespace emu
