#pragma once
// Host memory: an allocation that does not fit says so.

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <new>
#include <string>
#include <vector>

#include "fail.h"

namespace lab {

// Bytes that this machine can still give, swap left out; 0 where the system does not say.
inline std::uint64_t freeHostBytes() {
    std::ifstream file("/proc/meminfo");
    std::string key, unit;
    std::uint64_t kibibytes = 0;
    while (file >> key >> kibibytes) {
        if (key == "MemAvailable:") return kibibytes * 1024;
        std::getline(file, unit);
    }
    return 0;
}

[[noreturn]] inline void quitWithoutMemory(std::uint64_t bytes, const char* kind,
                                           std::uint64_t freeBytes) {
    quit(kExitFailure, "cannot allocate %s of %s memory: %s are free; choose a smaller size",
         inBytes(bytes).c_str(), kind, inBytes(freeBytes).c_str());
}

// A std::vector of `count` zeros. Where that does not fit into memory, the program ends here: Linux
// would hand out the addresses and kill the program when it uses them.
template <typename T>
std::vector<T> hostVector(std::size_t count) {
    const std::uint64_t available = freeHostBytes();
    const std::uint64_t bytes = count * sizeof(T);
    if (count > SIZE_MAX / 2 / sizeof(T)) quitWithoutMemory(SIZE_MAX, "host", available);
    if (available != 0 && bytes > available) quitWithoutMemory(bytes, "host", available);
    try {
        return std::vector<T>(count);
    } catch (const std::bad_alloc&) {
        quitWithoutMemory(bytes, "host", available);
    }
}

// For every other allocation of the host (std::vector, std::string ...).
inline void quitOnBadAlloc() {
    std::set_new_handler([] { quit(kExitFailure, "out of host memory; choose a smaller size"); });
}

}  // namespace lab
