#include "memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "device.cuh"
#include "fail.h"
#include "format.h"
#include "host_memory.h"

namespace lab {

std::uint64_t freeHostBytes() {
    // Of an emulation the device's memory is the host's: its runtime knows what of that is taken.
    std::size_t available = 0;
    if (kEmulated && cudaMemGetInfo(&available, nullptr) == cudaSuccess) return available;
    return std::min(host::memory().available, host::addressesLeft());
}

void quitWithoutMemory(std::uint64_t bytes, const char* kind, std::uint64_t freeBytes) {
    quitTooLarge("cannot allocate %s%s of %s memory: %s are free",
                 bytes == UINT64_MAX ? "more than " : "", inBytes(bytes).c_str(), kind,
                 inBytes(freeBytes).c_str());
}

void requireHostMemory(std::size_t count, std::size_t elementBytes) {
    const std::uint64_t available = freeHostBytes();
    const std::uint64_t bytes = count * elementBytes;
    if (count > SIZE_MAX / 2 / elementBytes) quitWithoutMemory(SIZE_MAX, "host", available);
    if (bytes > available) quitWithoutMemory(bytes, "host", available);
}

void quitOnBadAlloc() {
    std::set_new_handler([] {  // takes no memory, and destroys nothing: other threads may run
        std::fflush(stdout);
        std::fprintf(stderr, "%s: %scannot allocate host memory; choose a smaller size\n",
                     programName(), sizes());
        std::_Exit(kExitFailure);
    });
}

}  // namespace lab
