// Other orders than the usual one for the threads of a grid: a seed chooses one.
//
// A thread may then lose its turn before each load, store and atomic, as on a GPU, which runs all
// threads of all resident blocks at a time. So updates get lost where `count += 1` should have been
// an atomicAdd(). One OS thread at a time runs blocks (turns.h), so that the same seed gives the
// same order again, unless the program looks at the clock or launches from several OS threads.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace emu {

// Used by the OS thread whose turn it is.
class Schedule {
  public:
    explicit Schedule(uint64_t seed) : seed_(seed) {}

    // From now on the order depends on the seed and on how many grids there have been.
    void gridBegins(const std::string& kernel);

    // A number from 0 to count - 1.
    unsigned below(unsigned count);

    // Called before each access. Returns true if it is time for another thread.
    bool switches() { return --accessesLeft_ == 0 && switchesNow(); }

  private:
    bool switchesNow();

    const uint64_t seed_;
    uint64_t grids_ = 0;
    uint64_t state_ = 0;
    uint64_t accessesLeft_ = 1;
    std::map<std::string, uint64_t> switchesOf_;  // by kernel, in all its launches
    uint64_t* switches_ = nullptr;                // of the kernel that runs
};

// nullptr for the usual order. Set before the first launch, in instrumented programs alone.
extern Schedule* schedule;

// Reads the seed from the environment.
void startSchedule();

}  // namespace emu
