#include "out_of_memory.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <new>

#include "scheduler.h"

namespace emu {
namespace {

std::new_handler previousHandler;

void onBadAlloc() {
    if (inDevice()) quitWithoutMemory("memory");
    if (previousHandler == nullptr) throw std::bad_alloc();
    previousHandler();
}

}  // namespace

void quitWithoutMemory(const char* what) {
    // Before this OS thread may stand still: it may have the lock of stdout, which the other needs.
    std::fflush(stdout);
    static std::atomic_flag said = ATOMIC_FLAG_INIT;
    while (said.test_and_set()) pause();  // another OS thread is about to end the process
    std::fflush(nullptr);
    const Grid* const grid = currentGrid();
    dprintf(STDERR_FILENO,
            "%s: %s%s%scannot allocate %s; choose a smaller size or smaller blocks, fewer "
            "multiprocessors (CUDA_EMULATOR_SMS=1), or raise the limits (ulimit -v, -u)\n",
            program_invocation_short_name, grid != nullptr ? "kernel " : "",
            grid != nullptr ? grid->call.name : "", grid != nullptr ? ": " : "", what);
    _exit(1);
}

void installMemoryHandler() {
    previousHandler = std::set_new_handler(onBadAlloc);
}

}  // namespace emu
