// The clock of a multiprocessor: clock64(), and clock(), which the host has as well.
#include <time.h>

#include "device_settings.h"
#include "emu/engine.h"
#include "scheduler.h"
#include "watcher.h"

namespace emu {

long long clockCycles() {
    spinHint();
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);  // as that of globaltimer()
    const long long kilohertz = deviceSettings().gpu.clockRate;
    return now.tv_sec * kilohertz * 1000 + now.tv_nsec * kilohertz / 1000000;
}

}  // namespace emu

// In place of the C library's, which the linker finds later. A kernel's counts cycles, in 64 bits;
// the host's is the time that the processor has worked for the process.
extern "C" clock_t clock() noexcept {
    if (emu::inDevice()) return emu::clockCycles();
    if (emu::watcher != nullptr) {
        emu::watcher->clockRead(reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
    }
    timespec used;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0) return -1;
    constexpr long kNanosecondsPerTick = 1000000000 / CLOCKS_PER_SEC;
    return used.tv_sec * CLOCKS_PER_SEC + used.tv_nsec / kNanosecondsPerTick;
}
