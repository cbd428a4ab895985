#pragma once
// Calls of the host, in which it waits for a kernel that runs, or does not: streamOrder.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "lab.cuh"
#include "streamRules.h"

struct HostCall {
    const char* name;
    // Whether CUDA's documentation has the host wait for a kernel in a non-blocking stream, and for
    // one in a blocking stream: yes, no, or may (it does not say).
    std::string beside, behind;
    std::function<void(cudaStream_t)> call;                  // gets the stream of the kernel
    std::function<std::string()> wrong = [] { return ""; };  // what it should have done
    std::function<void()> before = [] {}, after = [] {};
};

// Copies and fills of `kBytes` bytes: from `source_` or `from_` to `target_` or `to_`.
class HostCalls {
  public:
    HostCalls() {
        for (std::size_t i = 0; i < kBytes; ++i) numbers_[i] = static_cast<char>(1 + i % 101);
        pageableFrom_ = numbers_;
        std::copy(numbers_.begin(), numbers_.end(), pinnedFrom_.begin());
        source_.copyFrom(numbers_);
        CUDA_CHECK(cudaStreamCreateWithFlags(&own_, cudaStreamNonBlocking));
    }
    ~HostCalls() { cudaStreamDestroy(own_); }
    HostCalls(const HostCalls&) = delete;
    HostCalls& operator=(const HostCalls&) = delete;

    // Nothing is where it is to arrive, and nothing is allocated or made.
    void clear() {
        memory_ = nullptr;
        made_ = nullptr;
        target_.fillBytes(0);
        std::fill(pageableTo_.begin(), pageableTo_.end(), char{0});
        std::fill(pinnedTo_.begin(), pinnedTo_.end(), char{0});
    }

    std::vector<HostCall> all();

  private:
    // Up to 64 KiB, a copy from pageable memory to the device may return before it is complete.
    // (Where a copy is carried out at the call, few bytes show as much.)
    static inline const std::size_t kBytes = lab::kEmulated ? 1 << 12 : 1 << 20;
    static constexpr int kFilled = 0x35;

    std::vector<char> numbers_ = std::vector<char>(kBytes), pageableFrom_,
                      pageableTo_ = std::vector<char>(kBytes);
    lab::PinnedBuffer<char> pinnedFrom_{kBytes}, pinnedTo_{kBytes};
    lab::DeviceBuffer<char> source_{kBytes}, target_{kBytes};
    cudaStream_t own_ = nullptr, made_ = nullptr;
    void* memory_ = nullptr;
};

inline std::vector<HostCall> HostCalls::all() {
    constexpr auto kIn = cudaMemcpyHostToDevice, kOut = cudaMemcpyDeviceToHost;
    // What goes to the default stream waits for blocking streams, if that is the legacy one.
    const std::string inDefault = kStreamZero == StreamKind::kLegacy ? "yes" : "no";

    const auto arrived = [this] { return lab::mismatch(target_.toHost(), numbers_); };
    const auto arrivedIn = [this](const char* memory) {
        return lab::mismatch(std::vector<char>(memory, memory + kBytes), numbers_);
    };
    const auto inPageable = [=] { return arrivedIn(pageableTo_.data()); };
    const auto inPinned = [=] { return arrivedIn(pinnedTo_.get()); };
    const auto filled = [this] {
        return lab::mismatch(target_.toHost(), std::vector<char>(kBytes, char{kFilled}));
    };
    const auto given = [this] { return memory_ == nullptr ? "no memory" : ""; };
    const auto made = [this] { return made_ == nullptr ? "no stream" : ""; };
    const auto nothing = [] { return ""; };
    const auto allocate = [this] { CUDA_CHECK(cudaMalloc(&memory_, kBytes)); };
    const auto free = [this] { CUDA_CHECK(cudaFree(memory_)); };
    const auto allocatePinned = [this] { CUDA_CHECK(cudaMallocHost(&memory_, kBytes)); };
    const auto freePinned = [this] { CUDA_CHECK(cudaFreeHost(memory_)); };
    const auto allocateInOrder = [this] { CUDA_CHECK(cudaMallocAsync(&memory_, kBytes, own_)); };
    const auto freeInOrder = [this] { CUDA_CHECK(cudaFreeAsync(memory_, own_)); };
    const auto createStream = [this] { CUDA_CHECK(cudaStreamCreate(&made_)); };
    const auto destroyStream = [this] { CUDA_CHECK(cudaStreamDestroy(made_)); };
    const auto ignoring = [](const auto& work) { return [work](cudaStream_t) { work(); }; };
    const auto copy = [](void* to, const void* from, cudaMemcpyKind kind) {
        return [=](cudaStream_t) { CUDA_CHECK(cudaMemcpy(to, from, kBytes, kind)); };
    };
    // In the stream of the kernel.
    const auto copyLater = [](void* to, const void* from, cudaMemcpyKind kind) {
        return [=](cudaStream_t kernels) {
            CUDA_CHECK(cudaMemcpyAsync(to, from, kBytes, kind, kernels));
        };
    };

    char *const target = target_.get(), *const source = source_.get();
    return {
        {"cudaDeviceSynchronize", "yes", "yes",
         [](cudaStream_t) { CUDA_CHECK(cudaDeviceSynchronize()); }},
        {"cudaStreamSynchronize0", "no", inDefault,
         [](cudaStream_t) { CUDA_CHECK(cudaStreamSynchronize(nullptr)); }},
        {"cudaMemcpyIn", "no", inDefault, copy(target, pageableFrom_.data(), kIn), arrived},
        {"cudaMemcpyPinnedIn", "no", inDefault, copy(target, pinnedFrom_.get(), kIn), arrived},
        {"cudaMemcpyOut", "no", inDefault, copy(pageableTo_.data(), source, kOut), inPageable},
        {"cudaMemcpyPinnedOut", "no", inDefault, copy(pinnedTo_.get(), source, kOut), inPinned},
        {"cudaMemcpyOnDevice", "no", "no", copy(target, source, cudaMemcpyDeviceToDevice), arrived},
        {"cudaMemset", "no", "no",
         [=](cudaStream_t) { CUDA_CHECK(cudaMemset(target, kFilled, kBytes)); }, filled},
        {"cudaMemcpyAsyncPinnedIn", "no", "no", copyLater(target, pinnedFrom_.get(), kIn), arrived},
        {"cudaMemcpyAsyncPinnedOut", "no", "no", copyLater(pinnedTo_.get(), source, kOut),
         inPinned},
        {"cudaMemcpyAsyncIn", "may", "may", copyLater(target, pageableFrom_.data(), kIn), arrived},
        {"cudaMemcpyAsyncOut", "may", "may", copyLater(pageableTo_.data(), source, kOut),
         inPageable},
        {"cudaMalloc", "may", "may", ignoring(allocate), given, [] {}, free},
        {"cudaFree", "may", "may", ignoring(free), nothing, allocate},
        {"cudaMallocHost", "may", "may", ignoring(allocatePinned), given, [] {}, freePinned},
        {"cudaFreeHost", "may", "may", ignoring(freePinned), nothing, allocatePinned},
        {"cudaMallocAsync", "no", "no", ignoring(allocateInOrder), given, [] {}, freeInOrder},
        {"cudaFreeAsync", "no", "no", ignoring(freeInOrder), nothing, allocateInOrder},
        {"cudaStreamCreate", "may", "may", ignoring(createStream), made, [] {}, destroyStream},
        {"cudaStreamDestroy", "no", "no", ignoring(destroyStream), nothing, createStream},
    };
}
