#pragma once
// Host memory: an allocation that does not fit says so.

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace lab {

// Bytes that the machine, or the container around the program, can still give; swap is left out.
std::uint64_t freeHostBytes();

// Ends the program. `kind` of memory: "device", "pinned", "host".
[[noreturn]] void quitWithoutMemory(std::uint64_t bytes, const char* kind, std::uint64_t freeBytes);

// Ends the program where `count` elements of so many bytes do not fit into memory.
void requireHostMemory(std::size_t count, std::size_t elementBytes);

// A std::vector of `count` zeros. Where that does not fit into memory, the program ends here: Linux
// would hand out the addresses and kill the program when it uses them.
template <typename T>
std::vector<T> hostVector(std::size_t count) {
    requireHostMemory(count, sizeof(T));
    try {
        return std::vector<T>(count);
    } catch (const std::bad_alloc&) {
        quitWithoutMemory(count * sizeof(T), "host", freeHostBytes());
    }
}

// For every other allocation of the host (std::vector, std::string ...).
void quitOnBadAlloc();

}  // namespace lab
