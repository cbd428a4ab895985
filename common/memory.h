#pragma once
// Host memory: an allocation that does not fit says so.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "fail.h"
#include "format.h"
#include "host_memory.h"

namespace lab {

// The bytes of `count` elements; SIZE_MAX where there are more than a number can say.
inline std::size_t bytesOf(std::size_t count, std::size_t elementBytes) {
    return count <= SIZE_MAX / elementBytes ? count * elementBytes : SIZE_MAX;
}

// Bytes that the machine, or the container around the program, can still give; swap is left out.
inline std::uint64_t freeHostBytes() {
#ifdef __CUDA_EMULATOR__
    // The device's memory is the host's: the emulation knows what of that is taken.
    std::size_t available = 0;
    if (cudaMemGetInfo(&available, nullptr) == cudaSuccess) return available;
#endif
    return std::min(host::memory().available, host::addressesLeft());
}

// Ends the program. `kind` of memory: "device", "pinned", "host".
[[noreturn]] inline void quitWithoutMemory(std::uint64_t bytes, const char* kind,
                                           std::uint64_t freeBytes) {
    quitTooLarge("cannot allocate " + std::string(bytes == UINT64_MAX ? "more than " : "") +
                 inBytes(bytes) + " of " + kind + " memory: " + inBytes(freeBytes) + " are free");
}

// Ends the program where `count` elements of so many bytes do not fit into memory.
inline void requireHostMemory(std::size_t count, std::size_t elementBytes) {
    const std::uint64_t bytes = bytesOf(count, elementBytes), available = freeHostBytes();
    if (bytes > available) quitWithoutMemory(bytes, "host", available);
}

// A std::vector of `count` zeros. Where that does not fit into memory, the program ends here: Linux
// would hand out the addresses and kill the program when it uses them.
template <typename T>
std::vector<T> hostVector(std::size_t count) {
    requireHostMemory(count, sizeof(T));
    try {
        return std::vector<T>(count);
    } catch (const std::bad_alloc&) {
        quitWithoutMemory(bytesOf(count, sizeof(T)), "host", freeHostBytes());
    }
}

}  // namespace lab
