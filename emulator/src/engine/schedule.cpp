#include "schedule.h"

#include <cerrno>
#include <cstdlib>

#include "device_settings.h"

namespace emu {

Schedule* schedule;

namespace {

// Switches take longer than accesses. So a kernel has many at first, and one for every access or
// two, but the longer it runs, the rarer they get: after a million accesses, one for every 90. It
// takes this many switches until they are rarer by one access.
constexpr uint64_t kSwitchesPerAccess = 256;

// SplitMix64: fast, and any seed will do.
uint64_t mixed(uint64_t value) {
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
}
constexpr uint64_t kStep = 0x9e3779b97f4a7c15;

}  // namespace

void Schedule::gridBegins(const std::string& kernel) {
    state_ = mixed(mixed(seed_ + kStep) + ++grids_ * kStep);
    switches_ = &switchesOf_[kernel];
    accessesLeft_ = 1 + below(2);
}

unsigned Schedule::below(unsigned count) {
    state_ += kStep;
    return static_cast<unsigned>((mixed(state_) >> 32) * count >> 32);
}

bool Schedule::switchesNow() {
    const uint64_t mean = 1 + ++*switches_ / kSwitchesPerAccess;
    accessesLeft_ = 1 + below(static_cast<unsigned>(2 * mean));
    return true;
}

void startSchedule() {
    constexpr const char* kVariable = "CUDA_EMULATOR_SEED";
    const char* const text = std::getenv(kVariable);
    if (text == nullptr) return;
    const std::string digits = text;
    errno = 0;
    const uint64_t seed = std::strtoull(text, nullptr, 10);
    const bool isNumber = !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos;
    if (!isNumber || errno != 0)
        refuseSetting(kVariable, text, "a decimal number from 0 to 2^64 - 1");
    schedule = new Schedule(seed);  // never deleted: grids may run from static destructors
}

}  // namespace emu
