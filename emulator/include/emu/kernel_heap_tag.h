// What makes `new` in device code take memory of the kernels' heap.
#pragma once

#include <cstddef>
#include <new>

namespace emu {

// The translator makes `new (::emu::kernelHeap) T` of `new T` in device code.
struct KernelHeap {};
constexpr KernelHeap kernelHeap;

}  // namespace emu

// In a kernel a null pointer where nothing is left; in host code the host's.
void* operator new(size_t size, emu::KernelHeap) noexcept;
void* operator new[](size_t size, emu::KernelHeap) noexcept;
void* operator new(size_t size, std::align_val_t alignment, emu::KernelHeap) noexcept;
void* operator new[](size_t size, std::align_val_t alignment, emu::KernelHeap) noexcept;
