// The clocks of the host, in place of the C and C++ libraries': who watches learns when host code
// reads one. (clock() is in engine/device_clock.cpp.)
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

#include <chrono>

#include "engine/watcher.h"
#include "recorder.h"

namespace emu {
namespace {

void tell(void* pc) {
    if (recorder == nullptr && watcher != nullptr) {
        watcher->clockRead(reinterpret_cast<uintptr_t>(pc));
    }
}

// The library's function of that name.
template <typename Function>
Function* next(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::chrono::nanoseconds now(clockid_t clock) {
    static auto* const read = next<int(clockid_t, timespec*)>("clock_gettime");
    timespec time{};
    read(clock, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace
}  // namespace emu

#define EMU_CALLER __builtin_return_address(0)

std::chrono::steady_clock::time_point std::chrono::steady_clock::now() noexcept {
    emu::tell(EMU_CALLER);
    return time_point(emu::now(CLOCK_MONOTONIC));
}

std::chrono::system_clock::time_point std::chrono::system_clock::now() noexcept {
    emu::tell(EMU_CALLER);
    return time_point(emu::now(CLOCK_REALTIME));
}

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
    static auto* const read = emu::next<int(clockid_t, timespec*)>("clock_gettime");
    emu::tell(EMU_CALLER);
    return read(clock, time);
}

int gettimeofday(timeval* time, void* zone) noexcept {
    static auto* const read = emu::next<int(timeval*, void*)>("gettimeofday");
    emu::tell(EMU_CALLER);
    return read(time, zone);
}

time_t time(time_t* result) noexcept {
    static auto* const read = emu::next<time_t(time_t*)>("time");
    emu::tell(EMU_CALLER);
    return read(result);
}

int timespec_get(timespec* time, int base) noexcept {
    static auto* const read = emu::next<int(timespec*, int)>("timespec_get");
    emu::tell(EMU_CALLER);
    return read(time, base);
}

}  // extern "C"
