#pragma once
// Owners of device and pinned memory: freed when they go out of scope.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "check.cuh"
#include "fail.h"
#include "memory.h"

namespace lab {

// Behind the owners: memory for `count` elements of so many bytes, uninitialised. Where that does
// not fit, the program ends.
inline void* deviceMemory(std::size_t count, std::size_t elementBytes) {
    const std::size_t bytes = bytesOf(count, elementBytes);
    void* memory = nullptr;
    const cudaError_t error =
        bytes == SIZE_MAX ? cudaErrorMemoryAllocation : cudaMalloc(&memory, bytes);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();  // reported here
        std::size_t freeBytes = 0, totalBytes = 0;
        CUDA_CHECK(cudaMemGetInfo(&freeBytes, &totalBytes));
        quitWithoutMemory(bytes, "device", freeBytes);
    }
    CUDA_CHECK(error);
    return memory;
}
inline void* pinnedMemory(std::size_t count, std::size_t elementBytes) {
    const std::size_t bytes = bytesOf(count, elementBytes);
    void* memory = nullptr;
    const cudaError_t error =
        bytes == SIZE_MAX ? cudaErrorMemoryAllocation : cudaMallocHost(&memory, bytes);
    if (error == cudaErrorMemoryAllocation) quitWithoutMemory(bytes, "pinned", freeHostBytes());
    CUDA_CHECK(error);
    return memory;
}

// Ends the program where `count` elements are more than a buffer of `size` has.
inline void requireFit(std::size_t count, std::size_t size) {
    if (count > size)
        quit(kExitFailure, "a copy of %zu elements does not fit a device buffer of %zu", count,
             size);
}

// `count` elements of device memory, uninitialised. get() is the pointer for a kernel.
template <typename T>
class DeviceBuffer {
  public:
    explicit DeviceBuffer(std::size_t count)
        : pointer_(static_cast<T*>(deviceMemory(count, sizeof(T)))), size_(count) {}
    explicit DeviceBuffer(const std::vector<T>& values) : DeviceBuffer(values.size()) {
        copyFrom(values);
    }
    ~DeviceBuffer() { cudaFree(pointer_); }
    DeviceBuffer(DeviceBuffer&& other) noexcept
        : pointer_(std::exchange(other.pointer_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
        std::swap(pointer_, other.pointer_);
        std::swap(size_, other.size_);
        return *this;
    }

    T* get() const { return pointer_; }
    std::size_t size() const { return size_; }
    std::size_t bytes() const { return size_ * sizeof(T); }

    void copyFrom(const std::vector<T>& values) {
        requireFit(values.size(), size_);
        CUDA_CHECK(
            cudaMemcpy(pointer_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    // Within the device, in the default stream; the host does not wait.
    void copyFrom(const DeviceBuffer& other) {
        requireFit(other.size(), size_);
        CUDA_CHECK(
            cudaMemcpyAsync(pointer_, other.pointer_, other.bytes(), cudaMemcpyDeviceToDevice));
    }
    // Every byte set to `byte`, in the default stream; the host does not wait.
    void fillBytes(int byte) { CUDA_CHECK(cudaMemsetAsync(pointer_, byte, bytes())); }

    std::vector<T> toHost() const { return toHost(size_); }
    // The first `count` elements.
    std::vector<T> toHost(std::size_t count) const {
        requireFit(count, size_);
        std::vector<T> values = hostVector<T>(count);
        CUDA_CHECK(cudaMemcpy(values.data(), pointer_, count * sizeof(T), cudaMemcpyDeviceToHost));
        return values;
    }

  private:
    T* pointer_ = nullptr;
    std::size_t size_ = 0;
};

// `count` elements of page-locked host memory, which the GPU's copy engines reach directly.
// Uninitialised.
template <typename T>
class PinnedBuffer {
  public:
    explicit PinnedBuffer(std::size_t count)
        : pointer_(static_cast<T*>(pinnedMemory(count, sizeof(T)))), size_(count) {}
    ~PinnedBuffer() { cudaFreeHost(pointer_); }
    PinnedBuffer(PinnedBuffer&& other) noexcept
        : pointer_(std::exchange(other.pointer_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
        std::swap(pointer_, other.pointer_);
        std::swap(size_, other.size_);
        return *this;
    }

    T* get() const { return pointer_; }
    std::size_t size() const { return size_; }
    std::size_t bytes() const { return size_ * sizeof(T); }
    T& operator[](std::size_t index) { return pointer_[index]; }
    const T& operator[](std::size_t index) const { return pointer_[index]; }
    T* begin() { return pointer_; }
    T* end() { return pointer_ + size_; }

  private:
    T* pointer_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace lab
