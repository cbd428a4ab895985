// The heap that malloc() and new have in kernels: a range of device memory, whose blocks live until
// a kernel frees them. Its book-keeping lies elsewhere, out of reach of what kernels write there.
// Thread-safe.
#pragma once

#include <cstddef>

namespace emu {

constexpr size_t kDefaultKernelHeap = size_t{8} << 20;  // bytes

// From now on the heap has so many bytes. False, and nothing happens, once a kernel has used it.
bool setKernelHeapSize(size_t bytes);

// Its bytes, if malloc() or new has found no room there; else 0.
size_t fullKernelHeap();

// Empty again, not used, and of the default size.
void resetKernelHeap();

}  // namespace emu
